"""A version of a task never changes: neither what it says, nor the numbers that it is made of."""

import hashlib

import pytest
from dataset_fixtures import computed_arrays

from resolvent.judging import tasks

VERSIONS = {
    "burgers-v1": "84dc58a2ba1099fea90e73ed98a7696169011c00b203902ca5c3bf97cca8dd45",
    "burgers-viscosity-v1": "89eb8abe8c452ce2fc800871db5bd68765c7eb0d8c1892521a30df16bc036e15",
    "controlled-ode-v1": "d04a2aae9eb108c7c438d0a4063aaedbc100d9687c86c765b5f277c71f43c410",
    "darcy-inverse-v1": "a750ff33f8db782337b618b022980034da370e5a3b7849926e22341f47e66631",
    "darcy-inverse-v2": "8d89cd3b0f5a9c503425f36f6dd09e539088a30561461486ae09f72275e83a89",
    "darcy-lognormal-v1": "eb0cdac7c1d8b71ad825168a292b79caa7dbedcbfe18dda86754dbe93116374b",
    "darcy-v1": "67d1f8d45d4f7e6fe732063345eb671dd2c2019a16856a7c3288f37b2cadec76",
    "darcy-v2": "738cfcb31c2333e12bb8ef461b1e73ac5915d58319e8ea3d7eefd9284f8337db",
    "kolmogorov-v1": "891007009c625192419448b8b1d8c05e0b469b304c543c4425e8708116861eff",
    "lorenz63-v1": "e6309f2d1bd07aea049c08ce6fb892c1b2c39645e6366fdb9cb0fb4437a3c81c",
}
QUICK = [name for name in VERSIONS if name != "kolmogorov-v1"]  # whose first sample takes ten seconds


def test_no_version_has_changed_and_none_is_missing():
    found = {
        name: hashlib.sha256((tasks.FOLDER / f"{name}.yaml").read_bytes()).hexdigest()
        for name in tasks.names()
    }
    assert found == VERSIONS


@pytest.mark.parametrize("name", QUICK)
def test_the_first_test_sample_is_the_one_that_was_published(name):
    task = tasks.read_task(name)
    tasks.check_marks(task, "first", tasks.marks_of(computed_arrays(task.dataset, [("test", 0)])), name)
    assert set(task.test) == set(task.first)


def test_another_function_is_not_taken_for_another_rounding():
    task = tasks.read_task("controlled-ode-v1")
    arrays = computed_arrays(task.dataset, [("test", 0)])
    rounded = {name: values * (1 + 1e-11) for name, values in arrays.items()}
    tasks.check_marks(task, "first", tasks.marks_of(rounded), "controlled-ode-v1")
    other = {name: values[:, ::-1] for name, values in arrays.items()}
    with pytest.raises(tasks.DatasetError, match="is not the task's"):
        tasks.check_marks(task, "first", tasks.marks_of(other), "controlled-ode-v1")
