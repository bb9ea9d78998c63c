"""The error budget of a card, as a table and as a figure: each check with a sentence that says what it is."""

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.style import INK, MUTED, grid_lines, new_figure

LARGEST, MEDIAN = "largest_relative_l2", "median_relative_l2"
MEANING = {
    "against_refined_run": "The same samples solved again, with finer steps and, where there are modes, more "
    "of them.",
    "against_refined_run_over_the_lead_time": "The target solved again, more finely, from the sample's own "
    "input: the error of what a model is to learn.",
    "against_refined_run_later": "The same for the target, solved from the initial field on.",
    "against_other_scheme_over_the_lead_time": "The target of a refined run, marched over the lead time "
    "by an independent scheme.",
    "against_cole_hopf": "The closed form by the Cole-Hopf transformation, exact to rounding.",
    "against_split_step": "An independent solution that marches in time by the split-step method.",
    "against_direct_solve": "The same discrete equations solved by a sparse direct method: the error "
    "that the iterative solver leaves.",
    "against_diffrax_dopri8": "An independent adaptive integrator (diffrax, Dopri8).",
    "against_scipy_dop853": "An independent adaptive integration in time (SciPy, DOP853).",
    "stored_against_computed_again": "What is stored against the same samples computed again: rounding, or "
    "damage if it were larger.",
    "stored_against_the_file": "What is stored against the files that it was read from: rounding, or damage "
    "if it were larger.",
    "moved_by_the_other_face_mean": "How far the solution moves when coefficients on faces are averaged the "
    "other way: a choice of the discretisation, not an error of the solver.",
    "discretisation_error": "The solution on this grid against one on a much finer grid: what the grid "
    "itself costs, which no solver on it can avoid.",
    "labels_against_our_solver": "The imported solutions against ours from the same inputs.",
    "viscosity_that_fits_best": "The same with the viscosity of our solver at which it is smallest.",
    "final_time_that_fits_best": "The same with the final time of our solver at which it is smallest.",
    "both_that_fit_best_together": "The same with both at once.",
    "values_that_fit_best": "The same with the two permeabilities at which it is smallest.",
}
NAMES = {"cole hopf": "Cole-Hopf", "diffrax dopri8": "diffrax (Dopri8)", "scipy dop853": "SciPy (DOP853)"}
OWN_CHECK = "A computation that did not make the stored numbers."
OTHER = "A difference that was measured, and is not held to the stated accuracy."
NOTES = {
    "error_of": "Of the {}.",
    "scheme": "Scheme: {}.",
    "reference": "Reference: {}.",
    "viscosity": "Viscosity {:g}.",
    "final_time": "Final time {:g}.",
    "above": "Permeability where the field is positive: {:g}.",
    "below": "Elsewhere: {:g}.",
}
SOLVER, DISCRETISATION = "#00805e", "#d55e00"
SMALLEST = 1e-17  # where an error of zero is drawn


def checks_of(budget: dict) -> list[dict]:
    """Return the checks that have measured errors: name, sentence, errors, samples, and what else is known.

    A check that is `held` is held to the stated accuracy; `samples`: "64 of 288", "all 288".
    """
    found = []
    for key, entry in budget.items():
        if not isinstance(entry, dict) or LARGEST not in entry:
            continue
        name, held = key.replace("_", " "), key.startswith("against_")
        for one, proper in NAMES.items():
            name = name.replace(one, proper)
        samples, total = f"{entry['samples']:,}", entry.get("of")
        if total is not None:
            samples = f"all {samples}" if total == entry["samples"] else f"{samples} of {total:,}"
        found.append(
            {
                "key": key,
                "name": name,
                "meaning": MEANING.get(key, OWN_CHECK if held else OTHER),
                "held": held,
                "colour": SOLVER if held else DISCRETISATION,
                "median": entry[MEDIAN],
                "largest": entry[LARGEST],
                "samples": samples,
                "notes": [words.format(entry[note]) for note, words in NOTES.items() if note in entry],
                "largest_is": entry.get("largest_is", ""),
            }
        )
    return found


def others(budget: dict) -> dict:
    """Return what the error budget says beside measured errors: grids, ratios, reasons."""
    known = {check["key"] for check in checks_of(budget)}
    return {name: entry for name, entry in budget.items() if name not in known}


def summary(card: dict) -> dict[str, str]:
    """Return the numbers of the page's first lines: stated accuracy, largest error, that of the grid.

    A number that was not measured is an empty text.
    """
    checks = {check["key"]: check for check in checks_of(card["error_budget"])}
    held = [check["largest"] for check in checks.values() if check["held"]]
    grid = checks.get("discretisation_error")
    return {
        "accuracy": scientific(card["stated_accuracy"], 1),
        "largest": scientific(max(held), 2) if held else "",
        "grid": scientific(grid["median"], 2) if grid else "",
        "grid_largest": scientific(grid["largest"], 2) if grid else "",
    }


def draw(card: dict):
    """Draw a row for each check: a dot for the median error over its samples, a bar up to the largest.

    Green are errors of the solver, held to the stated accuracy (dashed). Orange is what the discretisation
    itself costs, which no solver on this grid can avoid, and how imported solutions differ from our solver's.
    """
    budget, checks = card["error_budget"], checks_of(card["error_budget"])
    if not checks:
        raise ResultError(f"the card of {card['dataset']} has no measured error in its error budget")
    figure, ((panel,),) = new_figure(1, 1, size=(8.6, 1.1 + 0.42 * len(checks)))
    for row, check in enumerate(checks):
        colour = check["colour"]
        median, largest = (max(check[key], SMALLEST) for key in ("median", "largest"))
        panel.plot([median, largest], [row, row], color=colour, lw=6, alpha=0.3, solid_capstyle="round")
        panel.plot([median], [row], "o", color=colour, ms=6)
        panel.annotate(
            scientific(check["largest"], 2), (largest, row), (9, 0), textcoords="offset points",
            va="center", fontsize=8, color=colour,
        )  # fmt: skip
    labels = [f"{check['name']} ({check['samples']} samples)" for check in checks]
    panel.set_yticks(range(len(checks)), labels, color=INK)
    panel.set(ylim=(len(checks) - 0.4, -1.2), xscale="log", xlabel="relative L² error")
    panel.margins(x=0.12)
    lines = {"tolerance" if "imported" in card else "stated accuracy": card["stated_accuracy"]}
    if "rounding_to_float32" in budget:
        lines["rounding to float32"] = budget["rounding_to_float32"]
    for line, (words, value) in enumerate(lines.items()):
        panel.axvline(value, color=MUTED, lw=1, ls=(0, (4, 2)))
        panel.annotate(
            f"{words} {scientific(value, 1)}", (value, -1.2), (4, -2 - 11 * line),
            textcoords="offset points", va="top", fontsize=8, color=MUTED,
        )  # fmt: skip
    panel.spines["left"].set_visible(False)
    panel.tick_params(axis="y", length=0)
    grid_lines(panel, "x")
    return figure


ERROR_BUDGET = Exhibit(
    "Error budget",
    "Measured relative L² errors of the stored solutions: median and largest over the samples named, "
    "against computations that did not make them. The largest of a random choice is no bound for all "
    "samples: the card says how many may have a larger error. A dataset is finalised only if every check "
    "of its solver stays below the stated accuracy; the error of the discretisation itself, where it is "
    "measured, stands apart. Solutions that were imported are compared with our solver's, and above the "
    "tolerance the page warns.",
    draw,
)
