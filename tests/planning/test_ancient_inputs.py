"""What is missing behind an `ancient` input is planned with what makes the input again."""

import re
import shutil
import subprocess
import sys

import pytest

from resolvent.planning.places import HOME as ROOT

SNAKEFILE = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from resolvent.planning.ancient_inputs import plan_behind_ancient_inputs
plan_behind_ancient_inputs()

rule page:
    input: "result"
    output: "page"
    shell: "cp result page"

rule result:
    input: ancient("card")
    output: "result"
    shell: "cp card result"

rule card:
    output: "card"
    shell: "echo same > card"
"""


def snakemake(folder, *words: str) -> set[str]:
    """The rules that it runs there, or plans."""
    command = [sys.executable, "-m", "snakemake", "page", "--cores", "1", *words]
    output = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return set(re.findall(r"^(\w+) +\d+$", output.stdout + output.stderr, re.MULTILINE)) - {"total"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    (folder / "Snakefile").write_text(SNAKEFILE)
    assert snakemake(folder) == {"card", "result", "page"}
    return folder


@pytest.mark.parametrize(
    ("missing", "planned"),
    [
        ((), {"card"}),
        (("page",), {"card", "page"}),
        (("result", "page"), {"card", "result", "page"}),
        (("card",), {"card", "result", "page"}),
    ],
)
def test_jobs_behind_an_ancient_input_run_for_reasons_of_their_own(built, tmp_path, missing, planned):
    folder = shutil.copytree(built, tmp_path / "built")
    for name in missing:
        (folder / name).unlink()
    assert snakemake(folder, "-n", "-R", "card") == planned
