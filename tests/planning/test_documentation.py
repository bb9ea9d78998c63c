"""Pages that a command writes are in step with the code."""

from resolvent.documentation.house import house, imports_between_rooms, without_implied
from resolvent.documentation.write import ROOT, configuration_page


def test_the_configuration_page_is_in_step_with_the_settings():
    assert (ROOT / "docs/configuration.md").read_text(encoding="utf-8") == configuration_page(), (
        "run `make docs`"
    )


def test_the_picture_of_the_house_is_in_step_with_the_imports():
    assert (ROOT / "docs/images/house.svg").read_text(encoding="utf-8") == house(), "run `make docs`"


def test_an_arrow_that_follows_from_others_is_left_out():
    assert without_implied({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_the_picture_has_the_imports_of_every_room():
    arrows = imports_between_rooms()
    assert arrows["datasets"] == {"common", "solvers"}
    assert set(arrows) == {file.name for file in (ROOT / "resolvent").iterdir() if file.is_dir()} - {
        "__pycache__"
    }
