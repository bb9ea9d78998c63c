"""Predict with a trained run for functions in a file."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    import torch

    from resolvent.public.files import predict_file
    from resolvent.public.runs import load_run
    from resolvent.training.devices import choose_device

    torch.set_num_threads(snakemake.threads)
    run = load_run(Path(snakemake.input.run).parent, data=snakemake.params.card)
    device = str(choose_device(snakemake.resources.gpu))
    predict_file(run, snakemake.input.source, snakemake.output.predicted, device=device)
