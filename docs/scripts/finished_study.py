"""Copy files of the demo to docs/tutorials/finished_study, the finished study in a tutorial.

Run `python docs/scripts/finished_study.py` after `make demo`. Checkpoints, pages and figures are
not copied: they are large, and the tutorial reads only tables.
"""

import shutil
from dataclasses import replace

from page_parts import ROOT

from resolvent.common.records import CHECKPOINT, RunRecord, read_record, write_record

OF_A_RUN = ("run.json", "cost.json", "history.csv", "errors.csv", "predictions.nc")
RUNS = [f"{model}/*/seed*/{name}" for model in ("fno", "galerkin_layer_scale") for name in OF_A_RUN]
KEPT = ("comparison.csv*", "models.csv*", "baselines/*.*", *RUNS)


def main() -> None:
    """Copy the tables of the demo's experiment and the runs of two models.

    Raises `FileNotFoundError` if the demo is not finished.
    """
    made, kept = ROOT / "results/demo/burgers", ROOT / "docs/tutorials/finished_study/demo/burgers"
    files = [file for pattern in KEPT for file in made.glob(pattern)]
    if not files:
        raise FileNotFoundError(f"{made} is not finished: run `make demo`")
    shutil.rmtree(kept)
    for file in files:
        place = kept / file.relative_to(made)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
        if file.name == "run.json":  # the checkpoint is not copied
            record = read_record(file, RunRecord)
            digests = {name: digest for name, digest in record.files.items() if name != CHECKPOINT}
            write_record(place, replace(record, files=digests))


if __name__ == "__main__":
    main()
