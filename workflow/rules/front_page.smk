# Pages on all results of the study, such as the front page. If a job fails, `onerror` writes the front page from the
# other results.

from resolvent.figures.common.page import STUDY_PAGES, other_pages

LEADERBOARD = f"{plan.results}/leaderboard.csv"
# What the front page links to.
LINKED = [
    *REPORTS,
    *(f"{plan.results}/{e}/compare.html" for e in plan.configuration.experiments),
    *expand(f"{DATASET_PAGES}/{{dataset}}.html", dataset=plan.datasets),
    *(paper.page for paper in papers.values() if paper.experiments),
    *(f"{plan.results}/{file}" for file in other_pages()),
]
COMPARED = [rules.compare.output.comparison, rules.compare.output.models, rules.inference.output.table]
DATA = [of_data(file) for file in DATASET_FILES]


for _name, _page in STUDY_PAGES.items():

    rule:
        name:
            _name
        input:
            ancient(rules.page_assets.output),
            study=rules.plan_study.output.study,
            # Functions instead of lists, because Snakemake hashes a whole list once for each of its files.
            cards=later(list, DATA),
            runs=later(files_of_all_runs, *RECORDS),
            comparisons=later(expand, COMPARED, experiment=plan.configuration.experiments),
            # Only linked to, so changes of their content do not matter.
            pages=later(ancient, LINKED if _name == "front_page" else []),
        output:
            [report(LEADERBOARD, category="leaderboard")] if _name == "front_page" else [],
            page=f"{plan.results}/{_page.file}",
        log:
            f"logs/{_name}/{plan.configuration.name}.log",
        localrule: True
        conda:
            "../../environment.yml"
        params:
            **does("study_page"),
            write=_page.write,
            study=rules.plan_study.params.study,
        script:
            "../scripts/jobs.py"
