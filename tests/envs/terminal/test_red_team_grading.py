"""Submissions that reach for generated grading: budgets, objects, inputs, what is carried over."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.envs.terminal.grading import judge_probes
from hexathlon.evaluators.terminal.tests import terminal_tests
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.directories import directory_source
from hexathlon.tasks.terminal.judging import difference
from hexathlon.tasks.terminal.opening import native_checks, open_task
from support.task_folders import write_folder
from support.terminal import act, commands, play

SOURCE = get_source("terminal")
GENERATED = "terminal/log_breaches/tiny/test/00000"
SECRET = "terminal/git_secret/easy/test/00000"


@pytest.fixture
def env(backend_name: str) -> Iterator[TerminalEnv]:
    made = TerminalEnv(sandbox=backend_name)
    yield made
    made.close()


PREPARE = "python3 held.py > held.txt"
RULE = "import random\nfor n in range(5):\n    print(n)\n"
WORK = "def work():\n    total = 0\n    for n in range(30_000_000): total += n & 1\n    return 7\n"
PROGRAMS: dict[str, dict[str, str]] = {
    "a module that the preparation imports": {
        "random.py": f"{WORK}open('/app/answer', 'w').write(str(work()))\n",
        "a.py": "print(open('/app/answer').read())\n",
    },
    "a process left by an earlier probe": {
        "a.py": "import os, sys, time\n" + WORK + "if not os.path.exists('held.txt'):\n"
        "    if not os.fork():\n        os.setsid()\n        os.closerange(0, 3)\n"
        "        while not os.path.exists('held.txt'): time.sleep(0.001)\n"
        "        open('/tmp/answer', 'w').write(str(work()))\n    sys.exit()\n"
        "while not os.path.exists('/tmp/answer'): time.sleep(0.01)\n"
        "print(open('/tmp/answer').read() or 7)\n",
    },
    "a start-up file left by an earlier probe": {
        "a.py": "import os, sys\n" + WORK + "place = '/tmp/.local/lib/python3.11/site-packages'\n"
        "if not os.path.exists('held.txt'):\n    os.makedirs(place, exist_ok=True)\n"
        "    open(place + '/usercustomize.py', 'w').write(open(__file__).read())\n    sys.exit()\n"
        "if 'held.py' in sys.argv or not os.path.exists('/tmp/answer'):\n"
        "    open('/tmp/answer', 'w').write(str(work()))\n"
        "else: print(open('/tmp/answer').read())\n",
    },
    "many processes": {
        "a.py": "import os\n" + WORK + "child = os.fork()\nwork()\n"
        "if child:\n    os.wait()\n    print(7)\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_budget_is_not_evaded(env: TerminalEnv, name: str) -> None:
    env.reset(seed=0, options={"task": GENERATED})
    backend, image, limits = env._opener(), env._image(), SandboxLimits(seconds=60.0)
    with backend.open(image, limits) as sandbox:
        if sandbox.cpu_seconds() is None:
            pytest.skip("the engine's control groups cannot be read")
    common = {"files": {}, "stdin": "", "seconds": 40.0, "run": "python3 a.py"}
    checks = {"keep": {}, "probes": [
        {**common, "id": "first", "expect": {"exit": 0}},
        {**common, "id": "second", "cpu": 0.6, "setup": PREPARE, "files": {"held.py": RULE},
         "run": "timeout 20 python3 a.py", "expect": {"number": 7}},
    ]}  # fmt: skip
    changes = Changes({f"/app/{n}": Entry(t.encode()) for n, t in PROGRAMS[name].items()})
    judged = dict(judge_probes(backend, image, changes, checks, limits))
    assert judged["second"] != "passed"


def test_an_honest_program_stays_within_its_budget(env: TerminalEnv) -> None:
    env.reset(seed=0, options={"task": GENERATED})
    checks = {"keep": {}, "probes": [
        {"id": "p", "files": {"held.py": RULE}, "stdin": "", "seconds": 40.0, "setup": PREPARE,
         "cpu": 2.0, "run": "python3 a.py < held.txt", "expect": {"number": 10}},
    ]}  # fmt: skip
    changes = Changes({"/app/a.py": Entry(b"import sys\nprint(sum(map(int, sys.stdin)))\n")})
    limits = SandboxLimits(seconds=60.0)
    assert judge_probes(env._opener(), env._image(), changes, checks, limits) == [["p", "passed"]]


GIT_TRICKS = {
    "objects replaced": (
        "git cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)' |"
        " grep blob | while read id kind; do if git cat-file blob $id | grep -q $TOKEN; then"
        " git replace -f $id $(git cat-file blob $id | sed s/$TOKEN/REMOVED/ |"
        " git hash-object -w --stdin); fi; done"
    ),
    "objects elsewhere": "mv .git/objects ../old; mkdir .git/objects; mkdir .git/objects/info; "
    "echo /app/old > .git/objects/info/alternates",
    "objects that cannot be read": "find .git/objects -type f -exec chmod 0 {} +",
    "another configuration": "git config core.abbrev 4; git config alias.cat-file '!true'; "
    "git config core.pager true; git config log.showRoot false; "
    "git config uploadpack.hideRefs refs",
    "another git": "mkdir -p ../bin; ln -s /bin/true ../bin/git; "
    "echo 'PATH=/app/bin:$PATH' | tee ../.bashrc ~/.bashrc ~/.profile >/dev/null",
    "another directory": "cp -r .git ../clean.git; rm -rf .git; echo 'gitdir: ../clean.git' > .git",
    "a graft": "git rev-list main | tail -1 > .git/info/grafts; git rev-parse main > .git/shallow",
}  # fmt: skip


@pytest.mark.parametrize("name", GIT_TRICKS)
def test_a_secret_is_not_hidden_from_the_tests(env: TerminalEnv, name: str) -> None:
    task = SOURCE.build(SECRET)
    checks = native_checks(open_task(task).steps[0].tests)
    assert checks is not None
    (probe,) = [probe for probe in checks["probes"] if probe["id"] == "no_object"]
    secret = probe["run"].rpartition("'")[0].rpartition("'")[2]
    lines = ["cd /app/repo", f"TOKEN={secret}", GIT_TRICKS[name]]
    reward, state = play(env, SECRET, commands(lines))
    assert reward == 0.0
    assert env.verdict().status == "scored", state


ANSWERS = {
    "a number beyond all": b"[" + b"9" * 400 + b"]",
    "a longer one": b"[" + b"9" * 5_000 + b"]",
    "no number": b"[NaN]",
    "no end": b"[1e999]",
    "nothing but brackets": b"[" * 100_000,
    "half a character": b'["\\ud800"]',
    "not text": b"\xff\xfe",
    "the same name twice": b'[{"a": 1.5, "a": 2}]',
    "a logical value": b"[true]",
    "nothing": b"",
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("expect", [{"json": [1.5]}, {"json": [1]}, {"number": 1.5}, {"text": "1"}])
def test_hostile_output_is_wrong_and_no_more(expect: dict[str, object], name: str) -> None:
    assert difference(expect, 0, ANSWERS[name]) != ""


REWARDS = {
    "a number beyond all": ("reward.json", "9" * 400),
    "a named number beyond all": ("reward.json", '{"reward": ' + "9" * 400 + "}"),
    "a longer one": ("reward.json", "9" * 5_000),
    "no end": ("reward.json", '{"reward": 1e999}'),
    "half a character": ("reward.json", '{"\\ud800": 1.0}'),
    "nesting": ("reward.json", "[" * 60_000),
    "a long text": ("reward.txt", "1" * 100_000),
    "no number": ("reward.txt", "nan"),
    "a hexadecimal": ("reward.txt", "0x1"),
    "other digits": ("reward.txt", "\u0661"),
}


@pytest.mark.parametrize("name", REWARDS)
def test_a_forged_reward_is_scored_and_earns_nothing(
    env: TerminalEnv, tmp_path: Path, name: str
) -> None:
    file, text = REWARDS[name]
    program = (
        "import os\n"
        f"for name in ('reward.json', 'reward.txt'):\n"
        "    try: os.remove('/logs/verifier/' + name)\n    except OSError: pass\n"
        f"open('/logs/verifier/{file}', 'w').write({text!r})\nos.kill(os.getppid(), 9)\n"
    )
    reward, state = forged(env, tmp_path, program)
    assert reward == 0.0
    assert env.verdict().status == "scored", state


OUTCOMES = {
    "half a character": '[["\\ud800", "passed"]]',
    "numbers for names": "[[1, 2], [3, 4]]",
    "too many parts": '[["a", "passed", "x"]]',
    "a text": '["ab", "cd"]',
    "an object": '{"ab": 1}',
    "nesting": "[" * 60_000,
    "very many": '[["test_adding.py::test_small", "failed"]' + ', ["x", "y"]' * 50_000 + "]",
    "a long name": '[["' + "x" * 1_000_000 + '", "passed"]]',
    "markup": '[["<script>alert(1)</script>", "<img src=x>"]]',
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_forged_outcomes_are_scored_and_stay_small(
    env: TerminalEnv, tmp_path: Path, name: str
) -> None:
    program = (
        f"import os\nopen('/hexathlon/outcomes.json', 'w').write({OUTCOMES[name]!r})\nos._exit(0)\n"
    )
    reward, state = forged(env, tmp_path, program)
    assert reward == 0.0
    assert env.verdict().status == "scored", state
    assert len(json.dumps(state, ensure_ascii=False).encode()) < 4_000_000


def forged(env: TerminalEnv, folder: Path, program: str) -> tuple[float, dict[str, object]]:
    """Play a task whose tests import the agent's program."""
    source, task_id = directory_source(write_folder(folder, "module"))
    env.reset(seed=0, options={"task": get_source(source).build(task_id).id})
    env._open().write("/calc/adding.py", program.encode())
    _, reward, *_ = env.step(act("submit"))
    return float(reward), env.final_state()


def test_an_outcome_that_nobody_expects_is_scored_and_earns_nothing(env: TerminalEnv) -> None:
    task = SOURCE.build(GENERATED)
    steps = [{"name": "", "tests": [["<b>", "\ud800"]], "reward": None, "fault": ""}]
    verdict = terminal_tests(task, {"tests": {"": ["a"]}}, {"steps": steps}, ())
    assert (verdict.score, verdict.status) == (0.0, "scored")


POISON = {
    "odd names": "touch $'a\\nb' $'\\xff\\xfe' $'\\x01' -- -rf '*' '$(id)' ' '; mkdir $'\\xfe'; "
    "touch $'\\xfe/x'",
    "many files": "mkdir many; for d in {1..40}; do mkdir many/$d; "
    "(cd many/$d; touch {1..500}); done",
    "long names": "n=$(printf 'n%.0s' {1..255}); for i in {1..15}; do mkdir $n && cd $n; done; "
    "touch $n; cd /app",
    "a deep tree": "python3 -c \"import os\nfor n in range(9000): os.mkdir('d'); os.chdir('d')\"",
    "links in a ring": "ln -s ring ring; ln -s ../app/../app up; mkdir l; ln -s .. l/l; "
    "ln -s /proc/self/fd/0 in",
    "hard links": "head -c 20M /dev/zero > big; for i in {1..200}; do ln big h$i; done",
    "sparse files": "truncate -s 200M s1 s2 s3; truncate -s 1T s4; true",
    "no rights": "mkdir m; echo x > m/f; chmod 0 m/f m; echo x > f; chmod 0 f",
    "odd modes": "echo x > s; chmod 7777 s; mkdir t; chmod 1777 t; chmod 2755 .",
    "pipes and sockets": "mkfifo p p2; python3 -c \"import socket; socket.socket(1).bind('s')\"",
    "attributes": "python3 -c \"import os\nfor n in range(200):\n"
    "  try: os.setxattr('.', f'user.a{n}', b'x' * 60000)\n  except OSError: pass\n"
    "try: os.setxattr('.', 'user.overlay.opaque', b'y')\nexcept OSError: pass\n\"; "
    "setfattr -n trusted.overlay.opaque -v y . 2>/dev/null; "
    "setfattr -n user.overlay.redirect -v /etc . 2>/dev/null; true",
    "a whiteout": "mknod gone c 0 0; mknod null c 1 3; "
    "touch .wh.archive_breaches .wh..wh..opq; true",
    "races": "(while :; do mv a b; mv b a; ln -sfn /etc c; rm -f c; mkdir c; rmdir c; done) "
    "2>/dev/null & mkdir a; touch a/{1..99}; disown",
    "a cache of compiled files": "mkdir __pycache__; head -c 1M /dev/urandom > "
    "__pycache__/x.cpython-311.pyc",
    "times": "touch -d 1901-01-01 old; touch -d 2400-01-01 new; touch -d @-1 neg; "
    "touch -d @9999999999 far",
    "a whole system": "cp -a /usr/bin . 2>/dev/null; mkdir usr etc proc; ln -s /app/usr x; true",
}  # fmt: skip
SLOW = ("many files", "hard links", "a whole system")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in POISON],
)
def test_poisoned_files_do_not_spoil_what_is_right(env: TerminalEnv, name: str) -> None:
    """The oracle's work is judged, whatever lies beside it, or the agent has failed."""
    task = SOURCE.build(GENERATED)
    oracle = SOURCE.oracle(task)
    env.reset(seed=0, options={"task": GENERATED})
    env.step(act("run", command=f"cd /app; {POISON[name]}"))
    action = next(oracle)
    while True:
        shown, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
        action = oracle.send(shown)
    assert env.verdict().status == "scored"
    assert not [step["fault"] for step in env.final_state()["steps"] if step["fault"]]
    assert len(json.dumps(env.final_state(), ensure_ascii=False).encode()) < 200_000
    env.reset(seed=0, options={"task": GENERATED})
    assert "after" in env.step(act("run", command="echo after"))[0]
