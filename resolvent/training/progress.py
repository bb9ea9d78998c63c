"""What a run shows of its epochs while it trains: TensorBoard, and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

from resolvent.common.files import remove
from resolvent.common.progress import progress_bar

Row = dict[str, float | None]


@contextmanager
def epoch_progress(directory: Path, epochs: int, done: int) -> Iterator[Callable[[Row], None]]:
    """Yield a function that shows an epoch's numbers by name, of which None are left out.

    A run that begins anew leaves nothing of an earlier one on the board.
    """
    events = directory / "tensorboard"
    if not done:
        remove(events)
    with (
        SummaryWriter(events, purge_step=done + 1) as board,
        progress_bar(epochs, "/".join(directory.parts[-4:]), "epochs", done) as bar,
    ):

        def show(row: Row) -> None:
            for name, value in row.items():
                if name != "epoch" and value is not None:
                    board.add_scalar(name, value, row["epoch"])
            loss, validation = row["train_loss"], row["validation_relative_l2"]
            bar.set_postfix(loss=f"{loss:.2e}", validation=f"{validation:.2e}")
            bar.update()

        yield show
