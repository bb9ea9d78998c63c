"""Load trained runs, and predict with them."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import xarray

from resolvent.common.cards import WHOLE_CARD
from resolvent.common.errors import FileError
from resolvent.common.files import read_json
from resolvent.common.predictions import node_name
from resolvent.common.records import CHECKPOINT, WEIGHTS, check_file, check_same_network, checked
from resolvent.common.runs import Run, read_run
from resolvent.datasets.storage.addresses import LOCAL_FOLDER, local_folder
from resolvent.models.registry import resolve
from resolvent.public.consent import Allowed, check_allowed
from resolvent.public.datasets import ENDINGS, cards_below
from resolvent.public.inputs import (
    Quantity,
    as_values,
    grid_of,
    labelled,
    quantities,
    regridded,
    warn_outside,
    warn_unknown,
)

ANEW = "copy or download it again"  # remedy for a file outside of a study
RECORD, CARD = "run.json", "dataset.json"
LEVELS = "study/experiment/model/n512/seed1127802"  # parts of a complete name


def load_run(
    name: Path | str, *, results: Path | str = "results", data: Path | str | None = None, allow: Allowed = ()
) -> TrainedRun:
    """Load a trained run. No code in its folder is executed, and no address in it is contacted.

    Parameters
    ----------
    name
        Folder of a run, `results/demo/burgers/fno/n128/seed1127802`, or of an exported run
        (`TrainedRun.export`); or a name below `results`, "demo/burgers/fno". Resolution and seed may be
        omitted if the model has only one run.
    results
        Folder to search for names: `results_root` of the configuration.
    data
        The folder of datasets, or the card of the dataset on which the run was tested. The training dataset,
        which is the same unless `test_dataset` was set, is used to check the range of inputs. By default the
        study's folder of datasets, `data` in the working folder, or the card of an exported run.
    allow
        Folders of modules that may run, for an architecture `module:name`. Read the modules first: they run
        with all your permissions. Without `allow`, such a run shows its records but cannot predict.

    Raises
    ------
    FileError
        If no run or several runs match, or the records are missing, damaged or belong to another run.
    """
    run: Any = read_run(_folder(Path(name), Path(results)), TrainedRun)
    object.__setattr__(run, "data", data)
    object.__setattr__(run, "allow", tuple(allow))
    return run


def predict(run: TrainedRun | Path | str, inputs: Any, x: Any = None, **how: Any) -> Any:
    """Return predictions of a run, given as an object or a name, for `inputs`: see `TrainedRun.predict`."""
    return (run if isinstance(run, Run) else load_run(run)).predict(inputs, x, **how)


class TrainedRun(Run):
    """A trained model with `record`, `cost`, `errors`, `history`, `predictions` and `predict`."""

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
        """Return predictions in physical units and, with `certify`, estimates of their errors.

        Parameters
        ----------
        inputs
            In physical units: (samples, ...space), or (samples, channels, ...space) for several functions, on
            a grid of the same kind as in training, with any number of points that the architecture accepts.
            On a square, space is (y, x). A NumPy array returns a float64 array; a tensor returns a tensor of
            the same type and device; a DataArray (sample, ...space) returns a DataArray after its coordinates
            are checked. Gradients are not recorded; use `operator` for gradients.
        x
            Positions along each axis, (n,), which are checked against the grid, or times of trajectories,
            which may differ from training. Not accepted for a DataArray, which has coordinates.
        device
            Torch device; by default the tensor's device, or the CPU.
        symmetrise
            Return the mean of the predictions under all symmetries of the equation and its distribution.
        correct
            Number of iterations of the equation's iterative solver, starting at the prediction. Only for
            Darcy flow, with conjugate gradients.
        certify
            Also return an `xarray.Dataset` of error estimates: `to_solver`, (sample,), estimates the relative
            L² error of the returned prediction from a cheap classical solver, if there is one. For Darcy
            flow, `energy_error`, (sample, bound), has rigorous lower and upper bounds of the relative error
            of the returned prediction in the energy norm.

        Warns
        -----
        OutsideTraining
            If inputs have values outside the range of the training data, or the range is unknown.

        Raises
        ------
        TrainingError
            If the run diverged, or the inputs do not fit it; or if symmetries, iterations or error estimates
            are requested, but the dataset's card is not available or the equation does not support them.
        FileError
            If these are requested, but the equation is code that was not allowed (`load_run`).
        SolverError
            If error estimates are requested, but the equation cannot be solved for the inputs.
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
        if (quantities_in := self.inputs) is not None:
            warn_outside(values, quantities_in, grid.dimension, self.record.model)
        elif not self.__dict__.get("_said"):
            self.__dict__["_said"] = True
            warn_unknown(self.record.dataset, self.record.dataset_hash if self.card is None else None)

        def answer(values: Any) -> Any:
            return predicted(operator.to(place), Samples(grid, values, values), place)

        result: Any
        known_errors = None
        if symmetrise or correct or certify:
            how = symmetrise, correct, certify
            equation = self.equation
            target_grid = grid
            if (sides := answer(values[:1]).shape[-grid.dimension :]) != grid.shape:  # inverse problems
                target_grid = regridded(grid, sides)
            result, known_errors = asked(answer, values, target_grid, equation, *how)
        else:
            result = answer(values)
        if tensor:
            kind = inputs.dtype if inputs.dtype.is_floating_point else torch.float32
            result = torch.from_numpy(result).to(inputs.device, kind)
        elif isinstance(inputs, xarray.DataArray):
            attributes = {"long_name": "prediction"}
            if self.targets is not None and len(self.targets) == 1:
                (target,) = self.targets
                attributes = {"long_name": f"prediction of the {target.long_name}", "units": target.units}
            result = labelled(result, inputs, grid, attributes)
        return (result, known_errors) if certify else result

    def calibrate(
        self,
        level: float = 0.9,
        samples: int = 200,
        *,
        resolution: int | str | None = None,
    ) -> Any:
        """Calibrate a ball around a prediction that contains the target with probability `level`.

        New samples of the distribution of the test samples are drawn and solved.

        Parameters
        ----------
        level
            Probability that a ball contains its target.
        samples
            Number of new samples. Their indices follow the validation samples'.
        resolution
            Points along each axis, or the name of a set of times: by default as in training or, if the run
            was not tested there, the nearest test resolution.

        Returns
        -------
        resolvent.evaluation.conformal.Calibration

        Raises
        ------
        EvaluationError
            If the level needs more samples, the dataset is read from files, which have no new samples, or the
            run was trained with noise.
        FileError
            If the equation is code that was not allowed (`load_run`).
        TrainingError
            If the run diverged, or the card of its dataset is not available.
        """
        import torch

        from resolvent.common.errors import EvaluationError
        from resolvent.datasets.loading import FreshSplit, Samples
        from resolvent.evaluation.conditions import predict as predicted
        from resolvent.evaluation.conformal import calibrated, rank_of

        if hasattr(self.equation, "source"):
            raise EvaluationError(
                f"the dataset {self.record.dataset} is read from files: it has no new samples"
            )
        if self.record.noise:
            raise EvaluationError(
                f"the run was trained with noise of {self.record.noise:g}, and new samples have none: a ball "
                "for them would be too small for noisy inputs"
            )
        rank_of(level, samples)  # refuses too few samples before any is solved
        asked = self.record.home if resolution is None else resolution
        split = FreshSplit("", asked, "validation", 0, grids=self.record.grids, card=self.card)
        drawn = split.read(range(samples))
        values = Samples(drawn.grid, drawn.inputs, drawn.inputs)
        prediction = predicted(self.operator, values, torch.device("cpu"))
        return calibrated(prediction, drawn.targets, drawn.target_grid, level)

    @property
    def equation(self) -> Any:
        """Return the settings of the dataset, whose equation may be code of the run's authors.

        Raises `TrainingError` if the card of the dataset is not available, `DatasetError` if its settings are
        invalid, and `FileError` if their code was not allowed (`load_run`).
        """
        from resolvent.datasets.tasks.registry import settings_on
        from resolvent.training.errors import TrainingError

        if self.card is None:
            words = f"the card of the dataset {self.record.dataset}, which names the equation, was not found"
            raise TrainingError(f"{words}: use load_run(…, data=<folder of the datasets>)")
        check_allowed(self.directory, [self.card["settings"]["equation"]], self.allow)
        return settings_on(self.card, f"the card of {self.directory}")

    def export(self, folder: Path | str, **how: Any) -> Path:
        """Export the run: see `resolvent.public.export.export_run`."""
        from resolvent.public.export import export_run

        return export_run(self, Path(folder), **how)

    @cached_property
    def card(self) -> Any:
        """Return the card of the test dataset, or None if it is not available."""
        record, own = self.record, self.directory / CARD
        place = None if self.data is None else Path(self.data)
        named = place.with_suffix(".json") if place is not None and place.suffix in ENDINGS else None
        if (path := own if own.is_file() else named) is not None:
            card = checked(WHOLE_CARD, read_json(path, "the dataset card"), str(path), remedy=ANEW)
            if card.get("content_hash") != record.dataset_hash:
                raise FileError(f"{path} is not the card of the dataset that {self.directory / RECORD} names")
            return card
        cards = cards_below(self._folders, record.dataset)
        return next((card for card in cards if card.get("content_hash") == record.dataset_hash), None)

    @property
    def _folders(self) -> list[Path]:
        """Return the folders of datasets in which cards are searched."""
        if self.data is not None:
            place = Path(self.data)
            return [place.parent.parent if place.suffix in ENDINGS else local_folder(str(place))]
        from resolvent.figures.front.study import read_study

        folders = [Path(LOCAL_FOLDER)]
        # A run outside of a study may be in a folder with fewer parents.
        with suppress(FileError, FileNotFoundError, IndexError, KeyError):
            study = self.directory.resolve().parents[3] / "study.json"
            planned = read_study(study.parent).datasets[self.record.dataset].card
            folders.insert(0, (study.parent / planned).parents[1])
        return folders

    @cached_property
    def training_card(self) -> Any:
        """Return the card of the training dataset, or None. It is `card` unless `test_dataset` was set."""
        name, settings = self.record.dataset, self.record.dataset_settings
        if self.card is None or self.card.get("dataset") == name:
            return self.card
        cards = cards_below(self._folders, name)
        wanted = name, settings
        return next((card for card in cards if (card.get("dataset"), card.get("settings")) == wanted), None)

    @property
    def inputs(self) -> tuple[Quantity, ...] | None:
        """Return the input functions by channel, with units and ranges; None without `training_card`."""
        card = self.training_card
        return None if card is None else quantities(card, "inputs", self.record.noise)

    @property
    def targets(self) -> tuple[Quantity, ...] | None:
        """Return the output functions by channel, with units and ranges; None without `training_card`."""
        return None if self.training_card is None else quantities(self.training_card, "targets")

    @cached_property
    def operator(self) -> Any:
        """Return the torch module from physical units to physical units, normalisers included.

        It maps functions (batch, ...space, channels) and coordinates (...space, dimension), both in float32
        (`resolvent.training.tensors`), to functions (batch, ...space, channels).

        Raises
        ------
        TrainingError
            If the run diverged, or its weights are missing or damaged.
        FileError
            If the weights belong to another network than `record`, or their code was not allowed
            (`load_run`).
        """
        from resolvent.training.checkpoints import trained_operator
        from resolvent.training.errors import TrainingError

        if self.diverged:
            words = f"diverged in epoch {self.cost.diverged_epoch} and has no operator to predict with"
            remedy = "choose another run, or train it with a smaller learning_rate"
            raise TrainingError(f"{self.directory} {words}: {remedy}")
        checkpoint = self.checkpoint
        check_allowed(self.directory, [self.record.architecture], self.allow)
        try:
            resolve(self.record.architecture, self.record.settings)
        except ValueError as error:
            raise FileError(f"{self.directory / RECORD}: 'settings': {error}: {ANEW}") from None
        operator: Any = trained_operator(checkpoint)
        return operator.eval()

    @cached_property
    def checkpoint(self) -> dict:
        """Read weights, normalisers and settings of the operator, checked against `record`."""
        if (self.directory / WEIGHTS).exists():
            from resolvent.public.weights import read_weights

            state = read_weights(self.directory / WEIGHTS)
            check_same_network(self.directory / WEIGHTS, state, vars(self.record))
            return state
        from resolvent.training import checkpoints

        state = checkpoints.load_run(self.directory, vars(self.record))
        if CHECKPOINT in self.record.files:  # absent in runs of earlier versions
            check_file(self.directory / CHECKPOINT, self.record)
        return state


def _folder(path: Path, results: Path) -> Path:
    """Return the folder of the unique run with this path or name."""
    for folder in (path, results / path):
        if (folder / RECORD).is_file():
            return folder
    folders = sorted(
        {
            file.parent
            for folder in (results / path, path)
            for depth in ("", "*/", "*/*/", "*/*/*/")
            for file in folder.glob(f"{depth}seed*/{RECORD}")
        }
    )
    if len(folders) == 1:
        return folders[0]
    if folders:
        names = [_name_below(folder, results) for folder in folders]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        raise FileError(f"{path} has {len(names)} runs: choose one of {', '.join(names[:6])}{more}")
    runs = results.glob(f"*/*/*/*/seed*/{RECORD}")
    there = sorted({_name_below(file.parents[2], results) for file in runs})
    raise FileError(
        f"no finished run {path} (no {RECORD} there: unfinished, or in another folder); names are {LEVELS}, "
        f"and may end after the model; finished in {results}: {', '.join(there[:12]) or 'none'}"
    )


def _name_below(folder: Path, results: Path) -> str:
    return (folder.relative_to(results) if folder.is_relative_to(results) else folder).as_posix()
