"""Hostile statements and random actions: no crash, no write, no effect on others, no delay.

The statements run in a separate process, beside a witness connection; the process reports its
observations. A crash of SQLite would end that process and not the test run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hexathlon.envs.sql.env import SQLEnv
from support.hostile_sql import hostile_statements
from support.sql_toy import SqlToySource, call

SECONDS = 1.0
GROWN = 64
"""Maximum peak growth of the process, in megabytes."""

PROGRAM = '''
import json, os, sqlite3, sys, threading
from time import thread_time
from support.hostile_sql import hostile_statements
from support.sql_toy import shop
from hexathlon.tasks.sql.world.backends import connection
from hexathlon.tasks.sql.world.backends.base import WRITE_KINDS, QueryLimits, SqlError
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.database import database_bytes

seed, count, seconds, mode = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
image = database_bytes({"database": shop()})
before = bytes(image)
writes = WRITE_KINDS if mode == "write" else ()
database, beside = open_sqlite(image, writes=writes), open_sqlite(image)
witness = sqlite3.connect(":memory:")
witness.execute("CREATE TABLE w (a)")
limits = QueryLimits(seconds=seconds)
connection._thread_bytes_written()  # opens the one descriptor that a thread keeps
files, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
slowest, kinds, harmed = 0.0, {}, []
total = "SELECT count(*), sum(id), group_concat(name) FROM customers"
expected = beside.run(total, limits).rows


def megabytes(name):
    """This program's own memory; getrusage would include that of the parent process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) // 1024


settled = megabytes("VmRSS:")


def timed(sql):
    start = thread_time()  # the statement's own time, independent of other load
    try:
        database.run(sql, limits)
        kind = "ran"
    except SqlError as error:
        kind = error.kind
        error.text()
    return thread_time() - start, kind


for number, sql in enumerate(hostile_statements(seed, count)):
    elapsed, kind = timed(sql)
    if elapsed > seconds * 1.1:  # a page fault or an interrupt: only what repeats counts
        elapsed = min(elapsed, timed(sql)[0])
    if elapsed > slowest:
        slowest, worst = elapsed, sql[:300]
    kinds[kind] = kinds.get(kind, 0) + 1
    witness.execute("INSERT INTO w VALUES (?)", (number,))
    if beside.run(total, limits).rows != expected:
        harmed.append(sql[:200])
    if writes and number % 50 == 49:
        database.close()
        database = open_sqlite(image, writes=writes)
reader = open_sqlite(image)
print(json.dumps({
    "slowest": slowest, "worst": worst, "kinds": kinds, "harmed": harmed,
    "witness": witness.execute("SELECT count(*) FROM w").fetchone()[0],
    "unchanged": image == before and reader.run(total, limits).rows == expected,
    "files": len(os.listdir("/proc/self/fd")) - files,
    "threads": threading.active_count() - threads,
    "grown": megabytes("VmHWM:") - settled,
}))
'''


def run_hostile(seed, count, mode, seconds, folder):
    tests = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(tests), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seed), str(count), str(seconds), mode],
        capture_output=True, text=True, cwd=folder, env=environment, timeout=3_000, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout)


def judge(report, count, allowed, folder):
    assert report["harmed"] == [] and report["unchanged"]
    assert report["witness"] == count
    assert report["slowest"] <= allowed, report["worst"]
    assert report["files"] == 0 and report["threads"] == 0
    assert report["grown"] < GROWN, report["grown"]
    assert len(report["kinds"]) >= 5, report["kinds"]
    assert list(folder.iterdir()) == []
    assert not Path("/tmp/hexathlon-witness").exists()


@pytest.mark.parametrize("mode", ["read", "write"])
def test_hostile_statements(mode, tmp_path):
    # With a limit this short, a single pause of a busy machine exceeds a tenth of it: only the long
    # form is strict.
    judge(run_hostile(11, 220, mode, 0.1, tmp_path), 220, 0.5, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize(("mode", "seed"), [("read", 1), ("write", 2)])
def test_two_thousand_hostile_statements(mode, seed, tmp_path):
    judge(run_hostile(seed, 2_000, mode, SECONDS, tmp_path), 2_000, SECONDS * 1.1, tmp_path)


def fuzzed_actions(seed, count):
    """Random turns: valid and invalid calls, broken JSON, prose, hostile statements."""
    rng = np.random.default_rng(seed)
    hostile = hostile_statements(seed, count)
    tools = ("list_tables", "search_tables", "describe_table", "sample_rows", "list_documents",
             "read_document", "run_query", "ask_user", "submit", "submit_impossible",
             "eval")  # fmt: skip
    keys = (
        "sql",
        "table",
        "limit",
        "query",
        "name",
        "question",
        "answer",
        "reason",
        "evidence",
        "x",
    )
    values = ("customers", "orders", "", "SELECT 1", "notes", None, True, -1, 5, 1e308, [], {},
    [[1]],
              "\0", "\ud800", "a" * 5_000, "'; DROP TABLE orders; --",
              {"a": {"b": []}})  # fmt: skip
    for statement in hostile:
        match int(rng.integers(8)):
            case 0:
                yield statement
            case 1:
                text = call("run_query", sql="SELECT 1")
                yield text[: int(rng.integers(len(text)))]
            case 2:
                yield "[" * int(rng.integers(1, 2_000)) + "]" * int(rng.integers(2_000))
            case 3 | 4:
                chosen = {
                    keys[int(rng.integers(len(keys)))]: values[int(rng.integers(len(values)))]
                    for _ in range(int(rng.integers(4)))
                }
                yield call(tools[int(rng.integers(len(tools)))], **chosen)
            case 5:
                yield f"[{call('run_query', sql=statement)}, {call('list_tables')}]"
            case 6:
                yield "".join(chr(int(code)) for code in rng.integers(0, 0x2FFF, size=40))
            case _:
                yield call("run_query", sql=statement)


def run_fuzz(seed, count):
    env = SQLEnv(taskset="sqltoy", split="test", limits={"seconds_per_action": 0.05})
    templates, ended, paid = SqlToySource.templates, True, 0.0
    for number, action in enumerate(fuzzed_actions(seed, count)):
        if ended:
            name = templates[number % len(templates)]
            env.reset(seed=number, options={"task": f"sqltoy/{name}/easy/test/{number % 7:05d}"})
        observation, reward, terminated, truncated, info = env.step(action)
        ended = terminated or truncated
        paid += reward
        assert observation in env.observation_space
        assert info["status"] not in {"error_env", "error_judge"}, action
    env.close()
    return paid


def test_fuzzed_actions():
    assert run_fuzz(21, 1_000) == 0.0


@pytest.mark.slow
@pytest.mark.timeout(3_000)
def test_ten_thousand_fuzzed_actions():
    assert run_fuzz(22, 10_000) == 0.0
