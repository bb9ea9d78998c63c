"""Time trained operators and classical solvers on the same cores."""

import os
import random
from pathlib import Path

from resolvent.planning.job import job

# As many cores for both: JAX, which computes with all cores by itself, finds these alone.
if hasattr(os, "sched_setaffinity"):
    _cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, random.sample(_cores, min(snakemake.threads, len(_cores))))

with job(snakemake, alone=True):
    from resolvent.evaluation.inference import measure_inference

    measure_inference(
        Path(snakemake.input.card),
        Path(snakemake.input.test_card),
        [Path(folder) for folder in snakemake.params.runs],
        Path(snakemake.output.table),
        counts=snakemake.params.samples,
        threads=snakemake.threads,
        gpus=snakemake.resources.gpu,
    )
