"""The layers: imports run one way, nothing goes in a circle, a bare import stays light."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("tasks", "evaluators", "envs", "baselines", "leaderboard")
FAMILIES = ("shopping", "sql", "terminal", "web", "gui", "roleplay")
HEAVY = ("sqlalchemy", "jinja2", "httpx", "rich", "typer", "duckdb", "psycopg", "torch", "ray")


def modules() -> dict[str, Path]:
    found = {}
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            parts = ("hexathlon", *path.relative_to(ROOT).with_suffix("").parts)
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = path
    return found


def imports(path: Path, *, top_level_only: bool = False) -> set[str]:
    """Names of our own modules that a file imports, as written."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


MODULES = modules()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_only_what_stands_left(name):
    layer = LAYERS.index(name.split(".")[1])
    for target in imports(MODULES[name]):
        parts = target.split(".")
        assert parts[0] != "hexathlon_cli", f"{name} imports the face"
        if parts[0] == "hexathlon" and len(parts) > 1 and parts[1] in LAYERS:
            assert LAYERS.index(parts[1]) <= layer, f"{name} imports {target}, which stands right"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_family_never_imports_another(name):
    own = [part for part in name.split(".")[2:3] if part in FAMILIES]
    for target in imports(MODULES[name]):
        parts = target.split(".")
        if parts[0] == "hexathlon" and len(parts) > 2 and parts[2] in FAMILIES:
            # Registries name families as strings; only a family's own files import it.
            assert parts[2] in own, f"{name} imports {target}"


def test_no_cycles_between_files():
    graph = {
        name: {t for t in imports(path, top_level_only=True) if t in MODULES and t != name}
        for name, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for target in sorted(graph[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_a_bare_import_loads_nothing_heavy():
    code = "import sys, json, hexathlon; print(json.dumps(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(out.stdout)}
    assert loaded.isdisjoint(HEAVY), loaded.intersection(HEAVY)


def test_no_machine_paths_or_registry_hosts_are_tracked():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    # Spelled apart, so that this file does not find itself.
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
