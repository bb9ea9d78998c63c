"""Short films without sound: matplotlib frames in H.264/MP4, with a poster image."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.files import write_atomically
from resolvent.figures.common.errors import ResultError

LARGEST = 400_000  # bytes
LONGEST = 6.0  # seconds
QUALITIES = (20, 26, 32, 38, 44, 51)  # constant rate factors of x264; the first that fits is used
DOTS = 120  # per inch


@dataclass(frozen=True)
class Film:
    """Frames of a figure with some moving artists."""

    figure: Any
    moving: list  # all artists changed by `change`
    change: Callable[[int], object]  # to frame 0, …, `frames` - 1
    frames: int
    rate: Fraction  # frames per second
    poster: int  # index of the frame in the poster image


def write_film(output: str | Path, film: Film) -> list[Path]:
    """Write the MP4 file `output` with at most `LARGEST` bytes, and one frame as PNG.

    The same figure gives the same bytes. Raises `ResultError` if the film is too large at the lowest quality.
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
    raise ResultError(f"{output} has more than {LARGEST} bytes even at the lowest quality: draw it smaller")


def _images(film: Film) -> Iterator[np.ndarray]:
    """Yield frames as (height, width, 3) bytes; the colour format needs even height and width."""
    figure = film.figure
    figure.set_dpi(DOTS)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    for artist in film.moving:
        artist.set_animated(True)
    figure.canvas.draw()
    still = figure.canvas.copy_from_bbox(figure.bbox)  # fixed artists are drawn once
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
