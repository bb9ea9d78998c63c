"""Sources of the items of papers, by the names of their parameters."""

from collections.abc import Callable

from resolvent.figures.common.comparison import read_comparison
from resolvent.figures.common.results import choose_shown, read_arrays, read_runs
from resolvent.figures.papers.items import RUN_FILES

# Another source is `cost_file`, the CSV of measured costs, which does not come from an experiment.
READERS: dict[str, Callable] = {
    "experiments": lambda run_folders: [read_runs(folders) for folders in run_folders],
    "comparisons": lambda comparison_files: [read_comparison(file) for file in comparison_files],
    # The shown run of each experiment, or of the only experiment.
    "each_shown": lambda candidates: [choose_shown(folders) for folders in candidates],
    "shown": lambda each_shown: each_shown[0],
    # Files in the run folders of the only experiment.
    "latent_basis": lambda shown: read_arrays(shown.run.directory / RUN_FILES["latent_basis"]),
    "facts": lambda planned_facts, shown_words: planned_facts | {"shown": shown_words},
    "shown_words": lambda each_shown: "; ".join(dict.fromkeys(choice.words for choice in each_shown)),
}
