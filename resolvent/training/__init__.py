"""Training: losses, schedules, training loop and checkpoints."""
