"""Environment variables by which the process that plans tells its jobs what is no reason to run again."""

SAMPLES_GB = "RESOLVENT_SAMPLES_GB"  # memory that the samples of a job may take
