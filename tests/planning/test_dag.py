"""What is missing or out of date behind an `ancient` input is planned with what makes the input again."""

from pipeline_project import job_counts
from planning_forks import build, dry_run

from resolvent.planning.places import HOME as ROOT

SNAKEFILE = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from resolvent.planning.dag import mend_planning
mend_planning()

rule page:
    input: "result"
    output: "page"
    shell: "cp result page"

rule result:
    input: ancient("card")
    output: "result"
    params: dataset_code=config.get("code", 1)
    shell: "cp card result"

rule card:
    output: "card"
    params: code=config.get("code", 1)
    shell: "echo same > card"
"""


def test_jobs_behind_an_ancient_input_run_for_reasons_of_their_own(tmp_path):
    def planned(*words):
        status, output = dry_run(tmp_path, "page", "--cores", 1, *words)
        assert status == 0, output
        return set(job_counts(output))

    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    assert build(tmp_path, "page", "--cores", 1)[0] == 0
    assert planned("-R", "card") == {"card"}
    assert planned("--config", "code=2") == {"card", "result", "page"}  # a solver was edited
    for missing in ("page", "result", "card"):
        (tmp_path / missing).unlink()
        assert planned("-R", "card") == {"card", "result", "page"} - (
            {"result"} if missing == "page" else set()
        )
