"""Burgers' equation on the circle: two integrators in time and the closed form."""
