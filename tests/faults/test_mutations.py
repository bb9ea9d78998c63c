"""Every file of a finished study with a byte, line or key changed: refused in one line, or no number differs.

FAULT_MUTATIONS is how many are injected, FAULT_SEED draws others, and FAULT_STUDY is the folder of a finished
study to read (with `data` and `results` in it) in the place of the small one.
"""

import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from mutations import KINDS, mutated, plain

from resolvent.common.errors import ResolventError

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600), pytest.mark.filterwarnings("ignore")]
COUNT = int(os.environ.get("FAULT_MUTATIONS", "500"))
SEED = int(os.environ.get("FAULT_SEED", "0"))
LARGEST = 2**22  # bytes of a file: larger ones only take longer
REMEDIES = ("snakemake", "export")


@pytest.fixture(scope="module")
def study(request, tmp_path_factory):
    if folder := os.environ.get("FAULT_STUDY"):
        source = Path(folder)
    else:
        source = request.getfixturevalue("undisturbed")[1]
    copy = tmp_path_factory.mktemp("mutations")
    for name in ("data", "results"):
        shutil.copytree(source / name, copy / name, symlinks=True)
    return copy


def outcome(kind, file, whole, words):
    """Return how a changed file was read: `refused`, `harmless`, or what is wrong with that."""
    try:
        found = plain(kind.read(file))
    except ResolventError as error:
        said = str(error)
        named = any(part in said for part in words)
        if "\n" in said or not named or not any(word in said for word in REMEDIES):
            return f"refused in other words: {said}"
        return "refused"
    except Exception as error:  # what must not happen
        return f"{type(error).__name__}: {error}"
    return "harmless" if found == whole else "silently wrong"


def names_in(study, file):
    """Return what a message may call a file: its path, or that of the store, run or experiment it is of."""
    found = [str(file)]
    for folder in file.parents:
        if folder.suffix in (".zarr", ".shards"):
            found += [str(folder.with_suffix(".zarr")), str(folder.with_suffix(".json"))]
    if "data" in file.relative_to(study).parts:
        found.append(str(file.with_suffix(".zarr")))
    if file.name in ("run.json", "cost.json"):  # where both disagree, it may be either
        found.append(str(file.parent))
    return found


def test_a_changed_file_is_refused_or_gives_the_same_numbers(study, fault):
    draw, counts, bad = random.Random(SEED), Counter(), []
    files = {kind: [one for one in sorted(study.glob(kind.pattern)) if one.is_file()] for kind in KINDS}
    files = {kind: [one for one in found if one.stat().st_size < LARGEST] for kind, found in files.items()}
    kinds, whole = [kind for kind, found in files.items() if found], {}
    while counts.total() < COUNT:
        kind = kinds[counts.total() % len(kinds)]
        file, how = draw.choice(files[kind]), draw.choice(kind.mutations)
        content = file.read_bytes()
        if (changed := mutated(content, how, draw, file) if content else None) is None:
            continue
        if (kind, file) not in whole:
            whole[kind, file] = plain(kind.read(file))
        file.write_bytes(changed)
        try:
            result = outcome(kind, file, whole[kind, file], names_in(study, file))
        finally:
            file.write_bytes(content)
        if changed == content:
            assert result == "harmless"
            continue
        fault(f"{how} of {kind.name}")
        known = result if result in ("refused", "harmless") else result.partition(":")[0]
        counts[known] += 1
        if known not in ("refused", "harmless"):
            bad.append(f"{how} of {file.relative_to(study)}: {result}")
    print(f"\n{counts.total()} mutations of {len(kinds)} kinds of files: {dict(counts)}")
    assert not bad, f"{dict(counts)}\n" + "\n".join(bad)
