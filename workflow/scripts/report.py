"""Write the page of an experiment."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.common.records import CostRecord, read_record
    from resolvent.figures.common.own import OwnFigure
    from resolvent.figures.common.shown import choose_shown
    from resolvent.figures.experiment.report import write_report
    from resolvent.models.outside import find
    from resolvent.planning.captions import captioned
    from resolvent.planning.configuration.load import load_configuration
    from resolvent.planning.configuration.read import with_defaults
    from resolvent.planning.plan import Plan
    from resolvent.planning.prediction.needs import Needs
    from resolvent.planning.provenance import command, provenance

    # No parameter of the rule: a better prediction is no reason to write the page again.
    on_cpu = read_record(Path(snakemake.params.runs[0]) / "cost.json", CostRecord).device.endswith("(CPU)")
    needs = Needs(Plan(load_configuration(with_defaults(snakemake.config))), gpu=not on_cpu)
    candidates, named = snakemake.params.candidates, snakemake.params.named
    facts = snakemake.params.facts | {"shown": choose_shown(candidates, named).words}
    own = [find(location, OwnFigure) for location in snakemake.params.own_figures]
    write_report(
        snakemake.output.page,
        title=snakemake.params.title,
        command=command(),
        table=snakemake.input.comparison,
        runs=snakemake.params.runs,
        candidates=candidates,
        named=named,
        baselines=snakemake.params.baselines,
        inference=snakemake.input.inference,
        card=snakemake.input.card,
        figures=captioned(snakemake.input.figures, facts),
        own_figures=[
            (file, figure.title, figure.caption)
            for file, figure in zip(snakemake.input.own_figures, own, strict=True)
        ],
        film=captioned([snakemake.input.film], facts)[0] if snakemake.input.film else None,
        provenance=provenance(),
        root=snakemake.params.root,
        paper_pages=snakemake.params.paper_pages,
        predicted=needs.of_runs(snakemake.wildcards.experiment),
    )
