"""The error budget of a card as a table of checks, each with an explanation."""

from resolvent.figures.common.numbers import scientific

LARGEST, MEDIAN = "largest_relative_l2", "median_relative_l2"
MEANING = {
    "against_exact_solution": "The closed form that the equation's own class gives.",
    "against_refined_run": "The same samples solved by the same solver with finer steps and, for spectral "
    "solvers, more modes. This measures the discretisation; it cannot find a mistake in the equation.",
    "against_refined_run_over_the_lead_time": "The target solved from the sample's own input with finer "
    "steps: the error of the map that a model learns.",
    "against_refined_run_later": "The target, solved from the initial field with finer steps and more modes.",
    "against_other_scheme_over_the_lead_time": "The target of a refined run, computed over the lead time by "
    "an independent scheme; for a lead time above 0.1, over its last 0.1.",
    "against_cole_hopf": "The closed form by the Cole-Hopf transformation, exact up to rounding.",
    "against_split_step": "An independent solution by the split-step method in time.",
    "against_direct_solve": "The same discrete equations solved by a sparse direct method: the remaining "
    "error of the iterative solver.",
    "against_diffrax_dopri8": "An independent adaptive integrator (diffrax, Dopri8).",
    "against_scipy_dop853": "An independent adaptive integrator (SciPy, DOP853).",
    "stored_against_computed_again": "Stored samples against the same samples computed again. Differences "
    "come from rounding; larger ones would mean damage.",
    "stored_against_the_file": "Stored samples against the files they were read from. Differences come from "
    "rounding; larger ones would mean damage.",
    "moved_by_the_other_face_mean": "Change of the solution if the coefficients on faces are the other mean: "
    "a choice of discretisation, not an error of the solver.",
    "discretisation_error": "The solution on this grid against one on a much finer grid: the error of the "
    "grid itself, which no solver on this grid can avoid.",
    "labels_against_our_solver": "The imported solutions against ours from the same inputs.",
}
NAMES = {"cole hopf": "Cole-Hopf", "diffrax dopri8": "diffrax (Dopri8)", "scipy dop853": "SciPy (DOP853)"}
OWN_CHECK = "A check that the equation's own class makes."
OTHER = "A measured difference, not compared with the stated accuracy."
NOTES = {
    "error_of": "Error of the {}.",
    "scheme": "Scheme: {}.",
    "reference": "Reference: {}.",
    "viscosity": "Viscosity {:g}.",
    "final_time": "Final time {:g}.",
    "above": "Permeability where the field is positive: {:g}.",
    "below": "Elsewhere: {:g}.",
}


def checks_of(budget: dict) -> list[dict]:
    """Return the checks with measured errors: name, sentence, errors, samples and further facts.

    Checks with `held` are compared with the stated accuracy; `samples` is such as "64 of 288" or "all 288".
    """
    checks = []
    for key, entry in budget.items():
        if not isinstance(entry, dict) or LARGEST not in entry:
            continue
        name, held = key.replace("_", " "), key.startswith("against_")
        for plain, proper in NAMES.items():
            name = name.replace(plain, proper)
        samples, total = f"{entry['samples']:,}", entry.get("of")
        if total is not None:
            samples = f"all {samples}" if total == entry["samples"] else f"{samples} of {total:,}"
        checks.append({
            "key": key, "name": name, "meaning": MEANING.get(key, OWN_CHECK if held else OTHER), "held": held,
            "median": entry[MEDIAN], "largest": entry[LARGEST], "samples": samples,
            "notes": [sentence.format(entry[note]) for note, sentence in NOTES.items() if note in entry],
            "largest_is": entry.get("largest_is", ""),
        })  # fmt: skip
    return checks


def others(budget: dict) -> dict:
    checked = {check["key"] for check in checks_of(budget)}
    return {name: entry for name, entry in budget.items() if name not in checked}


def summary(card: dict) -> dict[str, str]:
    """Return the stated accuracy, the largest error, and the grid's errors; an empty text if not measured."""
    checks = {check["key"]: check for check in checks_of(card["error_budget"])}
    held = [check["largest"] for check in checks.values() if check["held"]]
    grid = checks.get("discretisation_error")
    return {
        "accuracy": scientific(card["stated_accuracy"], 1),
        "largest": scientific(max(held), 2) if held else "",
        "grid": scientific(grid["median"], 2) if grid else "",
        "grid_largest": scientific(grid["largest"], 2) if grid else "",
    }
