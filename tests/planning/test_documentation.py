"""Pages that a command writes are in step with the code."""

from resolvent.documentation.write import ROOT, configuration_page


def test_the_configuration_page_is_in_step_with_the_settings():
    assert (ROOT / "docs/configuration.md").read_text(encoding="utf-8") == configuration_page(), (
        "run `make docs`"
    )
