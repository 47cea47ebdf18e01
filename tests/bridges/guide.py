"""The examples of the guide to other tools."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

_GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"


def example(name: str) -> str:
    """Return the block of a page that opens with the name of a file."""
    text = "".join(path.read_text("utf-8") for path in sorted(_GUIDES.rglob("*.md")))
    found = re.search(rf"```python\n(# {re.escape(name)}\n.*?)```", text, re.S)
    assert found, f"the guide has no {name}"
    return found[1]


def shell_line(page: str, program: str) -> list[str]:
    """Return the words of the line of a door's page that starts with a program."""
    text = (_GUIDES / "doors" / f"{page}.md").read_text("utf-8").replace("\\\n", " ")
    (line,) = re.findall(rf"^{re.escape(program)} .*$", text, re.M)
    return shlex.split(line)


def run_line(
    words: list[str], folder: Path, replaced: dict[str, str], **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a line of a page in a folder, as in a shell in which this environment is active.

    Args:
        words: The line.
        folder: The working directory.
        replaced: Words of the line, and what stands for them here; each must occur.
        **variables: Further environment variables.
    """
    assert set(replaced) <= set(words), (words, replaced)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [replaced.get(word, word) for word in words], cwd=folder, capture_output=True, text=True,
        timeout=300, env={**os.environ, "PATH": path, **variables}, check=False,
    )  # fmt: skip
