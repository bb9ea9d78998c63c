"""Small tasks for tests of evaluations."""

import yaml
from dataset_fixtures import computed_arrays, small

from resolvent.judging import tasks


def write_task(folder, name, equation, resolution):
    """Write a task with five test samples to `folder`, and return their arrays by name."""
    settings = small(equation, samples={"train": 6, "validation": 2, "test": 5}, samples_per_shard=4)
    content = {
        "title": "Small", "given": "a function", "asked": "another", "tested": [resolution],
        "dataset": settings.model_dump(mode="json"),
    }  # fmt: skip
    arrays = computed_arrays(settings, [("test", index) for index in range(5)])
    content["test"] = tasks.marks_of(arrays)
    content["first"] = tasks.marks_of({name: values[:1] for name, values in arrays.items()})
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return arrays
