# Errors of every test sample at every resolution and noise level, for trained models and baselines.


rule evaluate:
    input:
        card=test_card,
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
        **does("evaluate", of_wildcards(parts_of_evaluation)),
        compared=of_wildcards(plan.compared),
        description=described,
        metrics=setting("metrics"),
    script:
        "../scripts/jobs.py"


# One job times all operators of an experiment, one after another on the same cores, so that times are comparable.
rule inference:
    input:
        card=training_card,
        test_card=test_card,
        runs=of_wildcards(files_of_runs, "checkpoint.pt", "cost.json", "run.json"),
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
        **does("inference", of_wildcards(plan.parts_measured)),
        runs=of_wildcards(plan.run_folders),
        counts=of_wildcards(plan.sample_counts),
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
        **does("estimates", of_wildcards(plan.parts_measured)),
        shifts=setting("stress.shifts"),
        samples=setting("stress.samples"),


rule baselines:
    input:
        card=training_card,
        test_card=test_card,
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
        **does("baselines", of_wildcards(parts_of_baselines)),
        resolutions=of_wildcards(plan.baseline_resolutions),
        counts=of_wildcards(plan.sample_counts),
        noise=setting("noise"),
        realisations=setting("noise_realisations"),
        metrics=setting("metrics"),
        own=setting("baselines"),
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
        **does("predict", of_wildcards(plan.parts_of)),
        card=of_wildcards(path_of_test_card),
    script:
        "../scripts/jobs.py"


# Rollouts of Kolmogorov flow: a trained time step is applied repeatedly to its own predictions. The dictionary has the
# folder of the run whose rollout is shown as a film, by experiment.
ROLLED_OUT = {name: folder for name in plan.configuration.experiments if (folder := plan.rolled_out(name))}


rule rollout:
    input:
        card=test_card,
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
        **does("rollout", of_wildcards(plan.parts_of)),
        test_samples=of_wildcards(test_samples),
    script:
        "../scripts/jobs.py"


# Latent basis functions of a trained encoder on the square, from its checkpoint.
use rule rollout as latent_basis with:
    input:
        card=training_card,
        checkpoint=rules.train.output.checkpoint,
    output:
        latent=f"{plan.results}/{RUN_FOLDER}/latent_basis.npz",
    log:
        f"logs/latent_basis/{plan.configuration.name}/{RUN_FOLDER}.log",
    resources:
        **requested(needs.latent_basis),
    params:
        **does("latent_basis", of_wildcards(plan.parts_of)),
        grids=of_wildcards(grids),
