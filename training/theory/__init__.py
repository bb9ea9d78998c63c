"""What Cao (2021) proves of attention, measured: projections, cost, convergence. Each gives a table."""
