"""Words: plain English of the field in code, documentation, messages and pages."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("solvers", "models", "resolvent", "workflow", "config", "docs", "tests", "benchmarks")
ENDINGS = {".py", ".smk", ".md", ".yaml", ".j2", ".css", ".js", ".toml"}
# A word that only we used, and what a reader expects.
FORMER = {
    r"yardsticks?": "baseline",
    r"truth[ _-]budgets?": "error budget",
    r"foresee[ns]?|foresaw|foresight": "predict",
    r"at[ _]home": "on the training grid",
    r"seal(s|ed|ing)?": "finalise",
    r"(initial_|_)?laws?": "distribution",
    r"standings?": "how a row compares with the best",
    r"tell[s]?|told|telling": "report, say",
    r"faults? of (a|the) configuration": "error",
}
# Set terms of physics and of the library's users, in which a former word stands rightly.
RIGHT = re.compile(
    r"conservation laws?|energy[ _]law|power[ _]laws?|standing wave|long-standing|tell apart|told apart"
)
# fmt: off
PREPOSITIONS = {
    "about", "above", "across", "after", "against", "along", "among", "around", "as", "at", "before",
    "behind", "below", "beneath", "beside", "between", "beyond", "by", "down", "during", "except",
    "for", "from", "in", "inside", "into", "like", "of", "off", "on", "onto", "out", "outside", "over",
    "past", "per", "since", "through", "to", "toward", "towards", "under", "until", "up", "upon", "via",
    "with", "within", "without",
}
# fmt: on


def texts() -> list[Path]:
    found = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.suffix in ENDINGS]
    found += [ROOT / name for name in ("README.md", "Snakefile", "config.yaml", "Makefile", "pyproject.toml")]
    return [file for file in found if file != Path(__file__).resolve() and "__pycache__" not in file.parts]


def test_private_words_are_not_used():
    def alone(words: str) -> re.Pattern:
        return re.compile(rf"(?<![a-zA-Z])({words})(?![a-zA-Z])", re.IGNORECASE)

    any_of_them, patterns = alone("|".join(FORMER)), {alone(former): former for former in FORMER}
    found = [
        f"{file.relative_to(ROOT)}:{number}: say '{FORMER[former]}': {line.strip()[:100]}"
        for file in texts()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if any_of_them.search(line)
        for pattern, former in patterns.items()
        if pattern.search(RIGHT.sub("", line))
    ]
    assert not found, "\n".join(found)


def test_no_docstring_begins_with_a_preposition():
    kinds, found = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module), []
    for file in (file for file in texts() if file.suffix == ".py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            words = (
                re.findall(r"[A-Za-z-]+", ast.get_docstring(node) or "") if isinstance(node, kinds) else []
            )
            if words and words[0].lower() in PREPOSITIONS:
                place = f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
                found.append(f"{place}: {' '.join(words[:6])}")
    assert not found, "\n".join(found)
