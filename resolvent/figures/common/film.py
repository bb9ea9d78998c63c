"""Short silent films: frames drawn by matplotlib, written as H.264 in MP4 with a poster beside it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.digests import check_present
from resolvent.common.files import write_atomically
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.page import relative

LARGEST = 400_000  # bytes of a film
LONGEST = 6.0  # seconds
QUALITIES = (20, 26, 32, 38, 44, 51)  # constant rate factors of x264, from the best that fits to the worst
DOTS = 120  # an inch


@dataclass(frozen=True)
class Film:
    """Frames of a figure in which some artists move.

    moving  the artists that `change` changes, and no others, to frame number 0, …, `frames` - 1.
    rate    frames a second; `poster`: the number of the frame that stands for the film.
    """

    figure: Any
    moving: list
    change: Callable[[int], object]
    frames: int
    rate: Fraction
    poster: int


def write_film(output: str | Path, film: Film) -> list[Path]:
    """Write `output`, an MP4 file of at most `LARGEST` bytes, and one frame of it as PNG beside it.

    The same figure gives the same bytes.

    Raises
    ------
    ResultError
        When the file's name does not end in .mp4, or the film is too long, or does not fit.
    """
    output = Path(output)
    if output.suffix != ".mp4":
        raise ResultError(f"{output} must end in .mp4")
    if film.frames / film.rate > LONGEST:
        raise ResultError(
            f"{output}: {film.frames} frames at {film.rate} a second last more than {LONGEST:g} s"
        )
    images = list(_images(film))
    still = output.with_suffix(".png")
    write_atomically(still, lambda temporary: _save_png(temporary, images[film.poster]))
    for quality in QUALITIES:
        write_atomically(output, lambda temporary, q=quality: _encode(temporary, images, film.rate, q))
        if output.stat().st_size <= LARGEST:
            return [output, still]
    output.unlink()
    raise ResultError(f"{output} has more than {LARGEST} bytes at the lowest quality: draw it smaller")


def film_of(path: str | Path, title: str, caption: str, folder: str | Path) -> dict:
    """Return a film that `write_film` wrote as the macro `film_player` takes it, for a page in `folder`."""
    from matplotlib.image import imread

    film = check_present(path)
    poster = check_present(film.with_suffix(".png"))
    height, width = imread(poster).shape[:2]
    return {
        "name": film.stem,
        "title": title,
        "caption": caption,
        "source": relative(film, folder),
        "poster": relative(poster, folder),
        "width": width,
        "height": height,
    }


def _images(film: Film) -> Iterator[np.ndarray]:
    """Yield the frames as (height, width, 3) bytes, both even, as the colour format wants.

    What does not move is drawn once.
    """
    figure = film.figure
    figure.set_dpi(DOTS)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    for artist in film.moving:
        artist.set_animated(True)
    figure.canvas.draw()
    still = figure.canvas.copy_from_bbox(figure.bbox)
    for frame in range(film.frames):
        film.change(frame)
        figure.canvas.restore_region(still)
        for artist in film.moving:
            figure.draw_artist(artist)
        pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
        height, width = (size // 2 * 2 for size in pixels.shape[:2])
        yield pixels[:height, :width].copy()


def _save_png(path: Path, image: np.ndarray) -> None:
    from matplotlib.image import imsave

    imsave(path, image, format="png", metadata={"Software": None})


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
