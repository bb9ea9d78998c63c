# One pair of rules per dataset, so that `snakemake -R solve_burgers` means what it says. The output of a job
# is a small file written last; the store itself is never an output, which Snakemake would delete.
#
# What uses a dataset names the digest of the code that makes it among its parameters (its settings are in the
# file's name), and the card as `ancient`: the card must be there, but a dataset made again by the same code is the
# same, and nothing that used it runs again.

from resolvent.datasets.errors import gone


def receipts_of(dataset):
    # A store that was deleted has left its card and receipts: its shards are solved as by `-R solve_<name>`.
    gone_now = Path(dataset.card).exists() and not Path(dataset.store).exists()
    if gone_now and workflow.is_main_process:
        print(gone(dataset.store), file=sys.stderr)
        workflow.dag.forcerules.add(workflow.get_rule(f"solve_{dataset.name}"))
    return dataset.receipts


for _dataset in plan.datasets.values():

    _benchmark = f"logs/solve_{_dataset.name}/{_dataset.base.name}-{{shard}}.tsv"

    rule:
        name:
            f"solve_{_dataset.name}"
        output:
            receipt=_dataset.receipt,
        log:
            f"logs/solve_{_dataset.name}/{_dataset.base.name}-{{shard}}.log",
        benchmark:
            _benchmark
        conda:
            "../../environment.yml"
        resources:
            **requested(lambda _, of=_dataset, benchmark=_benchmark: needs.solve(of, benchmark)),
        params:
            settings=_dataset.settings.model_dump(mode="json"),
            job="solve_dataset",
            code=_dataset.code,
            store=_dataset.store,
            address=_dataset.address,
            cost=f"logs/solve_{_dataset.name}/{_dataset.base.name}-{{shard}}.cost.json",
        script:
            "../scripts/jobs.py"

    rule:
        name:
            f"finalise_{_dataset.name}"
        input:
            receipts=lambda wildcards, dataset=_dataset: receipts_of(dataset),
        output:
            card=_dataset.card,
        log:
            f"logs/finalise_{_dataset.name}/{_dataset.base.name}.log",
        benchmark:
            f"logs/finalise_{_dataset.name}/{_dataset.base.name}.tsv"
        conda:
            "../../environment.yml"
        resources:
            **requested(finalising(_dataset.settings)),
        params:
            settings=_dataset.settings.model_dump(mode="json"),
            job="finalise_dataset",
            code=_dataset.code,
            finalising_code=script_digest("finalise_dataset", *_dataset.modules),
            store=_dataset.store,
        script:
            "../scripts/jobs.py"
