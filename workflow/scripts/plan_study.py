"""Write what the study is to have."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.front.study import write_study
    from resolvent.planning.provenance import command, provenance

    write_study(snakemake.output.study, snakemake.params.study, command=command(), provenance=provenance())
