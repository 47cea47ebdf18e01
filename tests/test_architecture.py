"""The layers: imports run one way, there are no cycles, a bare import stays light."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("tasks", "evaluators", "envs", "baselines", "leaderboard")
FAMILIES = ("shopping", "sql", "terminal", "web", "gui", "roleplay")
HEAVY = ("sqlalchemy", "jinja2", "httpx", "rich", "typer", "duckdb", "psycopg", "torch", "ray")


BASELINES = (
    "interrupts", "kernels", "algorithms", "tokens", "codecs", "engines", "agents", "rollout",
    "harness", "gateway", "judging", "roleplay", "arena", "pipeline", "learner", "distributed",
    "warmstart",
    "training", "cluster", "sizing", "exchange", "programs", "bridges", "api",
)  # fmt: skip
"""The packages of `baselines/`: each imports only those listed before it."""


def modules() -> dict[str, Path]:
    """Every module of the package and of the command, by its dotted name."""
    folders = {layer: f"hexathlon.{layer}" for layer in LAYERS} | {
        "src/hexathlon_cli": "hexathlon_cli"
    }
    named = {}
    for folder, prefix in folders.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = (prefix, *path.relative_to(ROOT / folder).with_suffix("").parts)
            named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named | {"hexathlon": ROOT / "src" / "hexathlon" / "__init__.py"}


MODULES = modules()
PACKAGES = {name for name, path in MODULES.items() if path.name == "__init__.py"}


def imports(path: Path) -> set[str]:
    """Modules that a file imports, also inside functions and under `TYPE_CHECKING`."""
    targets: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                targets.add(inner if inner in MODULES else node.module)
    return targets


@cache
def all_imports() -> dict[str, set[str]]:
    """Module -> modules that it imports; read when a test asks, not in every collection."""
    return {name: imports(path) - {name} for name, path in MODULES.items()}


@cache
def own_imports() -> dict[str, set[str]]:
    """Module -> our own modules that it imports."""
    return {name: targets & MODULES.keys() for name, targets in all_imports().items()}


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of nodes that reach each other: strongly connected components of two and more."""
    reached = {node: reachable(graph, node) for node in graph}
    found: list[set[str]] = []
    for node in sorted(graph):
        circle = {other for other in reached[node] if node in reached[other]}
        if len(circle) > 1 and circle not in found:
            found.append(circle)
    return found


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for node in graph[waiting.pop()] - seen:
            seen.add(node)
            waiting.append(node)
    return seen


def rooms(package: str) -> dict[str, set[str]]:
    """The graph between a package's modules and subpackages, each subpackage as one node."""
    start = f"{package}."
    graph: dict[str, set[str]] = {}
    for name in MODULES:
        if name.startswith(start):
            room = name.removeprefix(start).partition(".")[0]
            inside = {t.removeprefix(start).partition(".")[0] for t in own_imports()[name]
                      if t.startswith(start)}  # fmt: skip
            graph[room] = graph.get(room, set()) | (inside - {room})
    return graph


def test_the_graph_sees_every_kind_of_import(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n"
        "    from hexathlon.tasks.task import Task\n"
        "def load():\n"
        "    from hexathlon.envs import base\n"
        "    import hexathlon.evaluators.verdict\n"
    )
    assert imports(path) == {
        "typing", "hexathlon.tasks.task", "hexathlon.envs.base", "hexathlon.evaluators.verdict",
    }  # fmt: skip


LAYERED = sorted(name for name in MODULES if name.startswith("hexathlon."))
"""Every module but those of the face: the command and `hexathlon` itself may import everything."""


def test_imports_run_one_way():
    wrong = []
    for name in LAYERED:
        layer = LAYERS.index(name.split(".")[1])
        for target in all_imports()[name]:
            package, *rest = target.split(".")
            if package == "hexathlon_cli":
                wrong.append(f"{name} imports the face")
            elif package == "hexathlon" and rest and rest[0] in LAYERS:
                if LAYERS.index(rest[0]) > layer:
                    wrong.append(f"{name} imports {target}, which stands right")
    assert len(LAYERED) > 1_000 and wrong == []


def test_a_family_never_imports_another():
    wrong = []
    for name in LAYERED:
        own = [part for part in name.split(".")[2:3] if part in FAMILIES]
        for target in all_imports()[name]:
            parts = target.split(".")
            if parts[0] == "hexathlon" and len(parts) > 2 and parts[2] in FAMILIES:
                # Registries name families as strings; only a family's own files import it.
                if parts[2] not in own:
                    wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_the_leaderboard_reads_records_without_the_baselines():
    pages = [name for name in MODULES if name.startswith("hexathlon.leaderboard")]
    reached = set().union(*(reachable(own_imports(), name) for name in pages))
    assert not [name for name in reached if name.startswith("hexathlon.baselines")]


def test_cycles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": {"e"}}
    assert cycles(graph) == [{"a", "b", "c"}]


def test_no_cycles_between_files():
    assert cycles(own_imports()) == []


def test_no_cycles_between_the_rooms_of_a_package():
    assert {name: cycles(rooms(name)) for name in PACKAGES if cycles(rooms(name))} == {}


def test_the_packages_of_the_baselines_import_one_way():
    graph = rooms("hexathlon.baselines")
    assert set(graph) == set(BASELINES)
    place = {name: number for number, name in enumerate(BASELINES)}
    back = [(a, b) for a in graph for b in graph[a] if place[b] >= place[a]]
    assert back == []


def test_the_readme_lists_the_imports_inside_the_baselines():
    rows = re.findall(r"^\| `(\w+)` \| (none|`.*`) \|$", (ROOT / "README.md").read_text(), re.M)
    listed = {name: set(re.findall(r"`(\w+)`", row)) for name, row in rows}
    graph = {a: targets - {"interrupts"} for a, targets in rooms("hexathlon.baselines").items()}
    assert listed == {a: graph[a] for a in BASELINES if a not in ("interrupts", "api")}
    assert list(listed) == [a for a in BASELINES if a in listed]


def types(path: Path) -> dict[str, str]:
    """The public classes and type aliases of a module, each with the source of its value."""
    named: dict[str, str] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            named[node.name] = f"class in {path}"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = ast.unparse(node.value)
            # A type variable means whatever its one function or class is given. A command's option
            # is named after its flag, even if other commands use the name differently.
            skipped = value.startswith("TypeVar(") or "typer.Option(" in value
            if re.match("[A-Z][a-z]", node.targets[0].id) and not skipped:
                named[node.targets[0].id] = value
    return {name: value for name, value in named.items() if not name.startswith("_")}


def test_types_are_classes_and_aliases(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "LIMIT = 3\n_Key = int\nItem = TypeVar('Item')\nRow = tuple[int, ...]\n"
        "class Table:\n    class Inner: ...\nclass _Cell: ...\n"
    )
    assert types(path) == {"Row": "tuple[int, ...]", "Table": f"class in {path}"}


def test_a_name_means_one_type_in_all_modules():
    meanings: dict[str, dict[str, list[str]]] = {}
    for module, path in MODULES.items():
        for name, value in types(path).items():
            meanings.setdefault(name, {}).setdefault(value, []).append(module)
    assert {name: found for name, found in meanings.items() if len(found) > 1} == {}


def test_every_package_says_what_it_does_and_what_it_does_not_know():
    for package in sorted(PACKAGES):
        opening = ast.get_docstring(ast.parse(MODULES[package].read_text("utf-8")))
        assert opening and len(opening.split("\n\n")) > 1, f"{package} says too little"


def test_a_bare_import_loads_nothing_heavy():
    code = "import sys, json, hexathlon; print(json.dumps(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(out.stdout)}
    assert loaded.isdisjoint(HEAVY), loaded.intersection(HEAVY)


def test_no_machine_paths_or_registry_hosts_are_tracked():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    # Split, so that this file does not find itself.
    suspects = [
        "/ro" + "ot/",
        "/wo" + "rk/",
        "pypi" + "-more",
        "index" + "-url",
        "file" + "s.pythonhosted",
    ]
    for name in out.stdout.split():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".sh", ""} and path.is_file():
            text = path.read_text(errors="replace")
            found = [word for word in suspects if word in text]
            assert not found, f"{name} holds {found}"


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = list(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        wanted.extend(extra)
    reasons = (ROOT / "docs" / "notes" / "dependencies.md").read_text()
    for requirement in wanted:
        name = requirement.split(">")[0].split("<")[0].split("=")[0].split("[")[0].strip()
        assert name == "hexathlon" or f"| `{name}` |" in reasons, f"no reason given for {name}"
