"""The error budget of a card as a table: each check with one sentence that says what it measures."""

from resolvent.figures.common.numbers import scientific

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


def measured(budget: dict) -> dict[str, dict]:
    """Return the checks of an error budget that have measured errors, by name."""
    return {name: entry for name, entry in budget.items() if isinstance(entry, dict) and LARGEST in entry}


def of_the_solver(name: str) -> bool:
    """Say whether a check is held to the stated accuracy."""
    return name.startswith("against_")


def rows(budget: dict) -> list[dict]:
    """Return a row for each check: name, sentence, errors, samples, and what else the card says of it."""
    return [
        {
            "name": in_words(name),
            "meaning": MEANING.get(name, OWN_CHECK if of_the_solver(name) else OTHER),
            "held": of_the_solver(name),
            "median": scientific(entry[MEDIAN], 2),
            "largest": scientific(entry[LARGEST], 2),
            "samples": samples(entry),
            "notes": [words.format(entry[key]) for key, words in NOTES.items() if key in entry],
            "largest_is": entry.get("largest_is", ""),
        }
        for name, entry in measured(budget).items()
    ]


def in_words(name: str) -> str:
    """Return the name of a check as a person writes it."""
    words = name.replace("_", " ")
    for one, proper in NAMES.items():
        words = words.replace(one, proper)
    return words


def others(budget: dict) -> dict:
    """Return what the error budget says beside measured errors: grids, ratios, reasons."""
    return {name: entry for name, entry in budget.items() if name not in measured(budget)}


def samples(entry: dict) -> str:
    """Return of how many samples a check is: "64 of 288", "all 288"."""
    if entry.get("of", entry["samples"]) == entry["samples"]:
        return f"{'all ' * ('of' in entry)}{entry['samples']:,}"
    return f"{entry['samples']:,} of {entry['of']:,}"


def summary(card: dict) -> dict[str, str]:
    """Return the numbers of the page's first lines: stated accuracy, largest error, that of the grid.

    A number that was not measured is an empty text.
    """
    found = measured(card["error_budget"])
    held = [entry[LARGEST] for name, entry in found.items() if of_the_solver(name)]
    grid = found.get("discretisation_error")
    return {
        "accuracy": scientific(card["stated_accuracy"], 1),
        "largest": scientific(max(held), 2) if held else "",
        "grid": scientific(grid[MEDIAN], 2) if grid else "",
        "grid_largest": scientific(grid[LARGEST], 2) if grid else "",
    }
