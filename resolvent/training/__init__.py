"""Training: losses, schedules, the loop, and checkpoints; from a dataset to a run's weights."""
