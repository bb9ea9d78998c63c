"""Measure what theory says of the attentions."""

from workflow.job import job

with job(snakemake):
    from training.evaluation import write_table
    from training.theory.convergence import convergence_orders, errors
    from training.theory.cost import cost_orders, costs
    from training.theory.projection import distances, quasi_optimality

    settings, output = snakemake.params.settings, snakemake.output
    points, seed = settings["projection_points"], settings["seed"]
    write_table(distances(points, seed), output.projection)
    write_table(quasi_optimality(points, seed), output.quasi_optimality)
    table = errors(settings["convergence_points"])
    write_table(table, output.convergence)
    write_table(convergence_orders(table), output.convergence_orders)
    table = costs(settings["cost_points"], settings["cost_features"], settings["cost_repetitions"], seed)
    write_table(table, output.cost)
    write_table(cost_orders(table), output.cost_orders)
