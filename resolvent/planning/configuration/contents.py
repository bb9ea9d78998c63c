"""Files that datasets are imported from: found, looked into and identified before anything runs."""

from __future__ import annotations

from resolvent.datasets.errors import DatasetError
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.settings import Configuration


def with_contents(configuration: Configuration) -> Configuration:
    """Return the configuration with the digest of every file that a dataset is imported from.

    Raises
    ------
    ConfigurationError
        With one line per dataset: a file is missing, or is not what the configuration says.
    """
    datasets, problems = {}, []
    for name, settings in configuration.datasets.items():
        try:
            datasets[name] = settings.with_contents()
        except DatasetError as error:
            problems.append(f"datasets.{name}.source: {error}")
    if problems:
        raise ConfigurationError(problems)
    return configuration.model_copy(update={"datasets": datasets})
