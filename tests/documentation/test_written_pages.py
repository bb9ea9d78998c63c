"""Parts of pages: replaced where they belong, and left where nothing is known."""

import pytest

from resolvent.documentation.pages import Part, table

PAGE = "# Title\n\n<!-- errors:begin -->\nold\n<!-- errors:end -->\n\nThe end.\n"


@pytest.fixture
def page(tmp_path):
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path / "page.md"


def test_a_part_is_written_between_its_comments(page):
    Part("page.md", lambda: "new", "errors").write(page.parent)
    assert page.read_text() == PAGE.replace("old", "new")
    Part("page.md", lambda: "whole\n").write(page.parent)
    assert page.read_text() == "whole\n"


def test_without_what_it_is_made_from_the_page_stays_and_the_command_is_named(page, capsys):
    Part("page.md", lambda: None, "errors", "make runs").write(page.parent)
    assert page.read_text() == PAGE
    assert "`make runs`" in capsys.readouterr().out


def test_a_page_without_the_comments_is_refused(page):
    with pytest.raises(ValueError, match=r"page\.md: put <!-- others:begin --> and <!-- others:end -->"):
        Part("page.md", lambda: "new", "others").write(page.parent)
    assert page.read_text() == PAGE


def test_a_bar_in_a_cell_does_not_end_it():
    assert table(("k", "value"), [("|k|", "1")]) == "| k | value |\n|---|---|\n| \\|k\\| | 1 |"
