"""What `import resolvent` offers: data, trained runs and solvers, for notebooks and other projects."""
