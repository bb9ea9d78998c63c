"""Tables and figures of docs/stability.md, from the runs of the study of stability."""

from pathlib import Path

from resolvent.documentation.pages import paragraph, planned, table
from resolvent.figures.common.numbers import duration
from resolvent.figures.common.style import save
from resolvent.figures.stability.page import COLLAPSED_ERROR, draw_panel, gap_in_words, read_study, tables_of
from resolvent.planning.plan import STABILITY

CONFIGURATION = "config/stability.yaml"
COMMAND = f"snakemake stability --cores 2 --configfile {CONFIGURATION}"


def section(root: Path) -> str | None:
    """Draw docs/images/stability1.svg, … for models with finished runs, and return the page's text.

    Returns None without runs.
    """
    plan = planned(CONFIGURATION, root=root)
    settings = plan.configuration.stability
    assert settings is not None  # set in the study's configuration
    tables = {model: root / plan.results / STABILITY / f"{model}.csv" for model in settings.models}
    if not any(one.exists() for one in tables.values()):
        return None
    facts = plan.stability_facts(settings)
    study = read_study([one for one in tables.values() if one.exists()], facts["panels"])
    runs = study.drop_duplicates(["model", "peak", "seed"])
    parts = [
        paragraph(
            f"Written by `make docs` from the runs of `{COMMAND}`. Burgers' equation on "
            f"{facts['resolution']} points, {facts['train']:,} training samples, {facts['epochs']} epochs, "
            f"batches of {facts['batch_size']}: {len(runs):,} trainings, which differ in the model, the peak "
            f"of the learning rate and the seed. They took {duration(runs['seconds'].sum())} on one thread "
            f"of {', '.join(sorted(runs['device'].unique()))}."
        ),
        paragraph(
            "A run counts as collapsed if it diverged, or if its mean relative L² error on the "
            f"{facts['validation']} validation samples is above {COLLAPSED_ERROR:g} in its last epoch. Of "
            f"these runs {gap_in_words(runs)}: any threshold between gives the same counts."
        ),
    ]
    if missing := [model for model, one in tables.items() if not one.exists()]:
        parts.append(f"Not trained yet, and so without rows: {', '.join(f'`{one}`' for one in missing)}.")
    for number, panel in enumerate(facts["panels"], 1):
        if (study["panel"] == panel).any():
            file = root / f"docs/images/stability{number}.svg"
            save(draw_panel(study, panel), file)
            for other in (".png", ".pdf"):
                file.with_suffix(other).unlink()
            parts.append(f"![{panel}: collapsed, and last errors, by learning rate](images/{file.name})")
    heads, collapsed, errors = tables_of(study)
    return "\n\n".join(
        [
            *parts,
            "Above: the fraction of runs that collapsed, with exact binomial 95 % intervals of the "
            "probability. Below: the\nerror of every run in its last epoch; a cross is a run that collapsed, "
            "at the top edge one off the scale or diverged.",
            "## How many collapsed",
            "Collapsed of all runs, and the interval of the probability, by peak of the learning rate.",
            table(["model", *heads], [(name, *cells) for name, cells in collapsed]),
            "## Errors of those that trained",
            "Median of the last epoch's errors over the seeds, the least and the largest, in units of 10⁻³.",
            table(["model", *heads], [(name, *cells) for name, cells in errors]),
        ]
    )
