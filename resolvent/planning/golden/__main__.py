"""Make the golden numbers of all versions, and the table of the release.

    python -m resolvent.planning.golden             make what is missing in tests/golden, compare what is
                                                    edited, and write versions.json
    python -m resolvent.planning.golden PART …      compare only these parts
    python -m resolvent.planning.golden --all       compare all parts

Run it after raising a version. If the numbers of a part moved and its version did not, it ends with one line
for each such part, and writes nothing for it. To replace the numbers of a version that no release has, delete
their file first.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # numbers of other devices differ by more than the tolerance

from resolvent.models.registry import ARCHITECTURES, missing_packages
from resolvent.planning.edits import TABLE, changed_modules, digest_of, files_behind, sha256_of, table
from resolvent.planning.golden.files import (
    COMMAND,
    content_of,
    digest_of_numbers,
    file_of_version,
    shift_of,
    version_of,
    write,
)
from resolvent.planning.job import keep_compiled
from resolvent.planning.versions import PARTS, modules_of


def main(arguments: list[str]) -> int:
    keep_compiled()
    if arguments[:1] == ["--edited"]:
        with redirect_stdout(sys.stderr):
            facts = {part: facts_of(part) for part in arguments[1:]}
        print(json.dumps(facts))
        return 0
    parts = list(PARTS) if arguments == ["--all"] else arguments
    if unknown := set(parts) - set(PARTS):
        print(f"unknown part {', '.join(sorted(unknown))}; accepted: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    moved = [line for part in parts or filter(is_due, PARTS) if (line := made(part))]
    if not moved and arguments in ([], ["--all"]):
        write_table()
    print(*moved, sep="\n", file=sys.stderr)
    return 1 if moved else 0


def is_due(part: str) -> bool:
    """Return whether a part has no file of its version, or files that are not those of the table."""
    try:
        known = file_of_version(part, version_of(part)).exists() and part in table()["versions"]
        return not known or bool(changed_modules() & files_behind(*modules_of(part)).keys())
    except FileNotFoundError:  # there is no table yet
        return True


def made(part: str) -> str:
    """Compare a part with its file, which is made if it is missing; return a line if its numbers moved."""
    if part in ARCHITECTURES and (missing := missing_packages(part)):
        print(f"{part}: left as it is ({missing})", file=sys.stderr)
        return ""
    version = version_of(part)
    content = content_of(part)
    try:
        shift = shift_of(part, version, content)
    except FileNotFoundError:
        write(part, version, content)
        print(f"{file_of_version(part, version).name}: written")
        return ""
    if not shift:
        print(f"{file_of_version(part, version).name}: agrees")
        return ""
    return f"the numbers of {part}: {shift}: raise its version and run `{COMMAND}`, or mend"


def facts_of(part: str) -> dict[str, int | str]:
    """Return version and shift of an edited part, as for `resolvent.planning.edits.edited`."""
    before = table()["versions"].get(part)
    try:
        version = version_of(part)
        if version != before:
            return {"version": version, "shift": f"its version was {before}" if before else "it is new"}
        content = content_of(part)
        shift = shift_of(part, version, content)
        edit = digest_of_numbers(part, content)
    except Exception as error:  # edited code may raise anything: the jobs that use it will say what
        reason = " ".join(str(error).split())[:200]
        shift = f"its numbers cannot be computed ({type(error).__name__}: {reason})"
        version, edit = before or 1, digest_of(files_behind(*modules_of(part)))[:8]
    return {"version": f"{version}+edited-{edit}" if shift else version, "shift": shift}


def write_table() -> None:
    files: dict[str, Path] = {}
    for part in PARTS:
        files |= files_behind(*modules_of(part))
    versions = {part: version_of(part) for part in sorted(PARTS)}
    hashes = {module: sha256_of(files[module]) for module in sorted(files)}
    TABLE.write_text(json.dumps({"versions": versions, "files": hashes}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
