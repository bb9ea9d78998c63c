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
        together("theory")
    conda:
        "../../environment.yml"
    resources:
        **requested(needs.theory),
    params:
        settings=plan.theory,
        examples=plan.examples,
        code=script_digest("theory", *plan.every_architecture),
    script:
        "../scripts/theory.py"


rule draw_theory:
    input:
        **rules.theory.output,
    output:
        [
            report(
                f"{THEORY}/{figure}.svg",
                caption="../report/theory.rst",
                category="Theory",
                labels={"figure": figure.removeprefix("theory_")},
            )
            for figure in THEORY_FIGURES
        ],
        [f"{THEORY}/{figure}.{suffix}" for figure in THEORY_FIGURES for suffix in ("png", "pdf")],
    log:
        f"logs/draw_theory/{plan.configuration.name}.log",
    group:
        together("theory")
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(len(THEORY_TABLES))),
    params:
        code=script_digest("draw_theory"),
    script:
        "../scripts/draw_theory.py"


rule theory_page:
    input:
        **rules.theory.output,
        figures=[f"{THEORY}/{figure}.svg" for figure in THEORY_FIGURES],
        assets=ancient(rules.page_assets.output),
    output:
        page=f"{plan.results}/theory.html",
    log:
        f"logs/theory_page/{plan.configuration.name}.log",
    group:
        together("theory")
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(len(THEORY_TABLES))),
    params:
        settings=plan.theory,
        root=lambda wildcards: str(plan.results),
        code=script_digest("theory_page"),
    script:
        "../scripts/theory_page.py"
