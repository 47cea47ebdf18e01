"""Output of `make` during installation: a line per step, neither silence nor a flood."""

import itertools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = 63
PIP = "".join(
    [
        "Obtaining file:///checkout\n",
        "  Installing build dependencies: started\n",
        *(
            f"Collecting package{i}<3,>=1.{i}\n  Downloading package{i}-1.{i}.whl.metadata (2 kB)\n"
            for i in range(PACKAGES)
        ),
        "Downloading torch-2.13.0-cp311-linux.whl (184.2 MB)\n",
        "Using cached https://index/simple/numpy-2.whl (16.1 MB)\n",
        "Downloading https://index/simple/scipy-1.whl (35.1 MB)\n",
        f"Installing collected packages: {', '.join(f'package{i}' for i in range(PACKAGES))}\n",
        "Successfully installed package0-1.0\n",
    ]
)


def progress(said: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [ROOT / "scripts" / "progress", *arguments],
        input=said, capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return [line.strip().rpartition(" (")[0] for line in done.stdout.splitlines()]


def test_pips_lines_become_a_few() -> None:
    assert progress(PIP) == [
        "20 packages found, now package19",
        "40 packages found, now package39",
        "60 packages found, now package59",
        "downloading torch-2.13.0-cp311-linux.whl (184.2 MB)",
        "downloading scipy-1.whl (35.1 MB)",
        f"unpacking {PACKAGES} packages",
        "installed",
    ]


def test_a_quiet_pip_is_reported_all_the_same() -> None:
    """Unpacking gigabytes takes a minute in which pip prints nothing."""
    with subprocess.Popen(
        [ROOT / "scripts" / "progress", "starting", "0.05"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout
        process.stdin.write("Installing collected packages: torch, numpy\n")
        process.stdin.flush()
        # On a busy machine, the first lines appear before pip's.
        later = itertools.dropwhile(lambda line: "starting" in line, process.stdout)
        seen = list(itertools.islice(later, 3))
        process.stdin.close()
    assert all("unpacking 2 packages" in line for line in seen), seen


def test_output_ends_with_pip() -> None:
    assert progress("") == []
