"""What README.md, docs/ and a dataset's page print as code runs as it stands, without a warning."""

import re
import textwrap
import warnings
from pathlib import Path

import pytest
from dataset_fixtures import FEW, make_dataset, small
from training_fixtures import finished_run

from resolvent.datasets.loading import read_card
from resolvent.figures.dataset.card import snippets
from resolvent.planning.configuration.read import read_configuration

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n|\n(?=    ))+")


def python_code(page: Path) -> list[str]:
    """The page's Python, fenced or indented, in its order; indented code starts with an import."""
    text = page.read_text(encoding="utf-8")
    found = [(block.start(), block[1]) for block in FENCED.finditer(text)]
    for block in INDENTED.finditer(FENCED.sub(lambda fenced: " " * len(fenced[0]), text)):
        code = textwrap.dedent(block[0])
        if code.startswith(("import ", "from ")):
            found.append((block.start(), code))
    return [code for _, code in sorted(found)]


def shell_lines(page: Path) -> list[list[str]]:
    """The words of each indented command, without its comment."""
    lines = re.findall(r"^    (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [line.split("#")[0].split() for line in lines]


WITH_PYTHON = {page.relative_to(ROOT).as_posix(): page for page in PAGES if python_code(page)}


@pytest.fixture(scope="module")
def folder(server, tmp_path_factory):
    """A working folder with the datasets that the pages read, but for their numbers of samples and points."""
    folder = tmp_path_factory.mktemp("project")
    burgers = small("burgers", resolutions=[128, 512], accuracy=1e-4)
    inverse = small("darcy_inverse", finest=43, resolutions=[43], coarse=[15], samples=FEW)
    card = make_dataset(folder / "data/burgers", burgers)
    for seed in (1127802, 1127803):  # the demo has several, so a name without its seed is ambiguous
        finished_run(card, folder / f"results/demo/burgers/fno/n128/seed{seed}", 128, (128, 512))
    make_dataset(folder / "data/darcy_cao_inverse", inverse)
    server.mkdir("bucket")
    few = small("burgers", accuracy=1e-4, samples=FEW)
    make_dataset(folder / "there", few, "s3://bucket/folder/burgers/0123.zarr")
    return folder


HERE = {"<hash>": "0123", "count=192": "count=3", '"test", 32': '"test", 2'}  # in place of what pages have


def run(codes: list[str], name: str) -> dict:
    """Run them in one namespace, and return it; a warning is an error."""
    namespace = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for code in codes:
            for printed, ours in HERE.items():
                code = code.replace(printed, ours)
            exec(compile(code, name, "exec"), namespace)
    return namespace


def test_pages_with_python_are_found():
    assert {"README.md", "docs/datasets.md", "docs/models.md", "docs/equations/darcy.md"} <= set(WITH_PYTHON)


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_python_on_a_page_runs(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    run(python_code(WITH_PYTHON[name]), name)


def test_python_on_the_page_of_a_dataset_runs(folder, monkeypatch):
    monkeypatch.chdir(folder)
    path = "data/burgers/burgers.json"
    for code in snippets(read_card(Path(path)), path, "data/burgers/burgers.zarr").values():
        assert len([line for line in code.splitlines() if line]) == 3
        train = run([code], "the page of a dataset")["train"]
        assert train.initial_velocity.shape == (20, 128)
        assert set(train.split.values) == {"train"}


def test_commands_name_what_there_is():
    datasets = read_configuration([])["datasets"]
    rules = {f"{verb}_{name}" for verb in ("solve", "finalise", "preview", "motion") for name in datasets}
    for file in (ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")):
        rules |= set(
            re.findall(r"^(?:rule|checkpoint) (\w+):", file.read_text(encoding="utf-8"), re.MULTILINE)
        )
    made = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for page, words in ((one, words) for one in PAGES for words in shell_lines(one)):
        said = f"{page.relative_to(ROOT)}: {' '.join(words)}"
        if words and words[0] == "sudo":
            words = words[1:]
        if not words or Path(words[0]).name not in ("make", "snakemake"):
            continue
        option = ""
        for word in words[1:]:
            if word.startswith("-"):
                option = word
            elif words[0] == "make":
                assert word in made, said
            elif option in ("", "-R") and "/" not in word:
                assert word in rules, said
            elif option in ("--configfile", "--workflow-profile"):
                written = f"Put this into `{word}`" in page.read_text(encoding="utf-8")
                assert written or (ROOT / word).exists(), said
