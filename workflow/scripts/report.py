"""Draw the figures of an experiment and write its page."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.common.records import CostRecord, read_record
    from resolvent.figures.common.exhibit import Exhibit
    from resolvent.figures.experiment.report import write_report
    from resolvent.models.outside import find
    from resolvent.planning.configuration.load import load_configuration
    from resolvent.planning.configuration.read import with_defaults
    from resolvent.planning.plan import Plan
    from resolvent.planning.prediction.needs import Needs
    from resolvent.planning.provenance import command, provenance

    given, own = snakemake.params.given, snakemake.params.own
    # No parameter of the rule: a better prediction is no reason to write the page again.
    on_cpu = read_record(Path(given["run_folders"][0]) / "cost.json", CostRecord).device.endswith("(CPU)")
    needs = Needs(Plan(load_configuration(with_defaults(snakemake.config))), gpu=not on_cpu)
    write_report(
        snakemake.output.page,
        title=snakemake.params.title,
        command=command(),
        given=given,
        card=snakemake.input.card,
        own={file: find(location, Exhibit) for file, location in own.items()},
        film=snakemake.output.get("film"),
        provenance=provenance(),
        root=snakemake.params.root,
        paper_pages=snakemake.params.paper_pages,
        predicted=needs.of_runs(snakemake.params.experiment),
    )
