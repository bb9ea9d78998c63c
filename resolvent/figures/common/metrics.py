"""The names of metrics as a reader sees them; a metric that is not listed goes by the name of its column."""

NAMES = {
    "relative_l2": "relative L²",
    "relative_h1": "relative H¹",
    "standardised_relative_l2": "relative L², standardised fields",
}


def name_of(metric: str) -> str:
    """The name of a metric, for tables and figures."""
    return NAMES.get(metric, metric.replace("_", " "))
