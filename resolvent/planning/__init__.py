"""Plan the DAG: configuration, file names, rerun triggers, predicted cost. Calls all other packages."""
