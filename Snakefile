# What can be built: the configuration is checked, the rules are included, the targets are named.
import atexit
import gc
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import sourcecache_entry
from snakemake.utils import min_version

# And below 9.28, as pyproject.toml has it: planning/dag.py and onstart below change what 9.27 does inside.
min_version("9.27")

# In a checkout its own package comes first, here and in the scripts of the jobs; a wheel has the Snakefile inside.
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
from resolvent.planning.dag import mend_planning
from resolvent.planning.rerun import does, script_digest
from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_again, with_defaults
from resolvent.planning.configuration.likeness import placed
from resolvent.planning.job import hand_down_no_gpu, prepare_environment
from resolvent.planning.prediction.forecast import print_forecast
from resolvent.planning.prediction.needs import Needs, placement, run_of
from resolvent.planning.provenance import command, provenance
from resolvent.planning.pages import PaperPlan, planned_study, show_what_there_is
from resolvent.planning.plan import (
    RUN_FOLDER,
    SHORT_RUN_FOLDER,
    STABILITY,
    STEP_MEASURED,
    TUNED_FILE,
    Plan,
    architecture_modules,
)
from resolvent.planning.slurm import be_patient_with_slurm
from resolvent.planning.prediction.costs import drawing, request, finalising

# All that is imported stays, and so does the plan: the garbage collector need not look through it again and again
# while the plan is made, which would take more than a quarter of the time of a dry run, nor once more at the end.
# What is new it looks through: of each job Snakemake leaves ten kilobytes of garbage behind.
gc.set_threshold(100_000, 1_000, 1_000)
atexit.register(gc.freeze)
# Snakemake has read the files by YAML 1.1, and of two equal keys kept one: they are read again.
content = {}
try:
    overlay = read_again(config, workflow.config_settings)
    config = dict(overlay)
    plan = Plan(load_configuration(content := with_defaults(overlay)))
except ConfigurationError as error:
    raise WorkflowError(f"the configuration is not valid:\n{placed(error, content)}")
prepare_environment(plan.configuration)
mend_planning()
be_patient_with_slurm()
papers = {key: PaperPlan(plan, key) for key in PAPERS}
sole_run = ExitStack()
atexit.register(sole_run.close)  # before modules are taken down, which the lock needs

# What the profile or `--resources` allows: `gpu=0` is a machine without one, and no job asks for more wall time than
# `longest_minutes`, which nothing consumes.
allowed = workflow.global_resources
hand_down_no_gpu(allowed, to_jobs=workflow.is_main_process)
needs = Needs(plan, gpu=allowed.get("gpu").value != 0)
requested = partial(request, longest=allowed.get("longest_minutes").value)


# A file beside a store as an input: Snakemake records this name in place of the path, so that nothing runs again where
# the data have moved. And a card that need only be there: a dataset made again by the same code is the same.
of_data = lambda file: sourcecache_entry(file, f"data_root/{Path(file).parent.name}/{Path(file).name}")
card_of = lambda dataset: ancient(of_data(dataset.card))


files_of_runs = lambda experiment, *files: [
    f"{folder}/{file}" for folder in plan.run_folders(experiment) for file in files
]


# The group whose jobs are one submission to a cluster, which `--jobs` goes with. Snakemake has no groups on one
# machine, but a dry run would look at all jobs of a group once for each of them.
together = lambda group: group if workflow.nodes is not None else None


wildcard_constraints:
    shard=r"\d+",
    group=r"[A-Za-z0-9_.]+",
    seed=r"\d+",
    dataset=r"[^/]+",
    experiment=r"[^/]+",
    model=r"[^/]+",
    candidate=r"[^/]+",


include: "workflow/rules/pages.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/dataset_pages.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/papers.smk"


if plan.configuration.stability:

    include: "workflow/rules/stability.smk"


include: "workflow/rules/front_page.smk"


FRONT_PAGE = Path(rules.front_page.output.page)
modified = lambda file: file.stat().st_mtime_ns if file.exists() else None
front_page_before = modified(FRONT_PAGE)


# `snakemake plan` changes nothing, so it may run beside another.
asked_for = lambda: {job.name for job in workflow.dag.targetjobs}
only_planned = lambda: asked_for() == {"plan"}


# Snakemake's own lock outlives a killed process; this one does not.
onstart:
    try:
        if not only_planned():
            sole_run.enter_context(sole_writer(Path(".snakemake/run.lock"), "this folder"))
    except ResolventError as error:
        raise WorkflowError(str(error)) from None
    if "plan" in asked_for():
        print_forecast(workflow, needs, Path(f"logs/plan/{plan.configuration.name}.csv"))
    gc.freeze()
    # With its default limit Snakemake 9.27 looks at all ready jobs every second, once for each job that has
    # finished so far: after 100 jobs that takes a third of a core, and it grows.
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


# Snakemake, where it is quiet about rules, does not say which jobs failed, nor show their logs: a job that hung has
# left its stacks there, and one that was killed has left nothing else.
onerror:
    for failed in workflow.scheduler.failed:
        for job in failed.jobs if failed.is_group() else [failed]:
            for log in map(Path, job.log):
                text = log.read_text(errors="replace") if log.exists() else ""
                sys.stderr.write(f"rule {job.name} failed; its log {log}:\n{text}")
    if Path(rules.page_assets.output[0]).exists():
        show_what_there_is(plan, papers, rules.plan_study.output.study)


# What was asked for by name is shown on the front page, too. So is what was mended after an error, when no job may be left
# that makes the front page again.
onsuccess:
    if (
        Path(rules.page_assets.output[0]).exists()
        and not only_planned()
        and modified(FRONT_PAGE) == front_page_before
    ):
        show_what_there_is(plan, papers, rules.plan_study.output.study)


localrules:
    all,
    datasets,


# All that a person looks at, and what stands for the rest: what is missing is then made again even where the last
# page, made from it, is there.
rule all:
    default_target: True
    input:
        [file for dataset in plan.datasets.values() for file in (dataset.card, dataset.preview)],
        [file for name in plan.datasets for file in getattr(rules, f"dataset_page_{name}").output],
        [file for e in plan.configuration.experiments for file in files_of_runs(e, "errors.csv")],
        expand(rules.compare.output, experiment=plan.configuration.experiments),
        [file for name in plan.configuration.experiments for file in getattr(rules, f"report_{name}").output],
        [
            file
            for name in plan.configuration.experiments
            for file in getattr(rules, f"run_pages_{name}").output
        ],
        [rules.theory.output, rules.theory_page.output] if plan.shows_theory else [],
        [paper.shown for paper in papers.values()],
        rules.page_assets.output,
        rules.front_page.output,
        [rules.stability.input] if plan.configuration.stability else [],


rule datasets:
    input:
        [dataset.card for dataset in plan.datasets.values()],


# A target for each name: `snakemake burgers` makes the dataset of this name with its page, and the experiment of this
# name with its pages. A name that a rule has already, such as `theory`, gets none.
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


# Before anything runs: `snakemake plan --cores 16 --resources gpu=2`. `onstart` prints the forecast.
rule plan:
    log:
        f"logs/plan/{plan.configuration.name}.log",
    localrule: True
    conda:
        "environment.yml"
    shell:
        "true > {log}"
