"""Write down what a dataset is made from."""

from workflow.job import job

with job(snakemake):
    from datasets.files import write_json

    write_json(
        snakemake.output.recipe,
        {"settings": snakemake.params.settings, "code_digest": snakemake.params.code},
    )
