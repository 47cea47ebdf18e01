"""API reference of the documentation site: one page per package, from its docstrings.

This is an mkdocs hook (see `mkdocs.yml`). The pages exist only while the site is built.
"""

from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("tasks", "evaluators", "envs", "baselines", "leaderboard")
INTERNAL = {
    "data", "domains", "kernel", "loaders", "recipes", "static", "templates", "__pycache__",
}  # fmt: skip
"""Folders without a public interface."""
DEEPEST = 4


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every public package, and an index."""
    packages = [package for layer in LAYERS for package in _packages(ROOT / layer)]
    for package in packages:
        files.append(
            File.generated(config, f"reference/{_name(package)}.md", content=_page(package))
        )
    files.append(File.generated(config, "reference/index.md", content=_index(packages)))
    return files


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages to the navigation entry `Reference`."""
    packages = [package for layer in LAYERS for package in _packages(ROOT / layer)]
    pages = [{_dotted(package): f"reference/{_name(package)}.md"} for package in packages]
    assert config.nav is not None
    config.nav = [
        {"Reference": ["reference/index.md", *pages]} if "Reference" in entry else entry
        for entry in config.nav
    ]
    return config


def _packages(folder: Path) -> Iterator[Path]:
    if len(folder.relative_to(ROOT).parts) > DEEPEST or folder.name in INTERNAL:
        return
    if (folder / "__init__.py").exists():
        yield folder
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        yield from _packages(inner)


def _name(package: Path) -> str:
    return ".".join(package.relative_to(ROOT).parts)


def _dotted(package: Path) -> str:
    return f"hexathlon.{_name(package)}"


def _page(package: Path) -> str:
    """Return the page of a package: its docstring, then its modules in alphabetical order."""
    name = _dotted(package)
    parts = [f"# {name}", f"::: {name}\n    options: {_PACKAGE}"]
    for path in sorted(package.glob("[!_]*.py")):
        parts.append(f"## {path.stem}\n\n::: {name}.{path.stem}\n    options: {_MODULE}")
    return "\n\n".join(parts) + "\n"


_PACKAGE = "{members: false, show_root_heading: false, show_root_toc_entry: false}"
_MODULE = "{show_root_heading: false, show_root_toc_entry: false}"


def _index(packages: list[Path]) -> str:
    """Return the index page: packages with the first line of their docstrings."""
    lines = ["# Reference", "", "| package | contents |", "|---|---|"]
    for package in packages:
        first = (package / "__init__.py").read_text("utf-8").lstrip('"').split("\n", 1)[0]
        lines.append(f"| [`{_dotted(package)}`]({_name(package)}.md) | {first.rstrip(chr(34))} |")
    return "\n".join(lines) + "\n"
