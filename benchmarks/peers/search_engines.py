"""Comparison of search engines on the documents of the shopping catalogue.

    python benchmarks/peers/search_engines.py --size 100000 --engines tantivy fts5 numpy bm25s

Every engine indexes the same tokens (English, split at whitespace) and answers the same three-word
queries: any word may match, top thousand by BM25. Each runs in a separate process. `bm25s` is not a
dependency of the project; install it for the comparison.
"""

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hexathlon.tasks.catalogue.index import documents
from hexathlon.tasks.catalogue.layout import lay_out
from hexathlon.tasks.catalogue.noise import Stream

SEED, QUERIES, TOP = 0, 100, 1_000
Search = Callable[[list[str]], list[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.engines[0], arguments.size)))
        return
    for engine in arguments.engines:
        command = [sys.executable, __file__, "--one", "--engines", engine]
        done = subprocess.run(
            [*command, "--size", str(arguments.size)], stdout=subprocess.PIPE, text=True, check=True
        )
        figures = json.loads(done.stdout)
        print(f"{engine:8s}", ", ".join(f"{key} {value:.3f}" for key, value in figures.items()))


def measure(engine: str, size: int) -> dict[str, float]:
    """Measure one engine; returns figures by name."""
    texts = [text for text, _ in documents(lay_out(SEED, size), SEED, "en")]
    questions = [_question(texts, number) for number in range(QUERIES)]
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        search = ENGINES[engine](texts, Path(folder))
        build = time.process_time() - started
        disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        del texts
        search(questions[0])
        cpus, walls = [], []
        for question in questions:
            start, started = time.perf_counter(), time.process_time()
            search(question)
            cpus.append((time.process_time() - started) * 1e3)
            walls.append((time.perf_counter() - start) * 1e3)
    return {
        "build CPU s": build,
        "disk MB": disk / 1e6,
        "CPU ms p50": float(np.median(cpus)),
        "p95": float(np.quantile(cpus, 0.95)),
        "wall ms p50": float(np.median(walls)),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "load": os.getloadavg()[0],
    }


def _question(texts: list[str], number: int) -> list[str]:
    stream = Stream(SEED, 901, number)
    words = list(dict.fromkeys(stream.pick(texts).split()))
    return stream.shuffled(words)[:3]


def _tantivy(texts: list[str], folder: Path) -> Search:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema, path=str(folder))
    writer = index.writer(heap_size=max(50_000_000, 1_000 * len(texts)), num_threads=1)
    for text in texts:
        writer.add_document(tantivy.Document(text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    should, query = tantivy.Occur.Should, tantivy.Query

    def search(words: list[str]) -> list[int]:
        parts = [(should, query.term_query(schema, "text", word, "freq")) for word in words]
        hits = searcher.search(query.boolean_query(parts), TOP, count=False).hits
        return [address.doc for _, address in hits]

    return search


def _fts5(texts: list[str], folder: Path) -> Search:
    connection = sqlite3.connect(folder / "index.db", isolation_level=None)
    connection.execute("CREATE VIRTUAL TABLE goods USING fts5(text, content='')")
    connection.execute("BEGIN")
    rows = ((number, text) for number, text in enumerate(texts))
    connection.executemany("INSERT INTO goods(rowid, text) VALUES (?, ?)", rows)
    connection.execute("INSERT INTO goods(goods) VALUES ('optimize')")
    connection.execute("COMMIT")

    def search(words: list[str]) -> list[int]:
        asked = " OR ".join(f'"{word}"' for word in words)
        statement = "SELECT rowid FROM goods WHERE goods MATCH ? ORDER BY rank, rowid LIMIT ?"
        return [row for (row,) in connection.execute(statement, (asked, TOP))]

    return search


def _numpy(texts: list[str], folder: Path) -> Search:
    """Store postings in arrays with their BM25 impact, and accumulate them in a dense array."""
    lengths = np.array([text.count(" ") + 1 for text in texts], dtype=np.float32)
    norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    places: dict[str, tuple[list[int], list[int]]] = {}
    for number, text in enumerate(texts):
        for word, times in Counter(text.split()).items():
            numbers, counts = places.setdefault(word, ([], []))
            numbers.append(number)
            counts.append(times)
    postings: dict[str, tuple[Any, Any]] = {}
    for word, (numbers, counts) in places.items():
        rows, times_of = np.array(numbers, dtype=np.int32), np.array(counts, dtype=np.float32)
        idf = np.log1p((len(texts) - len(rows) + 0.5) / (len(rows) + 0.5))
        postings[word] = rows, (idf * 2.2 * times_of / (times_of + norm[rows])).astype(np.float32)
    del places
    scores = np.zeros(len(texts), dtype=np.float32)

    def search(words: list[str]) -> list[int]:
        scores.fill(0)
        for word in words:
            rows, impact = postings[word]
            scores[rows] += impact
        hit = np.flatnonzero(scores)  # a partition of mostly zeros would be ten times slower
        best = hit[np.argpartition(scores[hit], max(0, len(hit) - TOP))[-TOP:]]
        result: list[int] = best[np.lexsort((best, -scores[best]))].tolist()
        return result

    return search


def _bm25s(texts: list[str], folder: Path) -> Search:
    import bm25s

    retriever = bm25s.BM25()
    retriever.index([text.split() for text in texts], show_progress=False)

    def search(words: list[str]) -> list[int]:
        result, _ = retriever.retrieve([words], k=TOP, show_progress=False, n_threads=0)
        ranked: list[int] = result[0].tolist()
        return ranked

    return search


ENGINES: dict[str, Callable[[list[str], Path], Search]] = {
    "tantivy": _tantivy,
    "fts5": _fts5,
    "numpy": _numpy,
    "bm25s": _bm25s,
}


if __name__ == "__main__":
    main()
