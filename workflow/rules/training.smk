# One run: one model of an experiment at one training resolution, with one seed.


# Constants, and functions only if runs differ: calls for each job take a large part of Snakemake's planning time.
PROCESSES, PLACEMENT, TRAINING_THREADS, TUNED = 1, {"nodes": 1}, plan.configuration.training_threads, []
_experiments = plan.configuration.experiments.values()
if any(e.processes_for(model) > 1 for e in _experiments for model in e.models):
    PROCESSES, PLACEMENT = of_wildcards(needs.processes), placement(needs)
    TRAINING_THREADS = of_wildcards(training_threads)
if any(e.tuning for e in _experiments):
    TUNED = of_wildcards(tuned_settings)


rule train:
    input:
        card=training_card,
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
        run=of_wildcards(parameters),
        job="train",
        versions=of_wildcards(plan.training_versions),
    script:
        "../scripts/jobs.py"


# For experiments with the key `tuning`: one job for each short run, and the selection of settings on validation
# samples. Short runs are trained like others: they resume after a kill, and may diverge.
use rule train as train_short with:
    input:
        card=training_card,
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


rule choose_settings:
    input:
        costs=of_wildcards(costs_of_short_runs),
    output:
        tuned=f"{plan.results}/{TUNED_FILE}",
    log:
        f"logs/choose_settings/{plan.configuration.name}/{{experiment}}/{{model}}/{{group}}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **does("choose_settings"),
        short_runs=of_wildcards(plan.short_runs),
        seed=of_wildcards(first_seed),
        epochs=setting("tuning.epochs"),
    script:
        "../scripts/jobs.py"
