"""What tables say, set by a real LaTeX."""

import string

import yaml
from latex import complaints
from pipeline_project import ROOT

from resolvent.figures.common.table import MATHEMATICS, SPECIAL, Cell, Column, Table, as_latex, latex_text

ACCENTED = "äöüßéèêàçñåøæœłžščřÄÖÜÉØÅ"


def labels(settings):
    """List every label of a configuration, however deep."""
    if isinstance(settings, list):
        return [label for one in settings for label in labels(one)]
    if not isinstance(settings, dict):
        return []
    own = [str(settings["label"])] if "label" in settings else []
    return own + [label for one in settings.values() for label in labels(one)]


def one_row(*texts):
    columns = [Column(head=text, group=text) for text in texts]
    return Table(columns, [[Cell(text) for text in texts]], [], texts[0], texts[0])


def test_every_shipped_label_is_set(tmp_path):
    files = [ROOT / "config.yaml", *sorted((ROOT / "config").glob("**/*.yaml"))]
    found = [label for file in files for label in labels(yaml.safe_load(file.read_text()))]
    assert len(found) > 20
    assert complaints("\n\n".join(map(latex_text, found)), tmp_path) == []


def test_every_sign_is_set(tmp_path):
    signs = [*string.printable.strip(), *SPECIAL, *MATHEMATICS, "⁻¹²", "₀₁", *ACCENTED, "–", "…"]
    assert complaints("\n\n".join(latex_text(sign) for sign in signs), tmp_path) == []


def test_tables_of_awkward_texts_are_set(tmp_path):
    texts = ["[a]", r"\input{x}", "a & b", "100 % of ν ≤ 1e-3", "x^2_1 ~ {y}", "$#"]
    tables = [table for text in texts for table in (one_row("model", text), one_row(text, "error"))]
    assert complaints("\n".join(map(as_latex, tables)), tmp_path) == []


def test_a_broken_table_is_noticed(tmp_path):
    assert complaints(r"\begin{tabular}{l} a & b \\ \end{tabular}", tmp_path)
