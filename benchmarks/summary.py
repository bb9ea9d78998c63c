"""Compare measured speeds with their targets: the first table of docs/performance.md, from its other tables.

python -m benchmarks.summary --output docs/performance.md
"""

from __future__ import annotations

from argparse import Namespace
from typing import NamedTuple

from benchmarks.runner import Part, digits, run, table

PRODUCTS = "both codes spend most of a step in the same matrix products, and none of them can be saved"
BITS = "most of the time is random bits and memory access, as in all codes; ducc0's FFT is as fast or faster"
HEADS = "most of the time is products with heads of width 16, which are far slower than large products"
# By operator and points of a step, or by title of a race of solvers: the required speed-up over the best
# peer, and what limits it. Bars of solvers are earlier measurements, rounded down.
BARS = {
    "`transformer1d`, galerkin, 8,192 points": (1.5, PRODUCTS),
    "`transformer1d`, softmax, 2,048 points": (1.0, PRODUCTS),
    "`transformer2d`, galerkin, 141² points": (1.3, PRODUCTS),
    "`tno1d`, 200 points": (2.5, HEADS),
    "`tno2d`, 64² points": (1.6, HEADS),
    "`vit_no`, modes 8, 208² points": (1.3, PRODUCTS),
    "`fano`, modes 8, width 64, 208² points": (2.5, PRODUCTS),
    "Burgers, errors below 2e-8": (1.5, ""),
    "Burgers, errors below 1e-6": (1.3, ""),
    "Burgers, the smallest error": (100, ""),
    "Darcy, 421 × 421, coefficient 3 or 12": (8.5, ""),
    "Darcy, 421 × 421, lognormal": (10, ""),
    "Darcy, 832 × 832, lognormal": (10, "its arrays are larger than the caches, so memory access limits it"),
    "Lorenz-63": (2.5, ""),
    "Controlled equation": (4.5, ""),
    "Kolmogorov flow, 100 steps with equal modes": (2.5, ""),
    "Kolmogorov flow to t = 11.1": (2.5, ""),
    "Neumann field on 421 × 421 nodes": (1.4, BITS),
    "Periodic field on 416 × 416 points": (1.4, BITS),
}
OF_GEMM = 0.75
HEADER = ("benchmark", "ours", "best peer", "ratio", "target", "met")


class Raced(NamedTuple):
    """Milliseconds of ours and of the fastest peer, and their ratio."""

    ours: float
    peer: str
    peer_ms: float
    ratio: float


def tables_of(page: str) -> list[tuple[str, list[dict[str, str]]]]:
    """Return each table with the title above it, as rows by column."""
    found, title, header = [], "", None
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else None
        if line.startswith("#"):
            title = line.strip("# ")
        if cells is None:
            header = None
        elif header is None:
            header, rows = cells, []
            found.append((title, rows))
        elif cells[0] != "---":
            rows.append(dict(zip(header, cells, strict=True)))
    return found


def fastest(cell: str) -> float:
    """Return the fastest time of a cell "median (fastest–slowest)"."""
    return float(cell.partition("(")[2].partition("–")[0].replace(",", ""))


def races_of(page: str) -> dict[str, Raced]:
    """Return all races of the page, by their names in `BARS`."""
    races = {}
    for title, rows in tables_of(page):
        if "public code compiled, ms" in rows[0]:
            for row in rows:
                peers = {way: fastest(row[f"{way}, ms"]) for way in ("public code", "public code compiled")}
                peer = min(peers, key=peers.__getitem__)
                ours = fastest(row["ours, ms"])
                name = f"{row['operator']}, {row['points']} points"
                races[name] = Raced(ours, peer, peers[peer], peers[peer] / ours)
        elif "our speed-up" in rows[0]:
            whole = "ms per sample: median (fastest–slowest)"
            peers = [row for row in rows if not row["solver (ours in bold)"].startswith("**")]
            best = min(peers, key=lambda row: fastest(row[whole]))
            ours, peer = fastest(rows[0][whole]), fastest(best[whole])
            races[title] = Raced(ours, best["solver (ours in bold)"], peer, peer / ours)
    return races


def summary(given: Namespace) -> str:
    """Compare every race and every profile of a step with its bar."""
    page, rows = given.output.read_text(), []
    races = races_of(page)
    for name, (bar, hindrance) in BARS.items():
        if name not in races:
            rows.append((name, "", "", "", digits(bar), "not measured"))
            continue
        ours, peer, peer_ms, ratio = races[name]
        met = "yes" if ratio >= bar else ": ".join(["no", *[hindrance] * bool(hindrance)])
        cells = f"{digits(ours)} ms", f"{peer}: {digits(peer_ms)} ms", digits(ratio), digits(bar), met
        rows.append((name, *cells))
    for _, profile in tables_of(page):
        for step in profile if "in products" in profile[0] else ():
            share = float(step["of GEMM"].rstrip("%")) / 100
            of_products = step["rate of products, of GEMM"]
            why = f"no: {step['in products']} of the time is in products, at {of_products} of GEMM"
            name = f"{step['step']}, {step['points']} points, rate of a step"
            met = "yes" if share >= OF_GEMM else why
            rows.append((name, step["of GEMM"], "GEMM: 100%", digits(share), digits(OF_GEMM), met))
    return table(HEADER, rows)


if __name__ == "__main__":
    run("summary", {"bars": Part("", summary, ("torch",))}, rounds=None)
