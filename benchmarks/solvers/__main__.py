"""Races of our solvers against their peers, into docs/performance.md.

    python -m benchmarks.solvers [--only burgers darcy ...] [--rounds 3] [--processor-time]

Needs the extra `bench`. Takes about ten minutes on two cores, and a machine with nothing else to do.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from time import perf_counter, process_time

import jax
from tqdm import tqdm

from benchmarks.solvers.race import Race, Result, run_race
from benchmarks.tables import arguments, digits, machine, measure_parts, table, versions

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
    "limit, ms (its share of our time)",
)
INTRODUCTION = """\
## Solvers

Contestants solve the same samples in interleaved rounds; errors are relative L² against a reference that
no run here made (a race says which), largest over the samples. "Our speed-up" is the time of a contestant
over that of the first, which is ours. "Limit" is what our method cannot do without, timed in the same
rounds: its transforms alone by SciPy's FFT, or its traffic of memory alone by NumPy's copies. Where it is
near 100 % of our time, only another method would be faster; above 100 % ours transforms or moves less than
the library does. The machine may be shared: read the ratios.
"""


def main() -> None:
    jax.config.update("jax_enable_x64", True)  # our solvers see to it themselves, peers do not
    parser = arguments("Race our solvers against their peers.", TOPICS, rounds=3)
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="measure the processor's time, of all threads together: for a busy machine",
    )
    options = parser.parse_args()
    parts = {topic: partial(race_topic, topic, options.rounds, options.processor_time) for topic in TOPICS}
    measure_parts("solvers", INTRODUCTION, parts, options.only, options.output)


def race_topic(topic: str, rounds: int, processor_time: bool) -> str:
    """Measure the races of a topic: title, tables, and what they were measured with."""
    module = import_module(f"benchmarks.solvers.{topic}")
    tables = [
        described(race, run_race(race, rounds, process_time if processor_time else perf_counter))
        for race in tqdm(module.races(), desc=topic, unit="race", leave=False)
    ]
    option = " --processor-time" if processor_time else ""
    command = f"`python -m benchmarks.solvers --only {topic} --rounds {rounds}{option}`"
    measured_with = f"{command} on {machine()}; {versions(module.PACKAGES)}."
    return "\n\n".join([f"### {TOPICS[topic]}", module.REMARK, *tables, measured_with])


def described(race: Race, results: list[Result]) -> str:
    """A race as Markdown."""
    parts = [
        f"#### {race.title}",
        table(HEADER, [row(result, results[0].times.middle) for result in results]),
        *([f"Rounds: {race.most_rounds}."] if race.most_rounds else []),
        *(f"Not raced: {peer}." for peer in race.missing),
    ]
    return "\n\n".join(parts)


def row(result: Result, ours: float) -> tuple[str, ...]:
    contestant = result.contestant
    name = f"**{contestant.name}**" if contestant.ours else contestant.name
    speed_up = digits(result.times.middle / ours)
    share = result.limit.middle / result.times.middle if result.limit else 0
    return (
        name,
        contestant.note,
        f"{contestant.samples:,}",
        str(result.times),
        f"{result.error:.1e}",
        speed_up,
        "" if result.limit is None else f"{digits(result.limit.middle)} ({share:.0%})",
    )


if __name__ == "__main__":
    main()
