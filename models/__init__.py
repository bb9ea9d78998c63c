"""Neural operators as plain torch modules, one package per family, built by name with `models.build`."""
