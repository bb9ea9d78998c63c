"""The base of the tasks that read their samples from files, and what their cards say of it."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resolvent.datasets.imported.channels import read_rows
from resolvent.datasets.imported.contents import check_digests, content_digest
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.settings import ImportedDataset
from resolvent.datasets.tasks.task import Task

if TYPE_CHECKING:
    from resolvent.datasets.storage.stored import Stored

BATCH_BYTES = 2**27  # of rows read at a time


class ImportedTask(Task):
    """Reads the samples of a dataset from its files, and checks them against what the settings say they are.

    `draw` reads the input and the target of each sample, (samples, 2, ...); `solve` restricts them to the
    grids stored. Differences from our solver are stated, and above the dataset's `accuracy` they are
    warnings, no errors: who imports data may want them as they are.
    """

    settings: ImportedDataset

    def __init__(self, settings: ImportedDataset):
        super().__init__(settings)
        row = 16 * settings.num_points(settings.finest)  # both variables in float64
        self.batch = int(np.clip(BATCH_BYTES // row, 1, 256))

    @cached_property
    def files(self) -> list[ArraysFile]:
        """Open the files.

        Raises
        ------
        DatasetError
            When one is missing, damaged, or not the one that was planned with.
        """
        s, remedy = self.settings, "it has changed since: run snakemake again"
        check_digests(s.sha256, s.source, self._digests, remedy)
        return self.settings.checked_files()

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Read the sample `index` of split number `split`: its input and its target, (2, ...)."""
        return self.draw([(list(self.layout.samples)[split], index)])[0]

    def draw(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Read the inputs and targets of `samples`, (samples, 2, ...), with one read for adjoining rows."""
        rows, functions = self.settings.count(self.files[-1]), self.settings.functions()
        places = [self.settings.place(split, index, rows) for split, index in samples]
        parts = []
        for _, run in groupby(enumerate(places), lambda entry: (entry[1][0], entry[1][1] - entry[0])):
            members = [place for _, place in run]
            file, span = self.files[members[0][0]], range(members[0][1], members[-1][1] + 1)
            parts.append(np.stack([read_rows(file, *function, span) for function in functions], axis=1))
        return np.concatenate(parts)

    @abstractmethod
    def findings(self, stored: Stored) -> dict:
        """Compare samples with our solver and with the distribution stated, for the card's error budget.

        The first entry, "labels_against_our_solver" has the errors of the targets, or why there are none,
        "not_available".
        """

    @abstractmethod
    def warnings(self, findings: dict) -> list[str]:
        """Say in a sentence each what is not as the settings say."""

    def error_budget(self, stored: Stored) -> dict:
        from resolvent.datasets.tasks.error_budget import against_computed_again

        positions = stored.random_positions(16)
        return {
            **self.findings(stored),
            "stored_against_the_file": against_computed_again(self, stored, positions),
        }

    def hold_to_accuracy(self, budget: dict, store: Path | str) -> dict:
        """Say for the card what was imported and what the checks found."""
        labels, warnings = budget["labels_against_our_solver"], self.warnings(budget)
        found = "they could not be: {not_available}"
        if "not_available" in labels:
            warnings = [f"The solutions could not be checked: {labels['not_available']}", *warnings]
        else:
            found = (
                "relative L² difference {median_relative_l2:.1e} in the median, "
                "{largest_relative_l2:.1e} at most, over {samples} samples"
            )
        warnings = warnings + [f"In {file.name} {note}." for file in self.files for note in file.notes]
        return {
            "imported": {
                "summary": f"imported; labels checked against our solver: {found.format(**labels)}",
                "tolerance": self.settings.accuracy,
                "warnings": warnings,
                "files": [self._facts(*one) for one in zip(self.files, self._digests, strict=True)],
                "samples_are": self._rows_in_words(),
            }
        }

    @property
    def precision(self) -> str:
        return f"read from the file, stored as {self.dtype}"

    @cached_property
    def _digests(self) -> list[str]:
        return [content_digest(file) for file in self.settings.source]

    def _facts(self, file: ArraysFile, digest: str) -> dict:
        names = dict.fromkeys(name.variable for name, _ in self.settings.functions())
        shapes = {name: " × ".join(map(str, file.shape(name))) for name in names}
        return {"file": file.name, "format": file.version, "variables": shapes, "sha256": digest}

    def _rows_in_words(self) -> dict[str, str]:
        rows, words = self.settings.count(self.files[-1]), {}
        for split, size in self.layout.samples.items():
            if size:
                file, first = self.settings.place(split, 0, rows)
                words[split] = f"rows {first + 1} to {first + size} of {self.files[file].name}"
        return words
