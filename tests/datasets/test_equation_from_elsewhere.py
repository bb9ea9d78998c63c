"""An equation of the user's own, in a folder of the user's own: made, finalised, loaded and planned."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dataset_fixtures import CODE, make_dataset
from exhibits import without_rendering

import resolvent
from resolvent.datasets.card import finalise
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import load_samples
from resolvent.datasets.preview import write_motion, write_preview
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.registry import settings_of
from resolvent.figures.dataset.error_budget import checks_of
from resolvent.figures.dataset.page import write_dataset_page
from resolvent.planning import edits
from resolvent.planning.configuration.load import ConfigurationError, load_configuration
from resolvent.planning.pages import caption_facts
from resolvent.planning.plan import Plan
from resolvent.planning.prediction.costs import finalising, solving
from resolvent.planning.versions import versions_of

EQUATION = "my_lab.heat:HeatDataset"
PAGE = Path(__file__).resolve().parents[2] / "docs/tutorials/own-equation.md"
(SOURCE,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
SETTINGS = {"equation": EQUATION, "samples": {"train": 5, "validation": 1, "test": 2}, "samples_per_shard": 4}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that writes the module my_lab.heat into a folder on the path of Python."""
    forget()
    (tmp_path / "my_lab").mkdir()
    (tmp_path / "my_lab" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    def write_module(source: str) -> None:
        unload()
        (tmp_path / "my_lab" / "heat.py").write_text(source, encoding="utf-8")

    yield write_module
    forget()
    unload()


def unload() -> None:
    """Remove my_lab from the modules of Python: `monkeypatch` would put it back, for other tests to find."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_lab"]:
        del sys.modules[name]


def test_its_dataset_is_made_finalised_and_loaded(write, tmp_path):
    write(SOURCE)
    settings = settings_of(SETTINGS)
    task = settings.task()
    card = make_dataset(tmp_path / "data", settings, name="heat")
    facts = json.loads(card.read_text())
    assert facts["settings"]["equation"] == EQUATION
    budget = facts["error_budget"]
    assert set(budget) == {
        "stored_against_computed_again",
        "against_exact_solution",
        "against_refined_run",
    }
    exact, refined = budget["against_exact_solution"], budget["against_refined_run"]
    assert exact["reference"] == "my_lab.heat.Heat.exact_solution"
    assert exact["samples"] == refined["samples"] == 8
    assert 1e-8 < refined["largest_relative_l2"] < exact["largest_relative_l2"] < 1e-3
    (shown,) = (check for check in checks_of(budget) if check["key"] == "against_exact_solution")
    assert shown["notes"] == ["Reference: my_lab.heat.Heat.exact_solution."]
    assert shown["held"]
    samples = load_samples(card, 64, "train", 5)
    expected = task.compute([("train", index) for index in range(5)])
    np.testing.assert_array_equal(samples.inputs, expected["n64/before"])
    np.testing.assert_array_equal(samples.targets, expected["n64/after"])
    assert settings_of(facts["settings"]) == settings


def test_without_a_measured_error_it_is_not_finalised_and_the_message_says_what_to_define(write, tmp_path):
    write(SOURCE.replace("def refined", "def unused").replace("def exact_solution", "def unused_as_well"))
    with pytest.raises(
        DatasetError,
        match=r"not finalised: .* define Heat\.exact_solution .*, Heat\.refined .*, or Heat\.err",
    ) as error:
        make_dataset(tmp_path / "data", settings_of(SETTINGS), name="heat")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "data" / "heat.json").exists()


def test_a_wrong_factor_in_the_equation_is_found_by_the_closed_form_and_not_by_finer_steps(write, tmp_path):
    wrong = SOURCE.replace("** 2 * step", "** 2 * 2 * step")
    assert wrong != SOURCE
    write(wrong)
    with pytest.raises(DatasetError, match=r"its relative L2 error is .* \(against exact solution\)"):
        make_dataset(tmp_path / "data", settings_of(SETTINGS), name="heat")
    write(wrong.replace("def exact_solution", "def unused"))
    card = make_dataset(tmp_path / "again", settings_of(SETTINGS), name="heat")
    (check,) = (one for one in checks_of(json.loads(card.read_text())["error_budget"]) if one["held"])
    assert check["name"] == "against refined run"
    assert "finer steps" in check["meaning"]
    assert "independent" not in check["meaning"]


def test_arrays_of_a_closed_form_that_are_not_stored_are_refused(write, tmp_path):
    write(SOURCE.replace('/after": observe(later, n) for', '/later": observe(later, n) for'))
    with pytest.raises(
        DatasetError, match=r"array 'n32/later' of shape \(8, 32\); accepted: 'n32/before' of"
    ):
        make_dataset(tmp_path / "data", settings_of(SETTINGS), name="heat")
    write(SOURCE.replace("observe(later, n) for", "observe(later, n)[:1] for"))
    with pytest.raises(DatasetError, match=r"array 'n32/after' of shape \(1, 32\)"):
        make_dataset(tmp_path / "again", settings_of(SETTINGS), name="heat")


def planned(**changes) -> Plan:
    """The plan of a configuration with this dataset, and an experiment on it."""
    experiment = {"title": "Heat", "dataset": "heat", "models": ["fno"], "resolutions": [64]}
    experiment["training"] = {"batch_size": 2}
    content = {
        "name": "test", "datasets": {"heat": SETTINGS | changes}, "experiments": {"heat": experiment},
        "models": {"fno": {"label": "FNO", "architecture": "fno1d"}},
    }  # fmt: skip
    return Plan(load_configuration(content))


def test_it_is_planned_without_a_line_about_it_elsewhere(write):
    write(SOURCE)
    plan = planned()
    settings = plan.datasets["heat"].settings
    assert type(settings).__name__ == "HeatDataset"
    assert solving(settings).seconds < finalising(settings).seconds + 60
    assert settings.seconds_per_sample() == pytest.approx(96e-4)
    facts = caption_facts(plan, "heat")
    assert (facts["input"], facts["target"]) == ("input", "target")
    assert plan.configuration.model_dump()["datasets"]["heat"]["num_steps"] == 64


MORE = """    moves = True
    known = Known("temperature", ("n",))

    @staticmethod
    def solve_values(values, *, final_time):
        return final_time * values

    def task(self):
"""


def test_it_may_have_a_film_and_be_solved_for_values(write):
    source = SOURCE.replace("import SpaceDataset", "import Known, SpaceDataset")
    write(source.replace("    def task(self):\n", MORE))
    dataset = planned().datasets["heat"]
    assert dataset.settings.moves
    assert list(versions_of(*dataset.checks)) == ["my_lab.heat"]
    np.testing.assert_array_equal(resolvent.solve(EQUATION, np.ones(8), final_time=2.0), np.full(8, 2.0))


MOTION = """    def motion(self, sample):
        from resolvent.datasets.tasks.task import Motion

        (drawn,) = self.draw([sample])
        times = np.linspace(0, self.settings.final_time, 5)
        decay = -((2 * np.pi * np.arange(len(drawn))) ** 2)
        values = np.stack([observe(drawn * np.exp(decay * time), 64) for time in times])
        return Motion("curve", times, values, ("temperature",), np.arange(64) / 64)

    def description(self):
"""


def test_its_page_has_its_film(write, tmp_path, monkeypatch):
    without_rendering(monkeypatch)
    more = "    moves = True\n    film_caption = 'It cools.'\n\n    def task(self):\n"
    source = SOURCE.replace("    def task(self):\n", more)
    write(source.replace("    def description(self):\n", MOTION))
    settings = settings_of(SETTINGS)
    card, preview, motion = (
        make_dataset(tmp_path, settings),
        tmp_path / "preview.npz",
        tmp_path / "motion.npz",
    )
    write_preview(card, preview)
    write_motion(card, motion)
    page = tmp_path / "datasets/heat.html"
    write_dataset_page(
        page, card=card, store="heat.zarr", size=1, preview=preview, used_by=[], croissant="heat.json",
        sources={"film_caption": settings.film_caption, "shows_flux": False, "motion_file": motion},
        command="snakemake", provenance={}, root=tmp_path,
    )  # fmt: skip
    shown = page.read_text()
    (film,) = re.findall(r'<source src="(.*?)" type="video/mp4">', shown)
    assert (page.parent / film).stat().st_size > 1000
    assert "It cools. Four" in shown


def test_its_code_and_that_of_its_package_are_part_of_what_makes_the_data_again(write, tmp_path):
    def versions() -> dict:
        forget()
        return planned().datasets["heat"].versions

    numbers = tmp_path / "my_lab" / "numbers.py"
    numbers.write_text("EIGHT = 8\n")
    source = SOURCE.replace("import numpy as np\n", "import numpy as np\nfrom my_lab.numbers import EIGHT\n")
    write(source)
    first = versions()
    assert versions() == first
    numbers.write_text("EIGHT = 9\n")
    second = versions()
    write(source.replace("1 + rate / 2", "1 + rate"))
    assert first != second != versions()


def forget() -> None:
    """Let the digest read sources anew."""
    for function in vars(edits).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def message(**changes) -> str:
    with pytest.raises(ConfigurationError) as error:
        planned(**changes)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_key_that_it_does_not_have_is_named_with_the_nearest(write):
    write(SOURCE)
    assert message(num_stepz=3).startswith(
        "datasets.heat.num_stepz: unknown key 'num_stepz'; did you mean 'num_steps'?"
    )
    assert message(final_time=-1).startswith("datasets.heat.final_time: input should be greater than 0")


def test_an_equation_that_is_not_there_is_one_clear_line(write):
    write(SOURCE)
    for equation, said in (
        (
            "my_lab.heat:Heatdataset",
            "unknown name in module my_lab.heat: 'Heatdataset'; did you mean 'HeatDataset'",
        ),
        (
            "my_lab.heat:Heat",
            "not a subclass of resolvent.datasets.tasks.settings.DatasetSettings",
        ),
        (
            "my_lab.wave:WaveDataset",
            "no module my_lab.wave; install it, or add its folder to PYTHONPATH",
        ),
        ("your_lab.heat:HeatDataset", "no module your_lab"),
        ("my_lab.heat.HeatDataset", "unknown equation 'my_lab.heat.HeatDataset'; accepted: burgers, darcy"),
        ("os:system('true')", "unknown equation"),
    ):
        found = message(equation=equation)
        assert found.startswith("datasets.heat")
        assert said in found


def test_a_module_that_cannot_be_imported_says_why_in_one_line(write):
    for line, said in (
        ("import no_such_package", "No module named 'no_such_package'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def f(:", "SyntaxError"),
    ):
        write(line)
        assert "module my_lab.heat cannot be imported: " in (found := message())
        assert said in found


def test_other_samples_than_those_computed_are_not_finalised(write, tmp_path):
    write(SOURCE)
    settings = settings_of(SETTINGS)
    task, store = settings.task(), tmp_path / "heat.zarr"
    receipts = [tmp_path / f"{shard}.json" for shard in range(settings.num_shards)]
    for shard, receipt in enumerate(receipts):
        generate_shard(task, store, shard, receipt, CODE)
    other = settings_of(SETTINGS | {"seed": 1}).task()
    with pytest.raises(DatasetError, match=r"differs by .* from the same samples computed again"):
        finalise(other, store, receipts, tmp_path / "heat.json", CODE)


def test_reading_a_configuration_imports_no_solver_no_store_no_model_and_no_figure():
    heavy = ["jax", "zarr", "numba", "diffrax", "dask", "xarray", "torch", "h5py"]
    heavy += ["neuralop", "pandas", "matplotlib"]
    code = (
        "import sys, resolvent.models.registry, resolvent.figures.papers.registry\n"
        "from resolvent.datasets.tasks.registry import EQUATIONS, IMPORTED, settings_class\n"
        "for equation in EQUATIONS: settings_class(equation, equation in IMPORTED)\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout == "[]\n"
