# Errors of every test sample at every resolution and noise level, for trained models and baselines.


rule evaluate:
    input:
        card=lambda wildcards: card_of(plan.test_dataset_of(wildcards.experiment)),
        checkpoint=rules.train.output.checkpoint,
        cost=rules.train.output.cost,
        history=rules.train.output.history,
        tuned=rules.train.input.tuned,
    output:
        errors=f"{plan.results}/{RUN_FOLDER}/errors.csv",
        predictions=f"{plan.results}/{RUN_FOLDER}/predictions.nc",
        run=f"{plan.results}/{RUN_FOLDER}/run.json",
    log:
        f"logs/evaluate/{plan.configuration.name}/{RUN_FOLDER}.log",
    priority: 1
    conda:
        "../../environment.yml"
    threads: plan.configuration.training_threads
    resources:
        **requested(needs.evaluate),
        gpu=1,
    params:
        **does(
            "evaluate",
            lambda wildcards: [
                *plan.parts_of(wildcards.model),
                *plan.experiment(wildcards.experiment).metrics,
            ],
        ),
        compared=lambda wildcards: plan.compared(*run_of(wildcards), int(wildcards.seed)),
        # Facts that follow from code, such as defaults and colours, must not rerun anything: Snakemake does not compare
        # parameters that depend on `output`.
        description=lambda wildcards, output: plan.description(*run_of(wildcards), int(wildcards.seed)),
        metrics=lambda wildcards: plan.experiment(wildcards.experiment).metrics,
    script:
        "../scripts/jobs.py"


# One job times all operators of an experiment, one after another on the same cores, so that times are comparable.
rule inference:
    input:
        card=lambda wildcards: card_of(plan.dataset_of(wildcards.experiment)),
        test_card=lambda wildcards: card_of(plan.test_dataset_of(wildcards.experiment)),
        runs=lambda wildcards: files_of_runs(wildcards.experiment, "checkpoint.pt", "cost.json", "run.json"),
    output:
        table=f"{plan.results}/{{experiment}}/inference.csv",
    log:
        f"logs/inference/{plan.configuration.name}/{{experiment}}.log",
    priority: 1
    conda:
        "../../environment.yml"
    threads: plan.configuration.training_threads
    resources:
        **requested(needs.inference),
        gpu=1,
    params:
        **does("inference", lambda wildcards: plan.parts_measured(wildcards.experiment)),
        runs=lambda wildcards: plan.run_folders(wildcards.experiment),
        counts=lambda wildcards: plan.sample_counts(wildcards.experiment),
    script:
        "../scripts/jobs.py"


# Errors of all runs of an experiment and their estimates without labels, also on shifted distributions.
use rule inference as estimates with:
    output:
        table=f"{plan.results}/{{experiment}}/estimates.csv",
    log:
        f"logs/estimates/{plan.configuration.name}/{{experiment}}.log",
    resources:
        **requested(needs.estimates),
        gpu=1,
    params:
        **does("estimates", lambda wildcards: plan.parts_measured(wildcards.experiment)),
        shifts=lambda wildcards: plan.experiment(wildcards.experiment).stress.shifts,
        samples=lambda wildcards: plan.experiment(wildcards.experiment).stress.samples,


rule baselines:
    input:
        card=lambda wildcards: card_of(plan.dataset_of(wildcards.experiment)),
        test_card=lambda wildcards: card_of(plan.test_dataset_of(wildcards.experiment)),
    output:
        errors=f"{plan.results}/{{experiment}}/baselines/errors.csv",
        cost=f"{plan.results}/{{experiment}}/baselines/cost.json",
    log:
        f"logs/baselines/{plan.configuration.name}/{{experiment}}.log",
    group:
        together("baselines")
    conda:
        "../../environment.yml"
    resources:
        **requested(needs.baselines),
    params:
        **does(
            "baselines",
            lambda wildcards: [
                *plan.experiment(wildcards.experiment).metrics,
                *plan.experiment(wildcards.experiment).baselines,
            ],
        ),
        resolutions=lambda wildcards: plan.baseline_resolutions(wildcards.experiment),
        counts=lambda wildcards: plan.sample_counts(wildcards.experiment),
        noise=lambda wildcards: plan.experiment(wildcards.experiment).noise,
        realisations=lambda wildcards: plan.experiment(wildcards.experiment).noise_realisations,
        metrics=lambda wildcards: plan.experiment(wildcards.experiment).metrics,
        own=lambda wildcards: plan.experiment(wildcards.experiment).baselines,
    script:
        "../scripts/jobs.py"


# Predictions of a trained run for your own inputs: `inputs/mine.npz` gives `<run>/predicted/mine.npz`.
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
        **does("predict", lambda wildcards: plan.parts_of(wildcards.model)),
        card=lambda wildcards: str(plan.test_dataset_of(wildcards.experiment).card),
    script:
        "../scripts/jobs.py"


# Rollouts of Kolmogorov flow: a trained time step is applied repeatedly to its own predictions. The dictionary has the
# folder of the run whose rollout is shown as a film, by experiment.
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
        **does("rollout", lambda wildcards: plan.parts_of(wildcards.model)),
        test_samples=lambda wildcards: plan.sample_counts(wildcards.experiment)["test"],
    script:
        "../scripts/jobs.py"


# Latent basis functions of a trained encoder on the square, from its checkpoint.
use rule rollout as latent_basis with:
    input:
        card=lambda wildcards: card_of(plan.dataset_of(wildcards.experiment)),
        checkpoint=rules.train.output.checkpoint,
    output:
        latent=f"{plan.results}/{RUN_FOLDER}/latent_basis.npz",
    log:
        f"logs/latent_basis/{plan.configuration.name}/{RUN_FOLDER}.log",
    resources:
        **requested(needs.latent_basis),
    params:
        **does("latent_basis", lambda wildcards: plan.parts_of(wildcards.model)),
        grids=lambda wildcards: plan.configuration.models[wildcards.model].grids,
