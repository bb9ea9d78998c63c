"""Draw the figures of the theory's page."""

from pathlib import Path

from workflow.job import job

with job(snakemake):
    from figures.theory_convergence import draw_theory_convergence
    from figures.theory_cost import draw_theory_cost
    from figures.theory_projection import draw_theory_projection

    tables, folder = snakemake.input, Path(snakemake.output[0]).parent
    draw_theory_projection(tables.projection, tables.quasi_optimality, folder / "theory_projection.svg")
    draw_theory_cost(tables.cost, tables.cost_orders, folder / "theory_cost.svg")
    draw_theory_convergence(tables.convergence, tables.convergence_orders, folder / "theory_convergence.svg")
