"""The names of metrics as a reader sees them; a metric that is not listed goes by the name of its column."""

NAMES = {
    "relative_l2": "relative L²",
    "relative_h1": "relative H¹",
    "standardised_relative_l2": "relative L², standardised fields",
}


def error_in_words(metric: str) -> str:
    """Return what an error in this metric is called: "relative L² error"."""
    of = {"standardised_relative_l2": "relative L² error of standardised functions"}
    return of.get(metric, f"{name_of(metric)} error")


def name_of(metric: str) -> str:
    """Return the name of a metric, for tables and figures."""
    function = metric.removeprefix("relative_l2_")
    of_function = f"relative L², {function.replace('_', ' ')}"
    return NAMES.get(metric, of_function if function != metric else metric.replace("_", " "))
