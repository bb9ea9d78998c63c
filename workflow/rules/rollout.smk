# A trained step of the Kolmogorov flow, applied again and again to its own predictions; nothing is trained.


# The runs whose rollout is shown as a film, by experiment.
ROLLED_OUT = {name: folder for name in plan.configuration.experiments if (folder := plan.rolled_out(name))}


rule rollout:
    input:
        card=lambda wildcards: card_of(plan.test_dataset_of(wildcards.experiment)),
        checkpoint=rules.train.output.checkpoint,
    output:
        rollout=f"{plan.results}/{RUN_FOLDER}/rollout.npz",
    log:
        f"logs/rollout/{plan.configuration.name}/{RUN_FOLDER}.log",
    conda:
        "../../environment.yml"
    threads: plan.configuration.training_threads
    resources:
        **requested(needs.rollout),
        gpu=1,
    params:
        **does("rollout", lambda wildcards: plan.modules_of(wildcards.model)),
        dataset_code=lambda wildcards: plan.test_dataset_of(wildcards.experiment).code,
        test_samples=lambda wildcards: plan.sample_counts(wildcards.experiment)["test"],
    script:
        "../scripts/jobs.py"
