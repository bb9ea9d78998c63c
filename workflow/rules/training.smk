# One run: one model of one experiment, at one training resolution, from one seed.


rule train:
    input:
        card=lambda wildcards: ancient(plan.dataset_of(wildcards.experiment).card),
        tuned=lambda wildcards: (
            plan.tuned(wildcards.experiment, wildcards.model, resolution_of(wildcards.group)) or []
        ),
    output:
        checkpoint=f"{plan.results}/{RUN_FOLDER}/checkpoint.pt",
        history=f"{plan.results}/{RUN_FOLDER}/history.csv",
        cost=f"{plan.results}/{RUN_FOLDER}/cost.json",
    log:
        f"logs/train/{plan.configuration.name}/{RUN_FOLDER}.log",
    conda:
        "../../environment.yml"
    threads: lambda wildcards: plan.configuration.training_threads * needs.processes(wildcards)
    resources:
        **requested(needs.train),
        **placement(needs),
        gpu=needs.processes,
        processes=needs.processes,
    params:
        dataset_code=lambda wildcards: plan.dataset_of(wildcards.experiment).code,
        run=lambda wildcards: plan.training(
            wildcards.experiment, wildcards.model, resolution_of(wildcards.group)
        ),
        code=lambda wildcards: plan.training_code(
            wildcards.experiment, wildcards.model, resolution_of(wildcards.group)
        ),
    script:
        "../scripts/train.py"
