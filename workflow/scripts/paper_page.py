"""Write the page of a paper."""

from pathlib import Path

import yaml

from workflow.job import job

with job(snakemake):
    from figures.paper_page import Made, write_paper_page
    from workflow.provenance import command, provenance

    key = snakemake.wildcards.paper
    captions = yaml.safe_load(Path(snakemake.input.captions).read_text(encoding="utf-8"))[key]
    facts = snakemake.params.facts
    write_paper_page(
        key,
        snakemake.output.page,
        made={
            item: Made(caption=captions[item].format(**facts[item]), **made)
            for item, made in snakemake.params.made.items()
        },
        command=command(),
        provenance=provenance(),
    )
