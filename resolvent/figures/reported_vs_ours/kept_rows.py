"""Rows of "reported and ours" whose runs are not at hand any more: they stay, and what is said of them."""

FROM_BEFORE = ", of earlier runs: "
NOT_COMPARABLE = ": not comparable: "


def with_kept_rows(new: str, old: str) -> str:
    """Return a section with those rows that it had before and of which there is no run now.

    A row is known by its cells before "reported": model, recipe, resolution, seed. Nothing is kept where the
    columns are others or have no such cell, or where the section has a second table, whose rows are compared
    with each other.
    """
    lines, before = _table(new), _table(old)
    if not before or lines[:1] != before[:1] or "\n\n|" in new + old:
        return new
    header = _cells(lines[0])
    if "reported" not in header:
        return new
    count = header.index("reported")
    made = {tuple(_cells(row)[:count]) for row in lines[2:]}
    kept = [row for row in before[2:] if tuple(_cells(row)[:count]) not in made]
    if not kept:
        return new
    labels = list(dict.fromkeys(_cells(row)[0] for row in kept))
    paragraphs = old.split("\n\n")[1:]
    earlier = [one.partition(FROM_BEFORE)[0] for one in paragraphs if FROM_BEFORE in one]
    late = "; ".join(label for label in labels if not any(label in of for of in earlier))
    said = []
    for paragraph in paragraphs:
        if FROM_BEFORE in paragraph or NOT_COMPARABLE in paragraph:
            of = paragraph.partition(NOT_COMPARABLE)[0].partition(FROM_BEFORE)[0]
            said += [paragraph] * (any(label in of for label in labels) and paragraph not in new)
        elif late and paragraph.startswith(("Sizes: ", "Machine: ")):
            said.append(f"{late}{FROM_BEFORE}{paragraph.removesuffix(' Made by')}")
    return "\n\n".join(["\n".join([*lines, *kept]), new.partition("\n\n")[2], *said])


def _table(section: str) -> list[str]:
    """Return the lines of the table that a section begins with."""
    lines = section.partition("\n\n")[0].splitlines()
    return lines if lines and lines[0].startswith("| ") else []


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split(" | ")]
