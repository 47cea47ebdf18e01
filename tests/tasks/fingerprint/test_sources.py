"""Our sources' hashes depend on what determines their tasks, and on nothing else.

A copy of the package, laid out as an installer would, is edited and hashed by fresh processes.
"""

import ast
import compileall
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from hexathlon.tasks.registry import get_source

SOURCE = Path(__file__).resolve().parents[3] / "src"
BUNDLED = (
    "sql", "chinook", "dbbench", "roleplay", "roleplay-shift", "shopping", "terminal", "web",
)  # fmt: skip

HASHES = """
import json, sys
from hexathlon.tasks.registry import get_source
print(json.dumps({name: get_source(name).fingerprint() for name in sys.argv[1:]}))
"""


def run(code: str, *arguments: str, path: Path) -> str:
    """Run code whose first argument is the directory to import the package from."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", f"{IMPORT_FROM}{code}", str(path), *arguments],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


IMPORT_FROM = """
import sys
folder = sys.argv.pop(1)
sys.path.insert(0, folder)
import hexathlon
assert hexathlon.__file__.startswith(folder), hexathlon.__file__
"""


def hashes(path: Path, *names: str) -> dict[str, str]:
    return json.loads(run(HASHES, *(names or BUNDLED), path=path))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory to import from, with real files where the checkout has links.

    Bytecode is kept and checked by content, so that edits within a second are noticed.
    """
    site = tmp_path_factory.mktemp("site")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE / "hexathlon", site / "hexathlon", ignore=ignored)
    by_content = PycInvalidationMode.CHECKED_HASH
    assert compileall.compile_dir(site / "hexathlon/tasks", quiet=1, invalidation_mode=by_content)
    return site


@pytest.fixture(scope="module")
def original(installed: Path) -> dict[str, str]:
    return hashes(installed)


@pytest.fixture
def edit(installed: Path):
    """Edit files of the copy; they are restored when the test ends."""
    kept: dict[Path, bytes] = {}

    def change(name: str, how: Callable[[str], str]) -> None:
        path = installed / "hexathlon" / name
        kept.setdefault(path, path.read_bytes())
        text = path.read_text("utf-8")
        path.write_text(how(text), "utf-8")
        assert path.read_text("utf-8") != text

    yield change
    for path, content in kept.items():
        path.write_bytes(content)


def test_checkout_and_installed_package_have_the_same_hashes(original):
    assert original == {name: get_source(name).fingerprint() for name in BUNDLED}
    assert len(set(original.values())) == len(BUNDLED)


WRITTEN_OUT = ("tasks/terminal/check_source.py", "tasks/terminal/judging.py")
"""Files that are data as well: tasks contain them, comments included."""


def test_comments_docstrings_and_formatting_leave_it(installed, original, edit):
    root = installed / "hexathlon"
    for path in sorted((root / "tasks").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name not in WRITTEN_OUT and path.stat().st_size:
            edit(name, lambda text: f"# A comment.\n{ast.unparse(reworded(ast.parse(text)))}\n")
    assert hashes(installed) == original


def reworded(tree: ast.Module) -> ast.Module:
    """Replace docstrings of modules, classes, functions and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(f"Reworded: {node.value.value}")
    return tree


@pytest.mark.parametrize(
    ("name", "old", "new", "moved"),
    [
        ("tasks/seeding.py", "digest[:8]", "digest[1:9]", set(BUNDLED)),
        ("tasks/sql/english.py", '"an"', '"a n"', {"sql"}),
        ("tasks/sql/templates/windows.py", '"hard": 2', '"hard": 3', {"sql"}),
        ("tasks/sql/data/chinook.toml", "artist", "Artist", {"chinook"}),
        ("tasks/roleplay/settings/abbey.toml", "a", "e", {"roleplay", "roleplay-shift"}),
        ("tasks/catalogue/goods/tea.txt", "e", "a", {"shopping", "web"}),
        ("tasks/web/world/sites/bank/content.py", "rng.integers(10, 99)", "7", {"web"}),
        ("tasks/terminal/templates/logs.py", "Asia/Tokyo", "Asia/Seoul", {"terminal"}),
        ("tasks/terminal/judging.py", '"""', '"""Reworded. ', {"terminal"}),
    ],
)
def test_a_change_moves_the_sources_that_it_reaches(
    name, old, new, moved, installed, original, edit
):
    edit(name, lambda text: text.replace(old, new, 1))
    looked_at = {"dbbench", "roleplay", *moved}
    now = hashes(installed, *looked_at)
    assert {source for source in looked_at if now[source] != original[source]} == moved


def test_modules_that_no_source_imports_move_none(installed, original, edit):
    edit("tasks/registry.py", lambda text: text.replace('"bird":', '"bard":'))
    edit("tasks/fingerprint/code.py", lambda text: text.replace("ascii(value)", "(ascii(value))"))
    edit("tasks/taskset.py", lambda text: text.replace("_CACHED_TASKS = 256", "_CACHED_TASKS = 9"))
    edit("tasks/sql/world/backends/postgres.py", lambda text: f"{text}\nx = 1\n")
    edit("envs/base.py", lambda text: f"{text}\nx = 1\n")
    assert hashes(installed) == original


BUILT = """
import json, sys
from pathlib import Path
import hexathlon
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import TaskSet

root = Path(hexathlon.__file__).parent
before, opened = set(sys.modules), set()

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, Path)):
        opened.add(Path(arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]))

sys.addaudithook(note)
source = get_source(sys.argv[1])
tasks = TaskSet(source, "test")
for index in range(int(sys.argv[2])):
    source.oracle(tasks[index])
inside = [path.relative_to(root) for path in opened if path.is_relative_to(root)]
files = sorted(path.as_posix() for path in inside if path.suffix not in (".py", ".pyc"))
loaded = sorted(name for name in set(sys.modules) - before if name.startswith("hexathlon."))

from hexathlon.tasks.fingerprint import declared_files
from hexathlon.tasks.fingerprint.modules import deciding_modules
modules = (type(source).__module__, *source.late_modules)
print(json.dumps({
    "files": [name for name in files if "__pycache__" not in name],
    "declared": list(declared_files(modules[0], source.data_files())),
    "loaded": loaded,
    "deciding": list(deciding_modules(modules)),
}))
"""
TASKS = {"sql": 12, "terminal": 24, "shopping": 8}
UNDECIDING = re.compile(r"hexathlon\.tasks\.(cache|fingerprint|registry|stored|taskset)\b")


@pytest.mark.parametrize("name", BUNDLED)
def test_files_and_modules_used_to_build_tasks_are_declared(name, installed):
    """Scripts are made, not played: imports at run time determine no task."""
    built = json.loads(run(BUILT, name, str(TASKS.get(name, 30)), path=installed))
    assert set(built["files"]) <= set(built["declared"])
    assert {m for m in built["loaded"] if not UNDECIDING.match(m)} <= set(built["deciding"])


def test_only_sources_with_data_declare_files():
    assert not get_source("sql").data_files()
    assert {name for name in BUNDLED if get_source(name).data_files()} == set(BUNDLED) - {"sql"}
