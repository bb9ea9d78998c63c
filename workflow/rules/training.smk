# One run: one model of one experiment, at one training resolution, from one seed.

# Functions of the run only where runs differ: Snakemake takes longer to call a function than to plan most else.
PROCESSES, PLACEMENT, TRAINING_THREADS, TUNED = 1, {"nodes": 1}, plan.configuration.training_threads, []
if needs.some_share_trainings:
    PROCESSES, PLACEMENT = needs.processes, placement(needs)
    TRAINING_THREADS = lambda wildcards: plan.configuration.training_threads * needs.processes(wildcards)
if any(e.tuning for e in plan.configuration.experiments.values()):
    TUNED = lambda wildcards: (
        plan.tuned(wildcards.experiment, wildcards.model, resolution_of(wildcards.group)) or []
    )


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
    conda:
        "../../environment.yml"
    threads: TRAINING_THREADS
    resources:
        **requested(needs.train),
        **PLACEMENT,
        gpu=PROCESSES,
        processes=PROCESSES,
    params:
        dataset_code=lambda wildcards: plan.dataset_of(wildcards.experiment).code,
        run=lambda wildcards: plan.training(
            wildcards.experiment, wildcards.model, resolution_of(wildcards.group)
        ).parameters,
        job="train",
        code=lambda wildcards: plan.training_code(
            wildcards.experiment, wildcards.model, resolution_of(wildcards.group)
        ),
    script:
        "../scripts/jobs.py"
