"""Public interface of `import resolvent`: data, trained runs and solvers."""
