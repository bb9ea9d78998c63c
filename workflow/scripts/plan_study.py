"""Write what the study is to have."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.planning.study import write_study

    write_study(snakemake.output.study, snakemake.params.study)
