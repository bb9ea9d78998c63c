"""Internals of Snakemake: what they correct, and that the installed version still has them."""

import inspect
import re

import snakemake.cli
import snakemake.dag
import snakemake.io
import snakemake.scheduling.job_scheduler
import snakemake.workflow
from pipeline_project import job_counts
from planning_forks import build, dry_run

from resolvent.planning.places import HOME as ROOT

SNAKEFILE = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from resolvent.planning.dag import mend_planning, of_data
mend_planning()

rule all:
    input: "page", "data/burgers/card"

rule page:
    input: "result"
    output: "page"
    shell: "cp result page"

rule result:
    input: ancient(of_data("data/burgers/card"))
    output: "result"
    params: versions=config.get("versions", 1)
    shell: "cp {{input}} result"

rule card:
    output: "data/burgers/card"
    params: versions=config.get("versions", 1)
    shell: "echo same > {{output}}"
"""
PRIVATE = (
    "forcerules", r"\.bfs\b", "file2jobs", "rule2job", "job_rate_limiter", r"scheduler\.failed",
    "sourcecache_entry", "_IOFile", "update_needrun", "targetjobs", r"workflow\.config_settings",
)  # fmt: skip


def test_jobs_behind_an_ancient_input_run_for_reasons_of_their_own(tmp_path):
    def planned(*words):
        status, output = dry_run(tmp_path, "all", "--cores", 1, *words)
        assert status == 0, output
        return set(job_counts(output)) - {"all"} if "Job stats:" in output else set()

    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    assert build(tmp_path, "all", "--cores", 1)[0] == 0
    assert planned("-R", "card") == {"card"}
    assert planned("--config", "versions=2") == {"card", "result", "page"}
    card = tmp_path / "data/burgers/card"
    card.unlink()  # it is made again with the same bytes
    assert planned() == {"card"}
    (tmp_path / "page").unlink()
    assert planned() == {"card", "page"}
    (tmp_path / "result").unlink()
    assert planned() == {"card", "result", "page"}


def test_the_installed_version_has_what_is_used_of_it():
    dag = snakemake.dag.DAG
    assert list(inspect.signature(dag.bfs).parameters) == ["self", "direction", "jobs", "stop"]
    assert inspect.iscoroutinefunction(snakemake.io._IOFile.exists)
    assert isinstance(snakemake.io._IOFile.is_ancient, property)
    for method in (dag.file2jobs, dag.rule2job):
        assert inspect.iscoroutinefunction(method)
    update = inspect.getsource(dag.update_needrun)
    assert list(inspect.signature(dag.update_needrun).parameters) == ["self", "create_inventory"]
    assert "await self.workflow.iocache.mtime_inventory(self.jobs)" in update
    for words in ("self.forcerules", "self.bfs(self.depending, job)", "f.is_ancient and await f.exists()"):
        assert words in update
    scheduler = inspect.getsource(snakemake.scheduling.job_scheduler)
    assert re.search(r"self\.job_rate_limiter\b.*=", scheduler)
    assert re.search(r"self\.failed\b.*=", scheduler)
    assert "config_settings" in inspect.getsource(snakemake.workflow.Workflow)
    assert "targetjobs" in inspect.getsource(dag)
    flagged = snakemake.io.sourcecache_entry("data/burgers/card", "card")
    assert flagged.flags["sourcecache_entry"] == "card"


def test_one_file_uses_internals_of_snakemake():
    files = [*(ROOT / "resolvent").rglob("*.py"), *(ROOT / "workflow").rglob("*.smk"), ROOT / "Snakefile"]
    users = {file.name for file in files if re.search("|".join(PRIVATE), file.read_text(encoding="utf-8"))}
    assert users == {"dag.py"}
