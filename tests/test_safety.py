"""No input is executed: neither a file of results, nor a store, nor YAML."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("solvers", "models", "resolvent", "workflow", "benchmarks")
RULES = [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
# Modules that execute what they read.
NEVER_IMPORTED = {"dill", "cloudpickle", "joblib", "shelve", "marshal", "jsonpickle"}
# Calls that execute what they are given, whatever their arguments.
NEVER_CALLED = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.load", "pickle.loads",
    "pickle.Unpickler", "yaml.load", "yaml.load_all", "yaml.full_load", "yaml.unsafe_load",
    "yaml.unsafe_load_all", "pandas.read_pickle", "pd.read_pickle", "torch.hub.load", "torch.jit.load",
}  # fmt: skip
# Calls that do not, if this argument is what it has to be: given so, or absent where that is the default.
ARGUMENTS = {
    "torch.load": ("weights_only", True, False),
    "np.load": ("allow_pickle", False, True),
    "numpy.load": ("allow_pickle", False, True),
    **{f"subprocess.{name}": ("shell", False, True) for name in ("run", "Popen", "call", "check_output")},
    "subprocess.check_call": ("shell", False, True),
}


def dangers(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            found += [f"{node.lineno}: {name}" for name in names if name.partition(".")[0] in NEVER_IMPORTED]
            if isinstance(node, ast.ImportFrom):  # a bare name would hide the call below
                calls = {f"{node.module}.{alias.name}" for alias in node.names}
                found += [f"{node.lineno}: {call}" for call in calls & (NEVER_CALLED | ARGUMENTS.keys())]
        elif isinstance(node, ast.Call):
            call = ast.unparse(node.func)
            if call in NEVER_CALLED or (call in ARGUMENTS and not _harmless(node, *ARGUMENTS[call])):
                found.append(f"{node.lineno}: {call}")
    return found


def _harmless(call: ast.Call, argument: str, wanted: object, by_default: bool) -> bool:
    for keyword in call.keywords:
        if keyword.arg is None:
            return False  # **keywords can be anything
        if keyword.arg == argument:
            return ast.unparse(keyword.value).rpartition(".")[2] == str(wanted)
    return by_default


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_executes_its_inputs(room):
    files = list((ROOT / room).rglob("*.py"))
    assert files
    assert {str(path): found for path in files if (found := dangers(path.read_text()))} == {}


def test_no_rule_executes_its_inputs():
    words = re.compile(r"\b(?:eval\(|exec\(|pickle|yaml\.load|os\.system|torch\.load|shell=True)")
    assert {str(path): found for path in RULES if (found := words.findall(path.read_text()))} == {}


DANGERS = (
    "torch.load(path)", "torch.load(path, weights_only=False)", "torch.load(path, weights_only=trusted)",
    "torch.load(path, **options)", "np.load(path, allow_pickle=True)", "pickle.loads(content)",
    "yaml.load(text, Loader=yaml.SafeLoader)", "yaml.unsafe_load(text)", "from pickle import loads",
    "from torch import load", "import dill", "from joblib import load as read", "eval(text)",
    "subprocess.run(words, shell=True)", "subprocess.Popen(words, shell=on_windows)", "os.system(command)",
)  # fmt: skip
SAFE = (
    "torch.load(path, map_location='cpu', weights_only=True)", "np.load(path)",
    "np.load(path, allow_pickle=False)", "yaml.safe_load(text)", "operator.eval()",
    "subprocess.run(words, check=True)",
)  # fmt: skip


def test_a_danger_would_be_found_and_what_is_safe_is_none():
    assert [source for source in DANGERS if not dangers(source)] == []
    assert [source for source in SAFE if dangers(source)] == []
