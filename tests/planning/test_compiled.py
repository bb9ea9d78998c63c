"""What JAX compiles is kept by kind of processor, and the user's own folder is respected."""

import os
import platform

import pytest

from resolvent.planning import job

FOLDER = "JAX_COMPILATION_CACHE_DIR"


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FOLDER, "of the user")  # so that it is set back
    return tmp_path


def test_another_processor_has_another_folder(monkeypatch, working_folder):
    folders = []
    for name in (platform.processor(), "another"):
        monkeypatch.setattr("platform.processor", lambda name=name: name)
        monkeypatch.delenv(FOLDER)
        job.keep_compiled()
        folders.append(os.environ[FOLDER])
    assert len(set(folders)) == 2
    assert all(folder.startswith(f"{working_folder}/.snakemake/compiled/") for folder in folders)


def test_the_users_folder_stays():
    job.keep_compiled()
    assert os.environ[FOLDER] == "of the user"
