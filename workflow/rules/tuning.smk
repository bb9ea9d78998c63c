# Of an experiment with the key `tuning`: short runs of every model, a job each, and what they choose on validation
# samples for the model's own runs. A short run is trained as any other: it goes on after a kill, and may diverge.


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
        dataset_code=lambda wildcards: plan.dataset_of(wildcards.experiment).code,
        run=lambda wildcards: plan.training(
            wildcards.experiment, wildcards.model, resolution_of(wildcards.group), wildcards.candidate
        ).parameters,
        job="train",
        code=lambda wildcards: plan.training_code(
            wildcards.experiment, wildcards.model, resolution_of(wildcards.group)
        ),


rule choose_settings:
    input:
        costs=lambda wildcards: [
            f"{folder}/cost.json"
            for folder in plan.short_runs(
                wildcards.experiment, wildcards.model, resolution_of(wildcards.group)
            )
        ],
    output:
        tuned=f"{plan.results}/{TUNED_FILE}",
    log:
        f"logs/choose_settings/{plan.configuration.name}/{{experiment}}/{{model}}/{{group}}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **does("choose_settings"),
        short_runs=lambda wildcards: plan.short_runs(
            wildcards.experiment, wildcards.model, resolution_of(wildcards.group)
        ),
        seed=lambda wildcards: plan.experiment(wildcards.experiment).seeds[0],
        epochs=lambda wildcards: plan.experiment(wildcards.experiment).tuning.epochs,
    script:
        "../scripts/jobs.py"
