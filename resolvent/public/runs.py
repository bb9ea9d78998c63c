"""Trained runs that predict."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import xarray

from resolvent.common.errors import FileError
from resolvent.common.files import read_json
from resolvent.common.predictions import node_name
from resolvent.common.records import CHECKPOINT, WEIGHTS, check_file, check_same_network
from resolvent.common.runs import Run, read_run
from resolvent.datasets.storage.addresses import LOCAL_FOLDER, local_folder
from resolvent.public.consent import Allowed, check_allowed
from resolvent.public.datasets import ENDINGS, card_with_content
from resolvent.public.inputs import (
    Quantity,
    as_values,
    grid_of,
    labelled,
    quantities,
    warn_outside,
    warn_unknown,
)

RECORD, CARD = "run.json", "dataset.json"
LEVELS = "study/experiment/model/n512/seed1127802"  # what a whole name consists of


def load_run(
    name: Path | str,
    *,
    results: Path | str = "results",
    data: Path | str | None = None,
    allow: Allowed = (),
) -> TrainedRun:
    """Load a trained run. Nothing in its folder is executed, and no address in it is contacted.

    Parameters
    ----------
    name
        The folder of a run, `results/demo/burgers/fno/n128/seed1127802`, or of an exported one
        (`TrainedRun.export`); or its name below `results`, "demo/burgers/fno", which may leave out resolution
        and seed where there is one run of the model.
    results
        The folder that names are looked for in: `results_root` of the configuration.
    data
        The dataset that it was trained on, whose range of values inputs are held to: its card, or the folder
        of datasets. By default that of its study, or `data` in the working folder, or the card of an
        exported run.
    allow
        Folders whose modules may run, for a run whose architecture is `module:name`: read them before, since
        they can do whatever you can. Without it such a run shows its records, and does not predict.

    Raises
    ------
    FileError
        When there is no such run, or several; when its records are missing, damaged or of another run.
    """
    run: Any = read_run(_folder(Path(name), Path(results)), TrainedRun)
    object.__setattr__(run, "data", data)
    object.__setattr__(run, "allow", tuple(allow))
    return run


def predict(run: TrainedRun | Path | str, inputs: Any, x: Any = None, **how: Any) -> Any:
    """Return what a run, or the run of a name, predicts for `inputs`: see `TrainedRun.predict`."""
    return (run if isinstance(run, Run) else load_run(run)).predict(inputs, x, **how)


class TrainedRun(Run):
    """A trained model: `record`, `cost`, `errors`, `history`, `predictions`, and `predict`."""

    data: Path | str | None = None
    allow: Allowed = ()

    def __repr__(self) -> str:
        record = self.record
        place = f"{record.experiment}/{record.model}/{node_name(record.resolution)}/seed{record.seed}"
        return f"<TrainedRun {place}: {self.cost.status}, in {self.directory}>"

    def _repr_html_(self) -> str:
        from resolvent.public.describe import run_facts

        title, facts = run_facts(self)
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(what)}</td></tr>" for name, what in facts)
        return f"<table><caption>{escape(title)}</caption>{rows}</table>"

    def predict(
        self,
        inputs: Any,
        x: Any = None,
        *,
        device: str | None = None,
        symmetrise: bool = False,
        correct: int = 0,
        certify: bool = False,
    ) -> Any:
        """Return the predictions in physical units; with `certify` these, and what is known of their errors.

        Parameters
        ----------
        inputs
            In physical units: (samples, ...space), or (samples, channels, ...space) of several functions, on
            a grid of the kind that the run was trained on, with any number of points that the architecture
            accepts. On a square, space is (y, x). A NumPy array gives one in float64; a tensor of torch gives
            one of its type on its device; a DataArray (sample, ...space) has its coordinates checked and
            gives a DataArray. Gradients are not recorded: for those there is `operator`.
        x
            Positions along each axis, (n,): held to the grid, or the times of trajectories, which may be
            others than in training. A DataArray has them itself.
        device
            Where torch computes; by default where the tensor is, or on the CPU.
        symmetrise
            Take the mean of the predictions under all symmetries of the equation and of its distribution.
        correct
            Steps of the equation's own iterative solver, from the prediction: of Darcy flow, where it is
            conjugate gradients.
        certify
            Return an `xarray.Dataset` as well. Its `scatter`, (sample,), estimates the relative L² error of
            what the operator gives by the symmetries, and `to_solver`, (sample,), that of what is returned by
            a cheap classical solver. Of Darcy flow `energy_error`, (sample, bound), is a lower and an upper
            bound of the relative error in the energy norm of what is returned, and holds whatever that is.

        Warns
        -----
        OutsideTraining
            When inputs have values outside of the range of the training data, or the range is not known.

        Raises
        ------
        TrainingError
            When the run has diverged, or the inputs do not fit it; where symmetries, steps or certificates
            are asked for, and the card of the dataset is not at hand, or the equation has none.
        SolverError
            When errors are asked for of inputs that the equation cannot be solved for.
        """
        import torch

        from resolvent.datasets.loading import Samples
        from resolvent.evaluation.conditions import predict as predicted
        from resolvent.evaluation.without_labels import asked

        operator = self.operator
        tensor = isinstance(inputs, torch.Tensor)
        place = torch.device(device or (inputs.device if tensor else "cpu"))
        values = as_values(inputs)
        channels = next(iter(self.predictions.children.values())).sizes["input_channel"]
        grid = grid_of(self.record, channels, values.shape, inputs, x)
        if (known := self.inputs) is not None:
            warn_outside(values, known, grid.dimension, self.record.model)
        elif not self.__dict__.get("_said"):
            self.__dict__["_said"] = True
            warn_unknown(self.record.dataset, self.record.dataset_hash)

        def answer(values: Any) -> Any:
            return predicted(operator.to(place), Samples(grid, values, values), place)

        result: Any
        known_errors = None
        if symmetrise or correct or certify:
            how = symmetrise, correct, certify
            result, known_errors = asked(answer, values, grid, self._equation, *how)
        else:
            result = answer(values)
        if tensor:
            kind = inputs.dtype if inputs.dtype.is_floating_point else torch.float32
            result = torch.from_numpy(result).to(inputs.device, kind)
        elif isinstance(inputs, xarray.DataArray):
            words = {"long_name": "prediction"}
            if self.targets is not None and len(self.targets) == 1:
                (target,) = self.targets
                words = {"long_name": f"prediction of the {target.long_name}", "units": target.units}
            result = labelled(result, inputs, grid, words)
        return (result, known_errors) if certify else result

    def calibrate(
        self,
        level: float = 0.9,
        samples: int = 200,
        *,
        resolution: int | str | None = None,
        scaled: bool = False,
    ) -> Any:
        """Return how far targets are from predictions, by samples that are drawn and solved for it.

        Parameters
        ----------
        level
            How often a ball is to hold its target.
        samples
            How many are drawn from the distribution of the dataset. They follow on its validation samples.
        resolution
            Points along each axis, or the name of a set of times: by default those of training.
        scaled
            Let the radius of a ball be proportional to the scatter of its prediction under symmetries.

        Returns
        -------
        resolvent.evaluation.conformal.Calibration

        Raises
        ------
        EvaluationError
            When the level takes more samples, or the equation has no symmetries to scale by.
        TrainingError
            When the run has diverged, or the card of its dataset is not at hand.
        """
        import torch

        from resolvent.common.errors import EvaluationError
        from resolvent.datasets.loading import FreshSplit, Samples
        from resolvent.evaluation.conditions import predict as predicted
        from resolvent.evaluation.conformal import calibrated
        from resolvent.evaluation.without_labels import under_symmetries

        symmetries = self._equation.symmetries() if scaled else ()
        if scaled and not symmetries:
            raise EvaluationError(f"no symmetries are known of {self._equation.equation}: leave scaled out")
        asked = self.record.resolution if resolution is None else resolution
        split = FreshSplit("", asked, "validation", 0, grids=self.record.grids, card=self.card)
        drawn = split.read(range(samples))

        def answer(values: Any) -> Any:
            return predicted(self.operator, Samples(drawn.grid, values, values), torch.device("cpu"))

        prediction, grid = answer(drawn.inputs), drawn.target_grid
        _, scatter = under_symmetries(answer, drawn.inputs, prediction, grid, symmetries)
        given = scatter if scaled else None
        return calibrated(prediction, drawn.targets, grid, level, given)

    @property
    def _equation(self) -> Any:
        """Return the settings of the dataset. Raises a TrainingError where its card is not at hand."""
        from resolvent.datasets.tasks.registry import settings_of
        from resolvent.training.errors import TrainingError

        if self.card is None:
            raise TrainingError(
                f"the card of the dataset {self.record.dataset} is not here, which says what equation it is "
                "of: give load_run(…, data=<folder of the datasets>)"
            )
        return settings_of(self.card["settings"])

    def export(self, folder: Path | str, **how: Any) -> Path:
        """Write the run for others: see `resolvent.public.export.export_run`."""
        from resolvent.public.export import export_run

        return export_run(self, Path(folder), **how)

    @cached_property
    def card(self) -> Any:
        """Return the card of the dataset that it was tested on, or None where that is not at hand."""
        record, own = self.record, self.directory / CARD
        given = None if self.data is None else Path(self.data)
        named = given.with_suffix(".json") if given is not None and given.suffix in ENDINGS else None
        if (path := own if own.is_file() else named) is not None:
            card = read_json(path, "the dataset card")
            if card.get("content_hash") != record.dataset_hash:
                raise FileError(f"{path} is of another dataset than {self.directory / RECORD}")
            return card
        folders = [Path(LOCAL_FOLDER)]
        if given is not None:
            folders = [local_folder(str(given))]
        else:
            study = self.directory.resolve().parents[3] / "study.json"
            with suppress(FileError, FileNotFoundError, KeyError):
                planned = read_json(study, "the plan of the study")["datasets"][record.dataset]["card"]
                folders.insert(0, (study.parent / planned).parents[1])
        return card_with_content(record.dataset_hash, record.dataset, folders)

    @property
    def inputs(self) -> tuple[Quantity, ...] | None:
        """Return what it takes, by channel, with units and ranges; None without `card`."""
        return None if self.card is None else quantities(self.card, "inputs", self.record.noise)

    @property
    def targets(self) -> tuple[Quantity, ...] | None:
        """Return what it gives, likewise."""
        return None if self.card is None else quantities(self.card, "targets")

    @cached_property
    def operator(self) -> Any:
        """Return the torch module from physical units to physical units, normalisers included.

        It takes functions (batch, ...space, channels) and coordinates (...space, dimension), both in float32
        (`resolvent.training.tensors`), and gives functions likewise.

        Raises
        ------
        TrainingError
            When the run has diverged, or its weights are missing or damaged.
        FileError
            When the weights are of another network than `record`, or their code was not allowed (`load_run`).
        """
        from resolvent.training.checkpoints import trained_operator
        from resolvent.training.errors import TrainingError

        if self.diverged:
            raise TrainingError(
                f"{self.directory} diverged in epoch {self.cost.diverged_epoch} and has no operator to "
                "predict with: choose another run, or train it with a smaller learning_rate"
            )
        checkpoint = self.checkpoint
        check_allowed(self.directory, [self.record.architecture], self.allow)
        operator: Any = trained_operator(checkpoint)
        return operator.eval()

    @cached_property
    def checkpoint(self) -> dict:
        """Read weights, normalisers, and the settings of the operator, held against `record`."""
        if (self.directory / WEIGHTS).exists():
            from resolvent.public.weights import read_weights

            state = read_weights(self.directory / WEIGHTS)
            check_same_network(self.directory / WEIGHTS, state, vars(self.record))
            return state
        from resolvent.training import checkpoints

        state = checkpoints.load_run(self.directory, vars(self.record))
        if CHECKPOINT in self.record.files:  # not in those of an earlier version
            check_file(self.directory / CHECKPOINT, self.record)
        return state


def _folder(path: Path, results: Path) -> Path:
    """Return the folder of the one run of this path or name."""
    for folder in (path, results / path):
        if (folder / RECORD).is_file():
            return folder
    found = sorted(
        {
            file.parent
            for folder in (results / path, path)
            for depth in ("", "*/", "*/*/", "*/*/*/")
            for file in folder.glob(f"{depth}seed*/{RECORD}")
        }
    )
    if len(found) == 1:
        return found[0]
    if found:
        names = [_name_below(folder, results) for folder in found]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        raise FileError(f"{path} has {len(names)} runs: name one of {', '.join(names[:6])}{more}")
    runs = results.glob(f"*/*/*/*/seed*/{RECORD}")
    there = sorted({_name_below(file.parents[2], results) for file in runs})
    raise FileError(
        f"no finished run {path} (no {RECORD} there: unfinished, or another place); a name is "
        f"{LEVELS}, and may end after the model; finished in {results}: {', '.join(there[:12]) or 'none'}"
    )


def _name_below(folder: Path, results: Path) -> str:
    return (folder.relative_to(results) if folder.is_relative_to(results) else folder).as_posix()
