"""What the failure tests share: a project built without any disturbance."""

import shutil

import pytest
from small_pipeline import SmallPipeline


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """What the small pipeline makes when nothing goes wrong, and a copy of its folder to start from."""
    project = SmallPipeline(tmp_path_factory.mktemp("faults") / "project")
    project.build_undisturbed()
    return project, shutil.copytree(project.folder, project.folder.with_name("undisturbed"), symlinks=True)


@pytest.fixture
def project(undisturbed):
    """The undisturbed project, to break. It is always in the same folder, whose name pages depend on."""
    project, kept = undisturbed
    shutil.rmtree(project.folder)
    shutil.copytree(kept, project.folder, symlinks=True)
    return project
