"""Races of our solvers against their peers, into docs/performance.md.

    python -m benchmarks.solvers [--only burgers darcy ...] [--rounds 3] [--output docs/performance.md]

Needs the extra `bench`. Takes about ten minutes on two cores, and a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from tqdm import tqdm

from benchmarks.solvers.race import Race, Result, run_race
from benchmarks.tables import digits, machine, replaced_part, table, versions

TOPICS = {
    "burgers": "Burgers",
    "darcy": "Darcy",
    "ode": "Ordinary differential equations",
    "kolmogorov": "Kolmogorov flow",
    "fields": "Random fields",
}
HEADER = (
    "contestant (ours in bold)",
    "setting",
    "samples",
    "ms a sample: median (fastest–slowest)",
    "largest error",
    "our speed-up",
)
INTRODUCTION = """\
## Solvers

Contestants solve the same samples in interleaved rounds; errors are relative L² against a reference that
no run here made (a race says which), largest over the samples. "Our speed-up" is the time of a contestant
over that of the first, which is ours. The machine may be shared: read the ratios.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Race our solvers against their peers.")
    parser.add_argument("--only", nargs="+", choices=TOPICS, default=list(TOPICS), metavar="TOPIC")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds of each race")
    parser.add_argument("--output", type=Path, help="write the tables into this Markdown page")
    arguments = parser.parse_args()

    for topic in tqdm(arguments.only, desc="topics"):
        section = f"### {TOPICS[topic]}\n\n{race_topic(topic, arguments.rounds)}"
        tqdm.write(section)
        if arguments.output:  # after every topic: one that fails loses none before it
            page = arguments.output.read_text()
            page = replaced_part(page, "solvers", INTRODUCTION, list(TOPICS), topic, section)
            arguments.output.write_text(page)


def race_topic(topic: str, rounds: int) -> str:
    """Measure the races of a topic: their tables, and what they were measured with."""
    module = import_module(f"benchmarks.solvers.{topic}")
    tables = [
        described(race, run_race(race, rounds))
        for race in tqdm(module.races(), desc=topic, unit="race", leave=False)
    ]
    command = f"`python -m benchmarks.solvers --only {topic} --rounds {rounds}`"
    measured_with = f"{command} on {machine()}; {versions(module.PACKAGES)}."
    return "\n\n".join([module.REMARK, *tables, measured_with])


def described(race: Race, results: list[Result]) -> str:
    """A race as Markdown."""
    parts = [
        f"#### {race.title}",
        table(HEADER, [row(result, results[0].milliseconds) for result in results]),
        *([f"Rounds: {race.most_rounds}."] if race.most_rounds else []),
        *(f"Not raced: {peer}." for peer in race.missing),
    ]
    return "\n\n".join(parts)


def row(result: Result, ours: float) -> tuple[str, ...]:
    contestant = result.contestant
    span = f"{digits(result.milliseconds)} ({digits(result.fastest)}–{digits(result.slowest)})"
    name = f"**{contestant.name}**" if contestant.ours else contestant.name
    speed_up = digits(result.milliseconds / ours)
    return name, contestant.note, f"{contestant.samples:,}", span, f"{result.error:.1e}", speed_up


if __name__ == "__main__":
    main()
