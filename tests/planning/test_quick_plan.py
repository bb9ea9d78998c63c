"""The same plan in less time, and circles are still seen."""

import pytest
from planning_forks import dry_run

from resolvent.planning.places import HOME as ROOT

QUICKLY = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from resolvent.planning.quick_plan import plan_quickly
plan_quickly()
"""
PAGES = """
RUNS = range(20)

rule all:
    input: expand("{run}.html", run=RUNS), "report"

rule report:
    input: expand("{run}.csv", run=RUNS)
    output: "report"
    shell: "touch report"

rule pages:
    input: expand("{run}.csv", run=RUNS)
    output: expand("{run}.html", run=RUNS)
    shell: "touch {output}"

rule run:
    input: "data"
    output: "{run}.csv"
    shell: "touch {output}"

rule data:
    output: "data"
    shell: "touch data"
"""
COUNTED = """
from snakemake.output_index import OutputIndex
match = OutputIndex.match
OutputIndex.match = lambda index, file: print("asked for", file) or match(index, file)
"""
CIRCLES = {
    "of one job": 'rule all:\n    input: "a"\nrule a:\n    input: "a"\n    output: "a"\n    shell: ""\n',
    "of two jobs": """
rule all:
    input: "a", "b"
rule a:
    input: "b"
    output: "a"
    shell: ""
rule b:
    input: "a"
    output: "b"
    shell: ""
""",
    "through a second file": """
rule all:
    input: "first", "second"
rule both:
    input: "other"
    output: "first", "second"
    shell: ""
rule other:
    input: "second"
    output: "other"
    shell: ""
""",
}


def planned(folder, text: str) -> tuple[int, list[str]]:
    """Return the status of a dry run of the rules `text`, and the lines that it prints."""
    (folder / "Snakefile").write_text(text)
    status, output = dry_run(folder, "--cores", 1)
    return status, output.splitlines()


def planned_jobs(lines: list[str]) -> list[tuple[str, ...]]:
    """Return the rule, input, output and wildcards of each job of a dry run, sorted.

    Snakemake keeps jobs in sets, so that neither their order nor that of their reasons is the same twice.
    """
    jobs: list[list[str]] = []
    for line in lines:
        if line.startswith("rule "):
            jobs.append([line])
        elif line.startswith(("    input: ", "    output: ", "    wildcards: ")):
            jobs[-1].append(line)
    return sorted(map(tuple, jobs))


def test_each_file_is_looked_for_once_and_the_plan_is_the_same(tmp_path):
    asked, plans = {}, {}
    for name, text in {"before": COUNTED + PAGES, "after": COUNTED + QUICKLY + PAGES}.items():
        status, lines = planned(tmp_path, text)
        assert status == 0
        asked[name] = [line for line in lines if line.startswith("asked for")]
        plans[name] = planned_jobs(lines)
    assert len(asked["before"]) == 81  # each table is asked for by two jobs, the data by twenty
    assert len(asked["after"]) == 42
    assert set(asked["after"]) == set(asked["before"])
    assert plans["after"] == plans["before"]
    assert len(plans["after"]) == 24


@pytest.mark.parametrize("circle", CIRCLES.values(), ids=CIRCLES)
def test_a_circle_is_refused(tmp_path, circle):
    (before, expected), (after, found) = planned(tmp_path, circle), planned(tmp_path, QUICKLY + circle)
    assert before == after == 1
    assert found[-1] == expected[-1]
    assert found[-1].startswith("Cyclic dependency on rule")


def test_a_file_that_two_rules_make_is_refused(tmp_path):
    status, lines = planned(tmp_path, QUICKLY + PAGES + '\nrule again:\n    output: "data"\n    shell: ""\n')
    assert status == 1
    assert any(line.startswith("AmbiguousRuleException") for line in lines)
