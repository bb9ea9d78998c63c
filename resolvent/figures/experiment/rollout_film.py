"""The film of a rollout: the true flow, the prediction from its own predictions, and their difference."""

from fractions import Fraction

import numpy as np

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.film import LONGEST, Film
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.style import new_figure, title

FASTEST = Fraction(4)  # frames a second: a rollout has few


def draw(rollout: dict[str, np.ndarray]) -> Film:
    """Draw the shown sample of `rollout.npz` (`resolvent.evaluation.rollout`) as a film.

    The first frame is the initial vorticity, in which the model's input and the truth are one. Truth and
    prediction have one scale of colours, their difference one of its own, over all times. A prediction that
    is not finite is left white, that of a run that diverged at all times.
    """
    initial, target, prediction = rollout["initial"][None], rollout["target"], rollout["prediction"]
    times = np.concatenate([[0.0], rollout["times"]])
    errors = rollout["error"][int(rollout["sample"])]
    truth, predicted = np.concatenate([initial, target]), np.concatenate([initial, prediction])
    figure, (panels,) = new_figure(1, 3, size=(8.4, 3.2))
    images = _images(figure, panels, truth, predicted)
    for panel, words in zip(panels, ("truth", "prediction", "difference"), strict=True):
        title(panel, words)
    clock = figure.suptitle(_words(times, errors, len(times) - 1), fontsize=10, x=0.01, ha="left")

    def change(frame: int) -> None:
        shown = (truth[frame], predicted[frame], predicted[frame] - truth[frame])
        for image, field in zip(images, shown, strict=True):
            image.set_data(np.ma.masked_invalid(field))
        clock.set_text(_words(times, errors, frame))

    rate = max(FASTEST, Fraction(len(times)) / Fraction(LONGEST))
    return Film(figure, [*images, clock], change, frames=len(times), rate=rate, poster=len(times) - 1)


def _images(figure, panels, truth: np.ndarray, predicted: np.ndarray) -> list:
    scale = float(np.quantile(np.abs(truth), 0.998)) or 1.0
    difference = np.abs(predicted - truth)
    own = float(np.quantile(difference[np.isfinite(difference)], 0.998)) or scale
    images = []
    for panel, bound in zip(panels, (scale, scale, own), strict=True):
        images.append(panel.imshow(truth[0], origin="lower", cmap="RdBu_r", vmin=-bound, vmax=bound))
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
    for image, shared in ((images[1], panels[:2]), (images[2], panels[2])):
        bar = figure.colorbar(image, ax=shared, fraction=0.05, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7)
    return images


def _words(times: np.ndarray, errors: np.ndarray, frame: int) -> str:
    if frame == 0:
        return "the first vorticity, which the model is given"
    error = scientific(errors[frame - 1], 2) if np.isfinite(errors[frame - 1]) else "not finite"
    return f"time {times[frame]:.2f} after the first vorticity, relative L² error {error}"


ROLLOUT = Exhibit(
    "The step applied again and again",
    "{model}, from the first vorticity of a test sample on, each prediction given back as the next input: "
    "the true flow, the prediction, and their difference on a scale of its own. Training has seen one step."
    " Without sound.",
    draw,
    kind="film",
)
