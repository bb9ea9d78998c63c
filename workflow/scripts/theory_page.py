"""Write the page of the theory."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.theory.page import write_theory_page
    from resolvent.planning.captions import captioned
    from resolvent.planning.provenance import command, provenance

    facts = {
        key: ", ".join(map(str, value)) if isinstance(value, list) else value
        for key, value in snakemake.params.settings.items()
    }
    write_theory_page(
        snakemake.output.page,
        distances=snakemake.input.projection,
        quasi_optimality=snakemake.input.quasi_optimality,
        costs=snakemake.input.cost,
        cost_orders=snakemake.input.cost_orders,
        convergence_orders=snakemake.input.convergence_orders,
        monte_carlo=snakemake.input.monte_carlo,
        quadratures=snakemake.input.quadratures,
        averages=snakemake.input.averages,
        invariance=snakemake.input.invariance,
        continuum_orders=snakemake.input.continuum_orders,
        figures=captioned(snakemake.input.figures, facts),
        command=command(),
        provenance=provenance(),
        root=snakemake.params.root,
    )
