"""What the digests of the real rules cover: all that scripts import, and each module where it counts."""

import ast
import inspect
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from dataset_fixtures import small_settings
from planning_forks import run_code
from training_fixtures import described

from resolvent.datasets.tasks import registry
from resolvent.evaluation.evaluate import evaluate_run
from resolvent.planning import rerun
from resolvent.planning.places import HOME as ROOT
from resolvent.planning.rerun import ROOTS, WITHOUT_RESULT, everything_reached, script_digest
from resolvent.training.settings import TrainingSettings
from resolvent.training.train import train_run

# Plans each configuration in a fork, and prints the arguments of every digest that its rules ask for.
# What neither this nor the next imports is imported already (planning_forks.py).
PLANNED = """
import json, os, sys
from snakemake.cli import main
from resolvent.planning import rerun

digest, calls = rerun.script_digest, set()
rerun.script_digest = lambda *names: calls.add(names) or digest(*names)
snakefile, *studies = sys.argv[1:]
for study in studies:
    if not os.fork():
        words = ["--snakefile", snakefile, "--configfile", study]
        try:
            main([*words, "--dry-run", "--quiet", "all", "--cores", "1"])
        except SystemExit as end:
            assert not end.code, end.code
        print(json.dumps(sorted(calls)))
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0, study
"""
# Prints the project's modules that each of the given lists of import statements brings into a fork.
IMPORTED = """
import gc, json, os, sys
gc.disable()
import neuralop.models, scipy.sparse.linalg

for statements in json.loads(sys.argv[2]):
    if not os.fork():
        exec(statements)
        print(json.dumps([name for name in sys.modules if name.partition(".")[0] in sys.argv[1].split()]))
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0, statements
"""
JOB_FUNCTIONS = [
    node
    for node in ast.parse((ROOT / "workflow/scripts/jobs.py").read_text()).body
    if isinstance(node, ast.FunctionDef)
]
ROOT_FIRST = os.environ | {"PYTHONPATH": str(ROOT)}
EQUATIONS = {registry.settings_class(name).__module__.rpartition(".")[2] for name in registry.EQUATIONS}
MOVING = {name for name in registry.EQUATIONS if registry.settings_class(name).moves}
ERRORS = ("Error", "Warning", "Exception")
OF_PAPERS = {"show", "paper_page"}
ALONE = {""}  # the script chooses nothing by name


def of_datasets(*equations: str) -> dict[str, set[str]]:
    """Return a module that computes these datasets, their films, and classical answers to them."""
    scripts = ("solve_dataset", "finalise_dataset", "baselines", "inference", "estimates")
    moving = set(equations) & MOVING
    return {script: set(equations) for script in scripts} | ({"motion": moving} if moving else {})


def of_model(*modules: str) -> dict[str, set[str]]:
    again = {"inference": {"burgers"}, "estimates": {"burgers"}}
    return {script: set(modules) for script in ("train", "evaluate")} | again


# By module or definition: the scripts where it counts, and there the first module chosen by name.
COUNTS = {
    "resolvent.solvers.common.observation_times": of_datasets("lorenz63", "controlled_ode"),
    "resolvent.solvers.burgers.split_step": of_datasets("burgers"),
    "resolvent.datasets.tasks.kolmogorov": of_datasets("kolmogorov"),
    "resolvent.datasets.tasks.settings:SpaceDataset": of_datasets("burgers", "darcy", "kolmogorov"),
    "resolvent.datasets.card": {"finalise_dataset": EQUATIONS},
    "resolvent.datasets.storage.generation": {"solve_dataset": EQUATIONS, "finalise_dataset": EQUATIONS},
    "resolvent.datasets.preview:write_preview": {"preview_dataset": ALONE},
    "resolvent.models.other_works.fno": of_model("fno")
    | {"inference": {"burgers", "darcy"}, "estimates": {"burgers", "darcy"}},
    "resolvent.models.other_works.settings:FNO1dSettings": of_model("fno"),
    "resolvent.evaluation.baselines": {"baselines": EQUATIONS},
    "resolvent.measurements.architecture_formulas": {"measure_architectures": {"neuraloperator"}},
    "resolvent.figures.experiment.cost": {"report": ALONE},
    "resolvent.datasets.tasks.kolmogorov:motion": {"motion": {"kolmogorov"}},
    "resolvent.datasets.tasks.kolmogorov:cheap_answer": {"estimates": {"kolmogorov"}},
    "resolvent.datasets.tasks.darcy:error_bounds": {"estimates": {"darcy"}},
    "resolvent.solvers.darcy.bounds:energy_error_bounds": {"estimates": {"darcy"}},
    "resolvent.datasets.tasks.symmetries:of_the_square": {"estimates": {"darcy"}},
    "resolvent.datasets.tasks.kolmogorov:solve_values": {},
    "resolvent.figures.dataset.gallery": {"dataset_page": ALONE},
    "resolvent.figures.dataset.film": {"dataset_page": ALONE},
    "resolvent.planning.job": {},
    "resolvent.planning.prediction.costs": {},
}


@pytest.fixture(scope="module")
def digests(tmp_path_factory) -> list[tuple[str, ...]]:
    """Arguments of all digests in the plans of the default study and of stress."""
    folder, snakefile = tmp_path_factory.mktemp("planned"), str(ROOT / "Snakefile")
    studies = [str(ROOT / f"config/{name}.yaml") for name in ("stress",)]
    lines = printed(PLANNED, snakefile, *studies, folder=folder)
    calls = [json.loads(line) for line in lines]
    assert len(calls) == len(studies)
    return sorted({tuple(call) for one in calls for call in one})


def printed(code: str, *words: str, folder=ROOT) -> list[str]:
    """Return the lists that the code prints."""
    status, output = run_code(folder, code, *words, environment=ROOT_FIRST)
    assert status == 0, output
    return [line for line in output.splitlines() if line.startswith(("[[", '["'))]


def modules_imported(statements: list[str]) -> list[set[str]]:
    lines = printed(IMPORTED, " ".join(tuple(ROOTS)), json.dumps(statements))
    return [set(json.loads(line)) for line in lines]


def imports_of(script: str, *names: str) -> str:
    """The import statements of a script, less those that bring no result, and of what it chooses by name."""
    (nodes,) = (ast.walk(one) for one in JOB_FUNCTIONS if one.name == script)
    statements = [
        ast.unparse(node)
        for node in nodes
        if isinstance(node, ast.Import)
        or (isinstance(node, ast.ImportFrom) and WITHOUT_RESULT.isdisjoint(node.module.split(".")))
    ]
    modules = (
        name.partition(":")[0] for name in names if "==" not in name
    )  # others are versions of packages
    return "\n".join([*statements, *(f"import {module}" for module in modules)])


def counts(name: str, call: tuple[str, ...]) -> bool:
    reached = everything_reached(*call)
    return name in reached or any(one.startswith(f"{name}:") and not one.endswith(":") for one in reached)


def some_of(digests) -> list[tuple[str, ...]]:
    some = {call[1].partition(":")[0]: call for call in digests if call[1:]}
    return list(({call[0]: call for call in digests if call not in some.values()} | some).values())


def test_every_script_with_results_has_a_digest(digests):
    jobs = {function.name for function in JOB_FUNCTIONS} - {"resolution", "measured_runs", "origin"}
    assert {script for script, *_ in digests} == jobs - {"predict"}


def test_the_digest_covers_all_that_a_script_imports(digests):
    """Test all but what brings no result."""
    tried = some_of(digests)
    for call, modules in zip(tried, modules_imported([imports_of(*call) for call in tried]), strict=True):
        covered = {name.partition(":")[0] for name in everything_reached(*call)}
        assert len(modules) > 2, call
        missing = {one for one in modules - covered if WITHOUT_RESULT.isdisjoint(one.split("."))}
        if call[0] in OF_PAPERS:  # their registry imports every paper, of which the job takes one item
            missing = {one for one in missing if not one.startswith("resolvent.figures.")}
        assert missing == set(), call


@pytest.mark.parametrize("module", COUNTS)
def test_a_module_counts_where_it_is_used_and_nowhere_else(digests, module):
    found = {}
    for script, *names in digests:
        if counts(module, (script, *names)):
            chosen = names[0].partition(":")[0].rpartition(".")[2] if names else ""
            found.setdefault(script, set()).add(chosen)
    assert found == COUNTS[module]


def test_only_settings_predict():
    """A method of such a name counts for nothing, wherever it is."""
    for name, file in project_files():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef) and "planning" not in name:
                said = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
                given = [one for one in node.body if isinstance(one, ast.Assign)]
                said |= {name for one in given for name in rerun._defined_by(one)}
                without_result = said & (rerun.PREDICTIONS | rerun.SHOWN)
                recorded = name == "resolvent.common.records"
                known = recorded or node.name.endswith(("Settings", "Dataset"))
                assert not without_result or known, node.name


def test_the_look_and_the_examples_of_an_architecture_count_for_no_result(tmp_path):
    def meaning(look, width):
        file = tmp_path / f"{width}{look}.py"
        file.write_text(
            f"look = 3\nclass FNOSettings:\n    look = {look!r}\n    example = {{'width': {len(look)}}}\n"
            f"    width: int = {width}\n    def cut_off(self):\n        return {len(look)}\n"
        )
        return rerun._text(rerun._tree.__wrapped__(file))

    assert meaning("red", 3) == meaning("green", 3) != meaning("red", 4)
    assert "look" in meaning("red", 3)  # a module's own is code like any other


def test_modules_named_errors_hold_errors_and_words_alone():
    """Modules of this name count for nothing, so no result may come from them."""
    files = [file for room in ("resolvent", "models", "solvers") for file in (ROOT / room).rglob("errors.py")]
    for file in files:
        if "planning" in file.parts:
            continue
        for node in ast.parse(file.read_text()).body:
            said = ast.unparse(
                getattr(node, "annotation", None) or getattr(node, "returns", None) or ast.Pass()
            )
            assert (
                isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)
                or (isinstance(node, ast.ClassDef) and all(one.id.endswith(ERRORS) for one in node.bases))
                or (isinstance(node, ast.Assign) and node.targets[0].id == "Words")
                or said.endswith(("Words", *ERRORS))
            ), f"{file}: {ast.unparse(node)[:80]}"


@pytest.fixture
def copied(tmp_path, monkeypatch):
    for name in ("resolvent", "workflow"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(rerun, "ROOTS", dict.fromkeys(ROOTS, tmp_path))
    # What is derived of a file is derived again when it has changed.
    for name in ("_tree", "_contents", "_bound_in", "_parts", "_meaning", "_used_by"):
        monkeypatch.setattr(rerun, name, once_for_each_state(getattr(rerun, name).__wrapped__))
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def once_for_each_state(function):
    """Return the function of a file, or of a name in a module, with a memory for each state of that file."""
    found = {}

    def known(of):
        file = of if isinstance(of, Path) else rerun._file_of(rerun._module_of(of))
        state = of, file.stat().st_mtime_ns
        if state not in found:
            found[state] = function(of)
        return found[state]

    return known


def forget():
    for one in vars(rerun).values():
        if hasattr(one, "cache_clear"):
            one.cache_clear()


def meanings(digests) -> dict[tuple[str, ...], dict[str, str]]:
    return {call: {name: rerun._meaning(name) for name in everything_reached(*call)} for call in digests}


def rooms(root) -> dict[str, list[Path]]:
    found = {}
    for file in sorted(root.glob("resolvent/**/*.py")) + sorted(root.glob("workflow/scripts/*.py")):
        found.setdefault(str(file.parent.relative_to(root)), []).append(file)
    return found


class Reword(ast.NodeTransformer):
    said, count = 0, 0

    def visit(self, node):
        is_said = isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).rpartition(".")[2].endswith(("warn", "print", *ERRORS))
        )
        self.said += is_said
        node = self.generic_visit(node)
        self.said -= is_said
        if self.said and isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.count += 1
            return ast.Constant(f"{node.value} (reworded)")
        return node


@pytest.mark.slow
def test_a_reworded_message_in_any_room_plans_nothing(digests, copied):
    before, messages = meanings(digests), {}
    for room, files in rooms(copied).items():
        for file in files:
            tree = (reword := Reword()).visit(ast.parse(file.read_text()))
            file.write_text(ast.unparse(tree))
            messages[room] = messages.get(room, 0) + reword.count
    assert sum(messages.values()) > 1000
    assert sum(map(bool, messages.values())) > 30
    forget()
    after = meanings(digests)
    changed = {
        name for call in before for name, text in before[call].items() if after[call].get(name) != text
    }
    assert changed == set()
    assert {call: sorted(names) for call, names in before.items()} == {
        call: sorted(names) for call, names in after.items()
    }


class Increase(ast.NodeTransformer):
    done = False

    def visit(self, node):
        if self.done or isinstance(node, ast.Raise | ast.JoinedStr | ast.keyword):
            return node
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            self.done = True
            return ast.Constant(node.value + 1)
        return self.generic_visit(node)


@pytest.mark.slow
def test_a_number_changed_in_any_room_plans_what_depends_on_it(digests, copied):
    """Try of every room the first function with a number in it that a job of this plan uses."""
    before = {call: script_digest(*call) for call in some_of(digests)}
    used = {name for call in before for name in everything_reached(*call)}
    tried = 0
    for room, files in rooms(copied).items():
        for name, file, text in changed_numbers(files, copied, used):
            original = file.read_text()
            file.write_text(text)
            forget()
            changed = {call for call, digest in before.items() if script_digest(*call) != digest}
            whole = f"{name.partition(':')[0]}:*"  # of a module that is handed on, all counts
            reached = {call for call in before if {name, whole} & set(everything_reached(*call))}
            assert changed == reached, name
            assert changed, room
            file.write_text(original)
            tried += 1
            break
    assert tried > 30


def changed_numbers(files, root, used):
    """Yield each function that is used, its file, and the text of that with one of its numbers changed."""
    for file in files:
        module = str(file.relative_to(root).with_suffix("")).replace("/", ".")
        tree = ast.parse(file.read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and f"{module}:{node.name}" in used:
                if node.returns and "Words" in ast.unparse(node.returns):
                    continue  # what it says counts for nothing
                change = Increase()
                node.body = [change.visit(one) for one in node.body]
                if change.done:
                    yield f"{module}:{node.name}", file, ast.unparse(tree)
                    tree = ast.parse(file.read_text())


class Executed:
    """Notes the functions of the project that run, as names of their modules and what defines them there."""

    def __init__(self):
        self.codes = set()

    def __enter__(self):
        sys.setprofile(lambda frame, event, _: self.codes.add(frame.f_code) if event == "call" else None)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def names(self) -> set[str]:
        found, files = set(), {file.resolve(): name for name, file in project_files()}
        for code in self.codes:
            module = files.get(Path(code.co_filename).resolve())
            in_function = code.co_flags & inspect.CO_OPTIMIZED  # of a class, it is run by an import
            if module and in_function and WITHOUT_RESULT.isdisjoint(module.split(".")):
                owner = code.co_qualname.partition(".")[0]
                # A lambda or a comprehension at the top of a module is run by its import.
                found.add(f"{module}:{'' if owner.startswith('<') else owner}")
        return found


def project_files():
    for file in (ROOT / "resolvent").glob("**/*.py"):
        parts = file.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file
    for room in ("models", "solvers"):
        for file in (ROOT / room).glob("**/*.py"):
            parts = ("resolvent", *file.relative_to(ROOT).with_suffix("").parts)
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def reached_by(digests, script, chosen) -> set[str]:
    """Return the definitions that count for a script's job whose first choice is of this module."""
    (call,) = (call for call in digests if call[0] == script and call[1].partition(":")[0] == chosen)
    return set(everything_reached(*call))


def is_covered(name: str, reached: set[str]) -> bool:
    module = name.partition(":")[0]
    by_import = f"{module}:" in reached and set(rerun._parts(name)) <= set(rerun._parts(f"{module}:"))
    return name in reached or f"{module}:*" in reached or by_import


def test_whatever_runs_in_a_job_counts(digests, tmp_path):
    """The functions that run when a shard is solved, a dataset finalised, a model trained and evaluated."""
    from resolvent.datasets.card import finalise
    from resolvent.datasets.storage.generation import generate_shard
    from resolvent.datasets.tasks.registry import build_task

    task = build_task(small_settings(samples_per_shard=30))
    store, receipt, card = (tmp_path / f"burgers{end}" for end in (".zarr", ".receipt", ".json"))
    with Executed() as solving:
        generate_shard(task, store, 0, receipt, "c")
    with Executed() as finalising:
        finalise(task, store, [receipt], card, "c")
    run = {
        "architecture": "transformer1d", "grids": "stored", "noise": 0.0, "noise_samples": 20,
        "settings": {"width": 8, "num_layers": 1, "num_heads": 1, "feedforward_width": 8, "modes": 4},
        "training": TrainingSettings(epochs=2, batch_size=4).model_dump(mode="json"),
        "samples": {"train": 20, "validation": 4},
    }  # fmt: skip
    with Executed() as training:
        train_run(card, tmp_path / "run", 64, seed=3, run=run, code_digest="c", threads=1, gpus=0)
    testing = described(run, 64, 3, {"train": 20, "validation": 4, "test": 6})
    with Executed() as evaluating:
        evaluate_run(card, tmp_path / "run", testing, threads=1, gpus=0)
    for executed, script, chosen in (
        (solving, "solve_dataset", "resolvent.datasets.tasks.burgers"),
        (finalising, "finalise_dataset", "resolvent.datasets.tasks.burgers"),
        (training, "train", "resolvent.models.cao2021.transformer1d"),
        (evaluating, "evaluate", "resolvent.models.cao2021.transformer1d"),
    ):
        reached, names = reached_by(digests, script, chosen), executed.names()
        assert len(names) > 30, script
        assert {name for name in names if not is_covered(name, reached)} == set(), script
