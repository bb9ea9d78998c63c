"""Short silent films: frames drawn by matplotlib, written as H.264 in MP4 with a poster beside it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.files import write_atomically
from resolvent.figures.common.errors import ResultError

LARGEST = 400_000  # bytes of a film
LONGEST = 6.0  # seconds
QUALITIES = (20, 26, 32, 38, 44, 51)  # constant rate factors of x264, from the best that fits to the worst
DOTS = 120  # an inch


@dataclass(frozen=True)
class Film:
    """Frames of a figure in which some artists move."""

    figure: Any
    moving: list  # the artists that `change` changes, and no others
    change: Callable[[int], object]  # to frame number 0, …, `frames` - 1
    frames: int
    rate: Fraction  # frames a second
    poster: int  # the number of the frame that stands for the film


def write_film(output: str | Path, film: Film) -> list[Path]:
    """Write `output`, an MP4 file of at most `LARGEST` bytes, and one frame of it as PNG beside it.

    The same figure gives the same bytes. Raises a ResultError when the film does not fit.
    """
    from matplotlib.image import imsave

    output = Path(output)
    images = list(_images(film))
    still = output.with_suffix(".png")
    facts: dict[str, Any] = {"format": "png", "metadata": {"Software": None}}
    write_atomically(still, lambda temporary: imsave(temporary, images[film.poster], **facts))
    for quality in QUALITIES:
        write_atomically(output, partial(_encode, images=images, rate=film.rate, quality=quality))
        if output.stat().st_size <= LARGEST:
            return [output, still]
    output.unlink()
    raise ResultError(f"{output} has more than {LARGEST} bytes at the lowest quality: draw it smaller")


def _images(film: Film) -> Iterator[np.ndarray]:
    """Yield the frames as (height, width, 3) bytes, both even, as the colour format wants."""
    figure = film.figure
    figure.set_dpi(DOTS)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    for artist in film.moving:
        artist.set_animated(True)
    figure.canvas.draw()
    still = figure.canvas.copy_from_bbox(figure.bbox)  # what does not move is drawn once
    for frame in range(film.frames):
        film.change(frame)
        figure.canvas.restore_region(still)
        for artist in film.moving:
            figure.draw_artist(artist)
        pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
        height, width = (size // 2 * 2 for size in pixels.shape[:2])
        yield pixels[:height, :width].copy()


def _encode(path: Path, images: list[np.ndarray], rate: Fraction, quality: int) -> None:
    import av

    height, width = images[0].shape[:2]
    options = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(str(path), "w", format="mp4", options=options) as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"crf": str(quality), "preset": "slow", "threads": "1", "flags": "+bitexact"}
        for image in images:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
