"""Draw the figures of the theory's page."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.theory.convergence import draw_theory_convergence
    from resolvent.figures.theory.cost import draw_theory_cost
    from resolvent.figures.theory.invariance import draw_theory_invariance
    from resolvent.figures.theory.monte_carlo import draw_theory_monte_carlo
    from resolvent.figures.theory.projection import draw_theory_projection
    from resolvent.figures.theory.quadratures import draw_theory_quadratures

    tables, folder = snakemake.input, Path(snakemake.output[0]).parent
    draw_theory_projection(tables.projection, tables.quasi_optimality, folder / "theory_projection.svg")
    draw_theory_cost(tables.cost, tables.cost_orders, folder / "theory_cost.svg")
    draw_theory_convergence(tables.convergence, tables.convergence_orders, folder / "theory_convergence.svg")
    orders = tables.continuum_orders
    draw_theory_monte_carlo(tables.monte_carlo, tables.averages, orders, folder / "theory_monte_carlo.svg")
    draw_theory_quadratures(tables.quadratures, orders, folder / "theory_quadratures.svg")
    draw_theory_invariance(tables.invariance, orders, folder / "theory_invariance.svg")
