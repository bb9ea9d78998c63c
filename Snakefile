# Check the configuration, include the rules, define the targets.
import atexit
import gc
import sys
from contextlib import ExitStack
from functools import partial
from operator import attrgetter
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

# pyproject.toml also requires a version below 9.28: planning/dag.py uses internals of 9.27.
min_version("9.27")

# In a checkout, import its own package rather than an installed one, here and in the scripts of the jobs.
HERE = Path(workflow.current_basedir.get_path_or_uri(secret_free=False))
if (HERE / "resolvent").is_dir():
    sys.path.insert(0, str(HERE))

from resolvent.common.errors import ResolventError
from resolvent.planning.places import check_folder, search_working_folder

search_working_folder()
try:
    check_folder()
except ResolventError as error:
    raise WorkflowError(str(error))

from resolvent.common.locks import sole_writer
from resolvent.common.settings import without_defaults
from resolvent.planning.dag import (
    failed_jobs,
    force,
    lift_rate_limit,
    mend_planning,
    names_of_targets,
    of_data,
    settings_of_config,
)
from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_again, with_defaults
from resolvent.planning.configuration.likeness import placed
from resolvent.planning.gpus import remark_without_gpu
from resolvent.planning.job import hand_down_no_gpu, prepare_environment
from resolvent.planning.prediction.forecast import print_forecast, print_forecast_of_dry_run
from resolvent.planning.prediction.needs import Needs, placement
from resolvent.planning.provenance import command, provenance
from resolvent.planning.pages import PaperPlan, planned_study, show_what_there_is, sum_up
from resolvent.planning.plan import (
    RUN_FOLDER,
    SHORT_RUN_FOLDER,
    STEP_MEASURED,
    TUNED_FILE,
    Plan,
)
from resolvent.planning.edits import remarks
from resolvent.planning.slurm import be_patient_with_slurm
from resolvent.planning.versions import does, modules_of, of_architecture
from resolvent.planning.wildcards import later, of_wildcards
from resolvent.planning.prediction.costs import drawing, request, finalising

# Imported modules and the plan live until the end, so full collections while planning and at exit are wasted: they
# take more than a quarter of the time of a dry run. Young objects are still collected, since Snakemake leaves ten
# kilobytes of garbage per job.
gc.set_threshold(100_000, 1_000, 1_000)
atexit.register(gc.freeze)
# Snakemake reads the files by YAML 1.1 and silently drops duplicate keys, so they are read again.
content = {}
try:
    overlay = read_again(config, settings_of_config(workflow))
    config = dict(overlay)
    plan = Plan(load_configuration(content := with_defaults(overlay)))
except ConfigurationError as error:
    raise WorkflowError(f"the configuration is not valid:\n{placed(error, content)}")
except ResolventError as error:
    raise WorkflowError(str(error))
prepare_environment(plan.configuration)
mend_planning()
be_patient_with_slurm()
papers = {key: PaperPlan(plan, key) for key in PAPERS}
if workflow.is_main_process:
    for line in remarks({part: modules_of(part) for part in plan.rules_of_parts}, plan.rules_of_parts):
        print(line, file=sys.stderr)
sole_run = ExitStack()
atexit.register(sole_run.close)  # releasing the lock needs modules that Python unloads later

# Limits from the profile or `--resources`: `gpu=0` means no GPU, and `longest_minutes`, which no job consumes, is the
# maximum wall time that a job requests.
allowed = workflow.global_resources
hand_down_no_gpu(allowed, to_jobs=workflow.is_main_process)
needs = Needs(plan, gpu=allowed.get("gpu").value != 0)
requested = partial(request, longest=allowed.get("longest_minutes").value)


wildcard_constraints:
    shard=r"\d+",
    group=r"[A-Za-z0-9_.]+",
    seed=r"\d+",
    dataset=r"[^/]+",
    experiment=r"[^/]+",
    model=r"[^/]+",
    candidate=r"[^/]+",


include: "workflow/rules/common.smk"
include: "workflow/rules/pages.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/dataset_pages.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/papers.smk"
include: "workflow/rules/front_page.smk"


# Snakemake has no event for the end of a dry run.
if workflow.is_main_process:
    atexit.register(lambda: workflow.dryrun and print_forecast_of_dry_run(workflow, needs))


FRONT_PAGE = Path(rules.front_page.output.page)


front_page_before = modified(FRONT_PAGE)


# Not Snakemake's own lock, which remains after its process was killed.
onstart:
    try:
        if not only_planned():
            sole_run.enter_context(sole_writer(Path(".snakemake/run.lock"), "this folder"))
    except ResolventError as error:
        raise WorkflowError(str(error)) from None
    if "plan" in names_of_targets(workflow):
        print_forecast(workflow, needs, Path(f"logs/plan/{plan.configuration.name}.csv"))
    elif workflow.nodes is None:
        sys.stderr.write(remark_without_gpu(sys.argv))
    gc.freeze()
    lift_rate_limit(workflow)


# Show the logs of failed jobs, which Snakemake hides if it is quiet about rules: they have the stacks of jobs that
# hung, and are the only trace of jobs that were killed.
onerror:
    for job in failed_jobs(workflow):
        for log in map(Path, job.log):
            text = log.read_text(errors="replace") if log.exists() else ""
            sys.stderr.write(f"rule {job.name} failed; its log {log}:\n{text}")
    if Path(rules.page_assets.output[0]).exists():
        show_what_there_is(plan, papers, rules.plan_study.output.study, failed=True)
        sum_up(plan)


# Update the front page after building single targets, and after repairing an error, when the job that writes the page
# may not be due. Pages of runs may be written after it, so SHA256SUMS comes last.
onsuccess:
    if Path(rules.page_assets.output[0]).exists() and not only_planned():
        if modified(FRONT_PAGE) == front_page_before:
            show_what_there_is(plan, papers, rules.plan_study.output.study)
        sum_up(plan)


localrules:
    all,
    datasets,


# Every page and figure, and the results that they are drawn from: missing results are rebuilt even if the pages exist.
rule all:
    default_target: True
    input:
        DATASET_FILES,
        [getattr(rules, f"dataset_page_{name}").output for name in plan.datasets],
        files_of_all_runs("checkpoint.pt", "errors.csv"),
        expand(rules.compare.output, experiment=plan.configuration.experiments),
        [getattr(rules, f"report_{name}").output for name in plan.configuration.experiments],
        [getattr(rules, f"run_pages_{name}").output for name in plan.configuration.experiments],
        [paper.shown for paper in papers.values()],
        rules.page_assets.output,
        [getattr(rules, name).output for name in STUDY_PAGES],


rule datasets:
    input:
        [dataset.card for dataset in plan.datasets.values()],


# A target for each name: `snakemake burgers` builds the dataset of this name with its page, and the experiment of this
# name with its pages. Names of other rules, such as `datasets`, get no target.
for _name in {**plan.datasets, **plan.configuration.experiments}:
    _dataset = [plan.datasets[_name]] if _name in plan.datasets else []
    _experiment = [_name] if _name in plan.configuration.experiments else []
    if all(_name != known.name for known in workflow.rules):

        rule:
            name:
                _name
            input:
                [file for dataset in _dataset for file in (dataset.card, dataset.preview)],
                [getattr(rules, f"dataset_page_{_name}").output for _ in _dataset],
                [
                    getattr(rules, f"{pages}_{_name}").output
                    for _ in _experiment
                    for pages in ("report", "run_pages")
                ],
            localrule: True


# Forecast of time, memory and disk space, printed by `onstart`: `snakemake plan --cores 16 --resources gpu=2`.
rule plan:
    log:
        f"logs/plan/{plan.configuration.name}.log",
    localrule: True
    conda:
        "environment.yml"
    shell:
        "true > {log}"
