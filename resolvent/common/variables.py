"""Environment variables that jobs inherit from the process that plans them; no job runs again for them."""

DASK_SCHEDULER = "RESOLVENT_DASK_SCHEDULER"  # address of a dask.distributed scheduler for statistics
SAMPLES_GB = "RESOLVENT_SAMPLES_GB"  # memory that the samples of a job may take
