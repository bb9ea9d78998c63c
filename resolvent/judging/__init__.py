"""Named tasks, and the judgement of predictions for them, whoever made these."""
