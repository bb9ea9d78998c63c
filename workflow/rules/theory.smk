# What Cao (2021) and Calvello et al. (2024) prove of attention, measured, and its page.
# Needs no dataset and no training.

THEORY_TABLES = [
    "projection",
    "quasi_optimality",
    "cost",
    "cost_orders",
    "convergence",
    "convergence_orders",
    "monte_carlo",
    "quadratures",
    "averages",
    "invariance",
    "continuum_orders",
]
THEORY_FIGURES = [
    "theory_projection",
    "theory_cost",
    "theory_convergence",
    "theory_monte_carlo",
    "theory_quadratures",
    "theory_invariance",
]
THEORY = f"{plan.results}/theory"


rule theory:
    output:
        **{table: f"{THEORY}/{table}.csv" for table in THEORY_TABLES},
    log:
        f"logs/theory/{plan.configuration.name}.log",
    group:
        "theory"
    conda:
        "../../environment.yml"
    resources:
        **requested(needs.theory),
    params:
        settings=plan.theory,
        code=code_digest(
            "resolvent.measurements.theory.projection",
            "resolvent.measurements.theory.cost",
            "resolvent.measurements.theory.convergence",
            "resolvent.measurements.theory.continuum_orders",
            *sorted({entry.location.partition(":")[0] for entry in ARCHITECTURES.values()}),
        ),
    script:
        "../scripts/theory.py"


rule draw_theory:
    input:
        **rules.theory.output,
    output:
        [f"{THEORY}/{figure}.{suffix}" for figure in THEORY_FIGURES for suffix in ("svg", "png")],
    log:
        f"logs/draw_theory/{plan.configuration.name}.log",
    group:
        "theory"
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(len(THEORY_TABLES))),
    params:
        code=code_digest(
            *(f"resolvent.figures.theory.{figure.removeprefix('theory_')}" for figure in THEORY_FIGURES)
        ),
    script:
        "../scripts/draw_theory.py"


rule theory_page:
    input:
        **rules.theory.output,
        figures=[f"{THEORY}/{figure}.svg" for figure in THEORY_FIGURES],
        captions=f"{workflow.basedir}/workflow/report/captions.yaml",
        templates=[
            f"{workflow.basedir}/resolvent/figures/templates/{file}"
            for file in ("theory.html.j2", "macros.html.j2", "report.css", "references.bib")
        ],
    output:
        page=f"{plan.results}/theory.html",
    log:
        f"logs/theory_page/{plan.configuration.name}.log",
    group:
        "theory"
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(len(THEORY_TABLES))),
    params:
        settings=plan.theory,
        code=code_digest(
            "resolvent.figures.theory.page", "resolvent.planning.captions", "resolvent.planning.provenance"
        ),
    script:
        "../scripts/theory_page.py"
