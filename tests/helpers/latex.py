"""Documents that a real LaTeX sets."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

DOCUMENT = r"""
\documentclass{article}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


def has_latex() -> bool:
    """Return whether there is a LaTeX with the package that tables need."""
    if shutil.which("pdflatex") is None:
        return False
    return subprocess.run(["kpsewhich", "booktabs.sty"], stdout=subprocess.DEVNULL).returncode == 0


def complaints(content: str, folder: Path) -> list[str]:
    """Set `content` in a plain document, in `folder`; return the errors, and the signs that no font has.

    Skips the test, in one line, where there is no LaTeX.
    """
    if not has_latex():
        pytest.skip(
            "the tables were not compiled: no pdflatex with booktabs (Debian: texlive-latex-recommended)"
        )
    (folder / "document.tex").write_text(DOCUMENT % content, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-draftmode", "document.tex"]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL)
    log = (folder / "document.log").read_text(encoding="utf-8", errors="replace")
    return re.findall("^!.*|^Missing character.*", log, re.MULTILINE)
