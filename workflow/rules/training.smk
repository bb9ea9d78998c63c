# One run: one model of an experiment at one training resolution, with one seed.

# Constants, and functions only if runs differ: calls for each job take a large part of Snakemake's planning time.
PROCESSES, PLACEMENT, TRAINING_THREADS, TUNED = 1, {"nodes": 1}, plan.configuration.training_threads, []
_experiments = plan.configuration.experiments.values()
if any(e.processes_for(model) > 1 for e in _experiments for model in e.models):
    PROCESSES, PLACEMENT = needs.processes, placement(needs)
    TRAINING_THREADS = lambda wildcards: plan.configuration.training_threads * needs.processes(wildcards)
if any(e.tuning for e in _experiments):
    TUNED = lambda wildcards: plan.tuned(*run_of(wildcards)) or []


rule train:
    input:
        card=lambda wildcards: card_of(plan.dataset_of(wildcards.experiment)),
        tuned=TUNED,
    output:
        checkpoint=f"{plan.results}/{RUN_FOLDER}/checkpoint.pt",
        history=f"{plan.results}/{RUN_FOLDER}/history.csv",
        cost=f"{plan.results}/{RUN_FOLDER}/cost.json",
    log:
        f"logs/train/{plan.configuration.name}/{RUN_FOLDER}.log",
    priority: 1  # with the data it needs, before pages: at the end these fill all cores
    conda:
        "../../environment.yml"
    threads: TRAINING_THREADS
    resources:
        **requested(needs.train),
        **PLACEMENT,
        gpu=PROCESSES,
        processes=PROCESSES,
    params:
        run=lambda wildcards: plan.training(*run_of(wildcards)).parameters,
        job="train",
        versions=lambda wildcards: plan.training_versions(*run_of(wildcards)),
    script:
        "../scripts/jobs.py"


# For experiments with the key `tuning`: one job for each short run, and the selection of settings on validation
# samples. Short runs are trained like others: they resume after a kill, and may diverge.
use rule train as train_short with:
    input:
        card=lambda wildcards: card_of(plan.dataset_of(wildcards.experiment)),
    output:
        checkpoint=f"{plan.results}/{SHORT_RUN_FOLDER}/checkpoint.pt",
        history=f"{plan.results}/{SHORT_RUN_FOLDER}/history.csv",
        cost=f"{plan.results}/{SHORT_RUN_FOLDER}/cost.json",
    log:
        f"logs/train_short/{plan.configuration.name}/{SHORT_RUN_FOLDER}.log",
    resources:
        **requested(needs.train_short),
        **PLACEMENT,
        gpu=PROCESSES,
        processes=PROCESSES,
    params:
        run=lambda wildcards: plan.training(*run_of(wildcards), wildcards.candidate).parameters,


rule choose_settings:
    input:
        costs=lambda wildcards: [f"{folder}/cost.json" for folder in plan.short_runs(*run_of(wildcards))],
    output:
        tuned=f"{plan.results}/{TUNED_FILE}",
    log:
        f"logs/choose_settings/{plan.configuration.name}/{{experiment}}/{{model}}/{{group}}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **does("choose_settings"),
        short_runs=lambda wildcards: plan.short_runs(*run_of(wildcards)),
        seed=lambda wildcards: plan.experiment(wildcards.experiment).seeds[0],
        epochs=lambda wildcards: plan.experiment(wildcards.experiment).tuning.epochs,
    script:
        "../scripts/jobs.py"
