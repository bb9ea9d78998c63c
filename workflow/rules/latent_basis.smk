# What a trained encoder on the square expands functions in; the checkpoint is read, nothing is trained.


rule latent_basis:
    input:
        card=lambda wildcards: card_of(plan.dataset_of(wildcards.experiment)),
        checkpoint=rules.train.output.checkpoint,
    output:
        latent=f"{plan.results}/{RUN_FOLDER}/latent_basis.npz",
    log:
        f"logs/latent_basis/{plan.configuration.name}/{RUN_FOLDER}.log",
    conda:
        "../../environment.yml"
    threads: plan.configuration.training_threads
    resources:
        **requested(needs.latent_basis),
    params:
        **does("latent_basis", lambda wildcards: plan.modules_of(wildcards.model)),
        dataset_code=lambda wildcards: plan.dataset_of(wildcards.experiment).code,
        test_samples=lambda wildcards: plan.sample_counts(wildcards.experiment)["test"],
        grids=lambda wildcards: plan.configuration.models[wildcards.model].grids,
    script:
        "../scripts/jobs.py"
