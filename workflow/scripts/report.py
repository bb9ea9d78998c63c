"""Write the page of an experiment."""

from pathlib import Path

import yaml

from workflow.job import job

with job(snakemake):
    from figures.report import write_report
    from workflow.provenance import command, provenance

    captions = yaml.safe_load(Path(snakemake.input.captions).read_text(encoding="utf-8"))
    figures = []
    for path in snakemake.input.figures:
        words = captions[Path(path).stem]
        figures.append((path, words["title"], words["caption"].format(**snakemake.params.facts)))
    write_report(
        snakemake.output.page,
        title=snakemake.params.title,
        command=command(),
        table=snakemake.input.comparison,
        runs=snakemake.params.runs,
        cards=[snakemake.input.card],
        figures=figures,
        provenance=provenance(),
        paper_pages=snakemake.params.paper_pages,
    )
