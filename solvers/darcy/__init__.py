"""Darcy flow in the unit square: the 5-point equations, two iterative solvers and a direct one."""
