"""What the failure tests share: a project built without any disturbance, and the count of faults."""

import shutil
from collections import Counter

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


@pytest.fixture
def fault(record_property):
    """Call it with the kind of a fault that was injected; it is survived if the test passes."""
    return lambda kind: record_property("fault", kind)


def pytest_terminal_summary(terminalreporter):
    injected, survived = Counter(), Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            kinds = [value for name, value in report.user_properties if name == "fault"]
            injected.update(kinds)
            survived.update(kinds if outcome == "passed" else [])
    if injected:
        terminalreporter.section("faults survived / injected")
        for kind, count in sorted(injected.items()):
            terminalreporter.write_line(f"{survived[kind]:4} / {count:<4} {kind}")
        terminalreporter.write_line(
            f"{survived.total():4} / {injected.total():<4} faults survived / injected"
        )
