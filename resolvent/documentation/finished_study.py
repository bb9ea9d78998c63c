"""The finished study that a tutorial reads: files of the demo, kept in docs/tutorials/finished_study.

After `make demo`, `python -m resolvent.documentation.finished_study` copies them again. Checkpoints, pages
and figures stay behind: they are large, and the tutorial reads tables.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from resolvent.common.records import CHECKPOINT, RunRecord, read_record, write_record
from resolvent.documentation.pages import ROOT

KEPT = ROOT / "docs/tutorials/finished_study"
EXPERIMENT = "demo/burgers"
MODELS = ("fno", "galerkin_layer_scale")
TABLES = (
    "comparison.csv", "comparison.csv.sha256", "models.csv", "models.csv.sha256", "baselines/cost.json",
    "baselines/errors.csv",
)  # fmt: skip
OF_A_RUN = ("run.json", "cost.json", "history.csv", "errors.csv", "predictions.nc")


def copy_study(results: Path, kept: Path) -> None:
    """Copy the tables of the demo's first experiment, and two runs of it, from `results` to `kept`.

    Raises `FileNotFoundError` when the demo is not finished.
    """
    experiment = results / EXPERIMENT
    runs = [run for model in MODELS for run in sorted(experiment.glob(f"{model}/*/seed*"))]
    files = [experiment / name for name in TABLES] + [run / name for run in runs for name in OF_A_RUN]
    if not runs or not all(file.is_file() for file in files):
        raise FileNotFoundError(f"{experiment} is not finished: run `make demo`")
    shutil.rmtree(kept, ignore_errors=True)
    for file in files:
        place = kept / file.relative_to(results)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
        if file.name == "run.json":  # its checkpoint stays behind
            record = read_record(file, RunRecord)
            digests = {name: digest for name, digest in record.files.items() if name != CHECKPOINT}
            write_record(place, replace(record, files=digests))


if __name__ == "__main__":
    copy_study(ROOT / "results", KEPT)
