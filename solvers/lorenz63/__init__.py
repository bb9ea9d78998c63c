"""Lorenz's model of convection: its trajectories, and what one observed component says of the others."""
