"""Neural operators as plain torch modules: one architecture a file, built by name with `models.build`."""
