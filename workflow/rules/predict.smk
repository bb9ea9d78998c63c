# Predictions of a trained run for functions of one's own: `inputs/mine.npz` gives `<run>/predicted/mine.npz`.


rule predict:
    input:
        source="inputs/{file}",
        run=rules.evaluate.output.run,
        checkpoint=rules.train.output.checkpoint,
    output:
        predicted=f"{plan.results}/{RUN_FOLDER}/predicted/{{file}}",
    log:
        f"logs/predict/{plan.configuration.name}/{RUN_FOLDER}/{{file}}.log",
    wildcard_constraints:
        file=r"[^/]+\.(npy|npz|nc)",
    conda:
        "../../environment.yml"
    threads: plan.configuration.training_threads
    resources:
        **requested(needs.evaluate),
        gpu=1,
    params:
        **does("predict", lambda wildcards: plan.modules_of(wildcards.model)),
        card=lambda wildcards: str(plan.test_dataset_of(wildcards.experiment).card),
    script:
        "../scripts/jobs.py"
