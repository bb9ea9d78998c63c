"""The DAG and what it needs to be planned: configuration, file names, rerun triggers. Calls the rooms."""
