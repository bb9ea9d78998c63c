"""Measure the front page of a large study, opened from disk in a browser: size, time until usable, memory.

    python -m benchmarks.front_page [--rounds 5] [--output docs/performance.md]

Makes the result files of a study, 500 runs by default, with random errors, in a temporary folder, and writes
its front page with the project's code. Needs Chromium and the package playwright.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
import psutil

from benchmarks.runner import Part, digits, run, table
from resolvent.common.files import write_json
from resolvent.common.records import (
    ERROR_COLUMNS,
    HISTORY_COLUMNS,
    CostRecord,
    RunRecord,
    file_digests,
    write_record,
)
from resolvent.figures.common.assets import write_assets
from resolvent.figures.common.page import RUN_PAGE
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.front.page import write_front_page
from resolvent.figures.front.study import PlannedExperiment, PlannedRow, Study

CHROMIUM = "/usr/bin/chromium"
RESOLUTION, SAMPLES = 512, 100
TEXT = """\
The front page of a study with {} experiments of {} models and {} seeds each ({:,} runs), opened \
from disk in headless Chromium: medians of {} browser starts."""
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--enable-precise-memory-info",
]
OPENED = """() => ({
    ready: performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd / 1000,
    paint: performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000,
})"""
# Each script ends after the changed table is drawn.
FILTER = """async () => {
    const start = performance.now();
    const words = document.querySelector('form.filters input');
    words.value = 'problem number 1';
    words.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    return (performance.now() - start) / 1000;
}"""
SORT = """async () => {
    document.querySelector('form.filters').reset();
    await new Promise((done) => setTimeout(done, 50));
    const start = performance.now();
    const sorted = new Promise((done) => document.addEventListener('sort-end', done, { once: true }));
    document.querySelectorAll('#results th button')[1].click();
    await sorted;
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    return (performance.now() - start) / 1000;
}"""


def front_page(given: Namespace) -> str:
    """Write the study and its front page, and open the page once per round."""
    sizes = given.experiments, given.models, given.seeds
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        write_study(study, *sizes)
        start = perf_counter()
        results = write_front_page(study)
        writing = perf_counter() - start
        loaded = ("index.html", "assets/style.css", "assets/page.js", "assets/sortable.js")
        size = sum((study / name).stat().st_size for name in loaded)
        opened = [open_page(study / "index.html", len(results.rows)) for _ in range(given.rounds)]
    middle = {name: median(one[name] for one in opened) for name in opened[0]}
    rows = [
        ("page size with style and scripts", f"{size / 1e6:.2f} MB"),
        ("time to write the page", f"{digits(writing)} s"),
        ("time until tables can be sorted and filtered", f"{digits(middle['ready'])} s"),
        ("time until first paint", f"{digits(middle['paint'])} s"),
        ("time to filter the long table", f"{digits(middle['filter'])} s"),
        ("time to sort the long table", f"{digits(middle['sort'])} s"),
        ("memory of the page's process", f"{digits(middle['memory'] / 1e6)} MB"),
        ("part of this used by JavaScript objects", f"{digits(middle['heap'] / 1e6)} MB"),
    ]
    return f"{TEXT.format(*sizes, len(results.runs), given.rounds)}\n\n{table(('', ''), rows)}"


def open_page(page: Path, rows: int) -> dict[str, float]:
    """Open the page in a new browser; return load, filter and sort times in seconds, and memory in bytes."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        before = set(psutil.pids())
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(page.as_uri(), wait_until="load")
        tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
        found = tab.evaluate(OPENED)
        shown = "document.querySelectorAll('#results tbody tr:not([hidden])').length"
        assert tab.evaluate(shown) == rows
        found["filter"] = tab.evaluate(FILTER)
        assert 0 < tab.evaluate(shown) < rows
        found["sort"] = tab.evaluate(SORT)
        found["heap"] = tab.evaluate("performance.memory.usedJSHeapSize")
        found["memory"] = 0
        for pid in set(psutil.pids()) - before:
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                if "--type=renderer" in process.cmdline():  # the process that renders pages
                    found["memory"] = max(found["memory"], process.memory_info().rss)
        browser.close()
    return found


def write_study(folder: Path, experiments: int, models: int, seeds: int) -> None:
    """Write study.json, and the result files of every run and the comparison of every experiment."""
    generator = np.random.default_rng(0)
    planned = {}
    for number in range(experiments):
        name = f"experiment{number}"
        hardness = generator.normal(size=SAMPLES) * 0.4
        rows: dict[str, dict[str, str]] = {f"model{model}": {} for model in range(models)}
        for (place, model), seed in product(enumerate(rows), range(seeds)):
            run = f"{name}/{model}/n{RESOLUTION}/seed{seed}"
            level = 1e-3 * (1 + 0.3 * place)
            errors = level * np.exp(hardness + 0.15 * generator.normal(size=SAMPLES))
            _write_run(folder / run, name, model, seed, errors)
            rows[model][str(seed)] = run
        runs = [folder / run for of_model in rows.values() for run in of_model.values()]
        write_comparison(runs, [], folder / name / "comparison.csv")
        planned[name] = PlannedExperiment(
            f"Problem number {number}", "synthetic", f"{name}/report.html", RESOLUTION, [],
            [
                PlannedRow(model, f"A model with a name, {model}", "paper", RESOLUTION, 0.0, of_model)
                for model, of_model in rows.items()
            ],
        )  # fmt: skip
    write_json(
        folder / "study.json", asdict(Study(name="synthetic", experiments=planned, command="snakemake"))
    )
    write_assets(folder / "assets")


def _write_run(folder: Path, experiment: str, model: str, seed: int, errors: np.ndarray) -> None:
    folder.mkdir(parents=True)
    (folder / RUN_PAGE).touch()  # linked, but not opened
    table = pd.DataFrame({"sample": np.arange(SAMPLES), "relative_l2": errors})
    table = table.assign(resolution=RESOLUTION, noise=0.0, realisation=0)[list(ERROR_COLUMNS)]
    table.to_csv(folder / "errors.csv", index=False)
    epochs = np.arange(1, 101)
    history = pd.DataFrame({"epoch": epochs}).reindex(columns=list(HISTORY_COLUMNS))
    history.assign(validation_relative_l2=errors.mean() / epochs).to_csv(folder / "history.csv", index=False)
    cost = CostRecord(
        resolution=RESOLUTION, seed=seed, config_hash=model, status="finished", diverged_epoch=None,
        epochs=100, steps=12_800, best_epoch=97, best_validation_relative_l2=float(errors.mean()),
        best_test_epoch=None, best_test_relative_l2=None, parameters=530_305, parameters_complex_once=530_305,
        forward_flop=None, train_seconds=1800.0, seconds_per_step=0.14, peak_memory_bytes=10**9,
        device="one core", processes=1, threads=1, micro_batch_size=8,
    )  # fmt: skip
    record = RunRecord(
        resolution=RESOLUTION, seed=seed, config_hash=model, experiment=experiment, model=model,
        label=f"A model with a name, {model}", architecture="synthetic", settings={}, grids="stored", grid={},
        coarse_points=None, test_resolutions=[RESOLUTION], test_noise=[0.0], noise_realisations=1,
        dataset="synthetic", dataset_settings={"equation": "synthetic"}, dataset_hash="synthetic",
        training={}, code_versions={}, versions={},
        files=file_digests(folder, ("errors.csv", "history.csv")),
    )  # fmt: skip
    write_record(folder / "cost.json", cost)
    write_record(folder / "run.json", record)


if __name__ == "__main__":
    if find_spec("playwright") is None or not Path(CHROMIUM).exists():
        sys.exit(f"needs the package playwright (`pip install playwright`) and Chromium as {CHROMIUM}")
    sizes = {"experiments": 10, "models": 10, "seeds": 5}
    options = {name: {"type": int, "default": default} for name, default in sizes.items()}
    parts = {"front_page": Part("Front page", front_page, ("playwright", "jinja2"))}
    run("pages", parts, rounds=5, **options)
