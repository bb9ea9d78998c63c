"""Measure what theory says of the attentions."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.common.runs import save_table
    from resolvent.measurements.theory.average import average_errors
    from resolvent.measurements.theory.continuum import monte_carlo, quadratures
    from resolvent.measurements.theory.convergence import errors
    from resolvent.measurements.theory.cost import costs
    from resolvent.measurements.theory.fits import continuum_orders, convergence_orders, cost_orders
    from resolvent.measurements.theory.invariance import invariance_errors
    from resolvent.measurements.theory.projection import distances, quasi_optimality

    settings, output = snakemake.params.settings, snakemake.output
    points, seed = settings["projection_points"], settings["seed"]
    save_table(distances(points, seed), output.projection)
    save_table(quasi_optimality(points, seed), output.quasi_optimality)
    table = errors(settings["convergence_points"])
    save_table(table, output.convergence)
    save_table(convergence_orders(table), output.convergence_orders)
    table = costs(settings["cost_points"], settings["cost_features"], settings["cost_repetitions"], seed)
    save_table(table, output.cost)
    save_table(cost_orders(table), output.cost_orders)

    draws = settings["continuum_draws"]
    measured = {
        "monte_carlo": monte_carlo(settings["continuum_points"], draws, seed),
        "quadratures": quadratures(settings["quadrature_intervals"], draws, seed),
        "averages": average_errors(settings["average_sides"], draws, seed),
        "invariance": invariance_errors(
            snakemake.params.examples,
            settings["invariance_points_1d"],
            settings["invariance_points_2d"],
            seed,
        ),
    }
    for name, table in measured.items():
        save_table(table, output[name])
    save_table(continuum_orders(**measured), output.continuum_orders)
