rule report:
    output:
        f"{plan.results}/report.html",
    shell:
        "touch {output}"
