"""Files that datasets are imported from: found, looked into and identified before anything runs."""

from __future__ import annotations

from collections.abc import Iterator

from resolvent.common.counts import of_few
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays import ArraysDataset
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.settings import Configuration, training_settings


def remarks(configuration: Configuration) -> Iterator[str]:
    """Yield what is accepted and likely to be regretted, a line each."""
    for name, one in configuration.experiments.items():
        tested = configuration.datasets[one.test_dataset or one.dataset].samples.test
        if words := of_few(one.samples.test or tested):
            yield f"experiments.{name}: {words}"
        dataset = configuration.datasets[one.dataset]
        if isinstance(dataset, ArraysDataset) and any(
            training_settings(one, key, configuration.models[key], points).normalisation == "none"
            for key in one.models
            for points in one.resolutions
        ):
            yield from (f"experiments.{name}: {words}" for words in dataset.unscaled())


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
