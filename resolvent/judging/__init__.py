"""Named tasks, and the evaluation of predictions by any model on these tasks."""
