"""Neural operators as plain torch modules: a room for each family, built by name with `models.build`."""
