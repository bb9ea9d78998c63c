"""What is missing behind an `ancient` input is planned with what makes the input again."""

import re
import subprocess
import sys

import pytest

from workflow.code_digest import ROOT

SNAKEFILE = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from workflow.ancient_inputs import plan_behind_ancient_inputs
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


@pytest.fixture
def snakemake(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)

    def run(*words: str) -> set[str]:
        command = [sys.executable, "-m", "snakemake", "page", "--cores", "1", *words]
        output = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        return set(re.findall(r"^(\w+) +\d+$", output.stdout + output.stderr, re.MULTILINE))

    return run


@pytest.mark.parametrize(
    ("missing", "planned"),
    [
        ((), {"card"}),
        (("page",), {"card", "page"}),
        (("result", "page"), {"card", "result", "page"}),
        (("card",), {"card", "result", "page"}),
    ],
)
def test_jobs_behind_an_ancient_input_run_for_reasons_of_their_own(snakemake, tmp_path, missing, planned):
    snakemake()
    for name in missing:
        (tmp_path / name).unlink()
    assert snakemake("-n", "-R", "card") - {"total"} == planned
