"""Write the page of an experiment."""

from workflow.job import job

with job(snakemake):
    from figures.report import write_report
    from workflow.captions import captioned
    from workflow.provenance import command, provenance

    write_report(
        snakemake.output.page,
        title=snakemake.params.title,
        command=command(),
        table=snakemake.input.comparison,
        runs=snakemake.params.runs,
        cards=[snakemake.input.card],
        figures=captioned(snakemake.input.figures, snakemake.input.captions, snakemake.params.facts),
        provenance=provenance(),
        paper_pages=snakemake.params.paper_pages,
        predicted=snakemake.params.predicted,
    )
