"""One small dataset and one small trained run, in a working folder as a study leaves it."""

import pytest
from dataset_fixtures import copied_once
from training_fixtures import RUN, finished_run


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """Make a working folder with `data/burgers/burgers.json` and the run `RUN`."""
    folder = tmp_path_factory.mktemp("study")
    card = copied_once(tmp_path_factory, "burgers", folder / "data/burgers")
    finished_run(card, folder / RUN)
    return folder


@pytest.fixture
def here(study, monkeypatch):
    """Work in that folder, with lines of a hundred characters."""
    monkeypatch.chdir(study)
    monkeypatch.setenv("COLUMNS", "100")
    return study
