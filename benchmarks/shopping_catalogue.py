"""Speed and size of the shopping catalogue: building, opening, searching, reading.

    python benchmarks/shopping_catalogue.py --sizes 1000 10000 100000 1000000 [--cache FOLDER]

Every size is measured in a separate process, so that memory figures are independent. Builds go to a
fresh directory (or to `--cache`, where an existing catalogue is opened, not rebuilt). Search times
are for queries of three different words taken from one random product's title and features, any of
which may match; no query is repeated, so caches do not help. On a shared machine, CPU milliseconds
are the more stable figure.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hexathlon.tasks.bilingual import LANGUAGES, Language
from hexathlon.tasks.catalogue import Catalogue, open_catalogue
from hexathlon.tasks.catalogue.noise import Stream
from hexathlon.tasks.catalogue.tokens import tokenize

QUERIES = 400
SEED = 0


def main() -> None:
    arguments = _arguments()
    if arguments.one:
        print(json.dumps(measure(arguments.sizes[0], Path(arguments.cache))))
        return
    with tempfile.TemporaryDirectory() as fresh:
        for size in arguments.sizes:
            command = [sys.executable, __file__, "--one", "--sizes", str(size)]
            folder = ["--cache", arguments.cache or fresh]
            done = subprocess.run(command + folder, stdout=subprocess.PIPE, text=True, check=True)
            _show(size, json.loads(done.stdout))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--cache", help="directory for catalogues")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(size: int, cache: Path) -> dict[str, Any]:
    """Measure one size; returns figures by name."""
    figures: dict[str, Any] = {"build": _timed(lambda: _open_in_child(size, cache))}
    figures["open"] = _timed(lambda: open_catalogue(SEED, size, cache))
    catalogue = open_catalogue(SEED, size, cache)
    for language in LANGUAGES:
        catalogue.search("first", language=language)
        for name, work in _works(catalogue, language).items():
            figures[f"{language} {name}"] = work
    figures["item page"] = _spread(lambda each: _read(catalogue, each), _ids(catalogue))
    figures["disk MB"] = _disk(cache, size)
    status = Path("/proc/self/status").read_text()
    for field in ("VmRSS", "RssAnon"):
        figures[f"{field} MB"] = int(status.split(f"{field}:")[1].split()[0]) / 1_000
    return figures


def _open_in_child(size: int, cache: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from hexathlon.tasks.catalogue import open_catalogue;"
        "open_catalogue(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))"
    )
    subprocess.run([sys.executable, "-c", code, str(SEED), str(size), str(cache)], check=True)


def _timed(work: Callable[[], object]) -> dict[str, float]:
    before, start = os.times(), time.perf_counter()
    work()
    after = os.times()
    return {
        "wall_s": time.perf_counter() - start,
        "cpu_s": sum(after[:4]) - sum(before[:4]),
        "child_peak_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1_000,
    }


def _works(catalogue: Catalogue, language: Language) -> dict[str, dict[str, float]]:
    three = queries(catalogue, language, 3)
    window = catalogue._engine.window
    ranked = {"price_max": 9_000, "rating_min": 4.5}
    return {
        "3-word OR, ten hits": _spread(lambda q: catalogue.search(q, language=language), three),
        "next page": _spread(
            lambda q: catalogue.search(q, language=language, page=2), three[-200:]
        ),
        "sort by price": _spread(
            lambda q: catalogue.search(q, language=language, sort="price"), three[-200:]
        ),
        "facets": _spread(
            lambda q: catalogue.search(q, language=language).facets, three[-200:]
        ),
        "8-word OR, window": _spread(
            lambda q: window(q, language), queries(catalogue, language, 8)
        ),
        "3-word OR in a category": _spread(
            lambda q: catalogue.search(q, language=language, category="jackets"), three
        ),
        "3-word OR, price and rating": _spread(
            lambda q: catalogue.search(q, language=language, filters=ranked), three
        ),
    }  # fmt: skip


def queries(catalogue: Catalogue, language: Language, words: int) -> list[str]:
    """Return queries with a number of different words, each from the text of one product."""
    result: list[str] = []
    for i in range(QUERIES):
        stream = Stream(SEED, 900, words, i)
        product = catalogue.product_at(stream.below(catalogue.size))
        lines = [line.split(": ")[-1].split("：")[-1] for line in product.features[language]]
        own = tokenize(" ".join((product.title[language], *lines)))
        result.append(" ".join(stream.shuffled(list(dict.fromkeys(own)))[:words]))
    return result


def _ids(catalogue: Catalogue) -> list[str]:
    return [catalogue.product_at(i * 7_919 % catalogue.size).id for i in range(500)]


def _read(catalogue: Catalogue, product_id: str) -> object:
    catalogue._product_at.cache_clear()
    product = catalogue.product(product_id)
    return product.title, product.features, product.specification, product.variants


def _spread(work: Callable[[str], object], items: Sequence[str]) -> dict[str, float]:
    walls, cpus = [], []
    for item in items:
        start, started = time.perf_counter(), time.process_time()
        work(item)
        cpus.append((time.process_time() - started) * 1e3)
        walls.append((time.perf_counter() - start) * 1e3)
    return {
        "wall_p50": float(np.median(walls)),
        "wall_p95": float(np.quantile(walls, 0.95)),
        "cpu_p50": float(np.median(cpus)),
        "cpu_p95": float(np.quantile(cpus, 0.95)),
    }


def _disk(cache: Path, size: int) -> float:
    folders = (cache / "catalogues").glob(f"*-s{SEED}-n{size}")
    return sum(f.stat().st_size for each in folders for f in each.rglob("*") if f.is_file()) / 1e6


def _show(size: int, figures: dict[str, Any]) -> None:
    print(f"\n{size:,} products (load {os.getloadavg()[0]:.1f})")
    for name, value in figures.items():
        if isinstance(value, float):
            print(f"  {name:34s} {value:8.1f}")
        elif "wall_s" in value:
            print(f"  {name:34s} wall {value['wall_s']:8.3f} s, CPU {value['cpu_s']:7.3f} s")
        else:
            told = ", ".join(f"{key} {each:.3f}" for key, each in value.items())
            print(f"  {name:34s} ms: {told}")


if __name__ == "__main__":
    main()
