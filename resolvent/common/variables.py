"""Environment variables that jobs inherit from the process that plans them; no job runs again for them."""

SAMPLES_GB = "RESOLVENT_SAMPLES_GB"  # memory that the samples of a job may take
