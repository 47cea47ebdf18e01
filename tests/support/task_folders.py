"""Hand-written task directories: four in Harbor's format, one of them in two steps; three in
Terminal-Bench 1's.
"""

from pathlib import Path

__all__ = ["HARBOR", "TERMINAL_BENCH", "write_folder"]

_REWARD = (
    'if [ $? -eq 0 ]; then echo 1 > "$LOGS/reward.txt"; else echo 0 > "$LOGS/reward.txt"; fi\n'
)
_LOGS = "LOGS=/logs/verifier; mkdir -p $LOGS\n"

HARBOR: dict[str, dict[str, str]] = {
    # Minimal: a shell script that writes a number.
    "greeting": {
        "task.toml": 'version = "1.0"\n[metadata]\ndifficulty = "easy"\n',
        "instruction.md": "Write the word hello to greeting.txt in the working directory.\n",
        "environment/Dockerfile": "FROM debian:12-slim\nWORKDIR /work\nENV TONE=warm\n",
        "tests/test.sh": f"#!/bin/bash\n{_LOGS}grep -qx hello greeting.txt\n{_REWARD}",
        "solution/solve.sh": "#!/bin/bash\necho hello > greeting.txt\n",
    },
    # pytest downloaded by the test script, several tests, JSON rewards.
    "inventory": {
        "task.toml": 'schema_version = "1.3"\n[task]\nname = "tests/inventory"\n[verifier]\n'
        'timeout_sec = 60.0\nenvironment_mode = "separate"\nenv = { STRICT = "yes" }\n'
        '[environment]\nmemory_mb = 256\n[environment.env]\nREGION = "north"\n',
        "instruction.md": "Write a program /srv/total.py that prints the sum of the numbers in the "
        "file named on its command line, and the sum for /srv/stock.txt to /srv/total.txt.\n",
        "environment/Dockerfile": "# a comment\nFROM python:3.11-slim\n"
        "RUN apt-get update && \\\n    apt-get install -y --no-install-recommends coreutils && \\\n"
        "    rm -rf /var/lib/apt/lists/*\nCOPY stock.txt /srv/stock.txt\nWORKDIR /srv\n"
        "RUN sort -n stock.txt -o stock.txt && chmod 444 stock.txt\n",
        "environment/stock.txt": "5\n1\n30\n",
        "tests/test.sh": "#!/bin/bash\nset +e\napt-get install -y curl\n"
        "curl -LsSf https://example.invalid/install.sh | sh\n"
        "uvx -w pytest==8.4.1 pytest --ctrf /logs/verifier/ctrf.json /tests/test_total.py -rA\n"
        "code=$?\n[ $code -eq 0 ] && score=1.0 || score=0.0\n"
        'printf \'{"reward": %s, "style": 0.5}\' $score > /logs/verifier/reward.json\n'
        "echo 0.25 > /logs/verifier/reward.txt\n",
        "tests/test_total.py": "import os\nimport subprocess\nfrom pathlib import Path\n\n"
        "import pytest\n\n\n@pytest.fixture\ndef "
        "held(tmp_path):\n    path = tmp_path / 'held.txt'\n"
        "    path.write_text('2\\n40\\n')\n    return path\n\n\ndef test_written():\n"
        "    assert Path('/srv/total.txt').read_text().strip() == '36'\n\n\n"
        "def test_program(held):\n    out = "
        "subprocess.check_output(['python3', '/srv/total.py', held])\n"
        "    assert int(out) == 42\n\n\n@pytest.mark.parametrize('name', ['STRICT', 'REGION'])\n"
        "def test_variables(name):\n    assert os.environ[name] in ('yes', 'north')\n\n\n"
        "class TestStock:\n    def test_kept(self):\n"
        "        assert Path('/srv/stock.txt').read_text() == '1\\n5\\n30\\n'\n",
        "solution/solve.sh": "cat > total.py <<'END'\nimport sys\n"
        "print(sum(int(line) for line in open(sys.argv[1])))\nEND\n"
        "python3 total.py stock.txt > total.txt\n",
    },
    # The tests import the agent's code.
    "module": {
        "task.toml": 'version = "1.0"\n',
        "instruction.md": "Write a module /calc/adding.py with a function add(a, b) that returns "
        "the sum of two whole numbers.\n",
        "environment/Dockerfile": "FROM python:3.11-slim\nWORKDIR /calc\n",
        "tests/test.sh": f"#!/bin/bash\n{_LOGS}pytest /tests/test_adding.py -q\n{_REWARD}",
        "tests/test_adding.py": "import sys\n\nsys.path.insert(0, '/calc')\nimport adding\n\n\n"
        "def test_small():\n    assert adding.add(2, 3) == 5\n\n\n"
        "def test_negative():\n    assert adding.add(-2, -3) == -5\n",
        "solution/solve.sh": "printf 'def add(a, b):\\n    return a + b\\n' > adding.py\n",
    },
    # Two steps, the second based on the first one's result.
    "two_steps": {
        "task.toml": 'schema_version = "1.4"\nmulti_step_reward_strategy = "mean"\n'
        '[metadata]\ndifficulty = "hard"\n[environment]\nworkdir = "/work"\n'
        '[[steps]]\nname = "first"\nmin_reward = 0.5\n[[steps]]\nname = "second"\n',
        "environment/Dockerfile": "FROM debian:bookworm\nRUN mkdir -p /work\n",
        "steps/first/instruction.md": "Write the number 3 to a.txt.\n",
        "steps/first/tests/test.sh": f'{_LOGS}test "$(cat a.txt)" = 3\n{_REWARD}',
        "steps/first/solution/solve.sh": "echo 3 > a.txt\n",
        "steps/second/instruction.md": "Write twice the number in a.txt to b.txt.\n",
        "steps/second/tests/test.sh": f'{_LOGS}test "$(cat b.txt)" = 6\n{_REWARD}',
        "steps/second/solution/solve.sh": "echo $((2 * $(cat a.txt))) > b.txt\n",
    },
}

_RUN_TESTS = (
    "#!/bin/bash\nuv init\nuv add pytest==8.4.1\nuv run pytest $TEST_DIR/test_outputs.py -rA\n"
)

TERMINAL_BENCH: dict[str, dict[str, str]] = {
    "count-lines": {
        "task.yaml": "instruction: |-\n  Write the number of lines of /app/data.txt to\n"
        "  /app/count.txt.\nauthor_name: somebody\ndifficulty: easy\ncategory: files\n"
        "tags:\n  - files\n  - counting\nparser_name: pytest\nmax_agent_timeout_sec: 180.0\n"
        "max_test_timeout_sec: 30.0\nrun_tests_in_same_shell: false\n",
        "Dockerfile": "FROM debian:12\nWORKDIR /app\nCOPY data.txt ./\n",
        "docker-compose.yaml": "services:\n  client:\n    build:\n      dockerfile: Dockerfile\n"
        '    command: ["sh", "-c", "sleep infinity"]\n',
        "data.txt": "a\nb\nc\n",
        "run-tests.sh": _RUN_TESTS,
        "tests/test_outputs.py": "from pathlib import Path\n\n\ndef test_count():\n"
        "    assert Path('/app/count.txt').read_text().strip() == '3'\n",
        "solution.sh": "#!/bin/bash\nwc -l < data.txt > count.txt\n",
    },
    "swap-case": {
        "task.yaml": "instruction: >\n  Write an executable /app/swap that swaps the case\n"
        '  of its standard input.\nauthor_email: nobody@example.org\ndifficulty: "medium"\n'
        "tags: [text, 'shell']\nparser_name: pytest # the usual one\n",
        "Dockerfile": "FROM ghcr.io/laude-institute/t-bench/ubuntu-24-04:latest\nWORKDIR /app\n",
        "run-tests.sh": _RUN_TESTS,
        "tests/test_outputs.py": "import subprocess\n\n\ndef swapped(text):\n"
        "    return subprocess.run(['/app/swap'], input=text, "
        "capture_output=True, text=True).stdout\n\n\n"
        "def test_word():\n    assert swapped('Hello') == 'hELLO'\n\n\n"
        "def test_other():\n    assert swapped('a1B\\n') == 'A1b\\n'\n",
        "solution.sh": "printf '#!/bin/sh\\ntr a-zA-Z A-Za-z\\n' > swap\nchmod +x swap\n",
    },
    "old-log": {
        "task.yaml": "instruction: Remove lines with DEBUG from app.log, in place.\n"
        "difficulty: hard\nparser_name: pytest\n",
        "Dockerfile": "FROM python:3.12-slim-bookworm\nRUN pip install --no-cache-dir pip\n"
        'WORKDIR /app\nRUN for n in 1 2 3; do echo "DEBUG $n"; echo "INFO $n"; done > app.log\n',
        "run-tests.sh": "cd /app\npytest -q /tests/test_log.py\n",
        "tests/test_log.py": "def test_log():\n    text = open('/app/app.log').read()\n"
        "    assert text == 'INFO 1\\nINFO 2\\nINFO 3\\n'\n",
        "solution.sh": "sed -i /DEBUG/d app.log\n",
    },
}


def write_folder(root: Path, name: str) -> Path:
    """Write one of the directories below `root`; returns its path."""
    files = {**HARBOR, **TERMINAL_BENCH}.get(name)
    assert files is not None, f"there is no directory {name}"
    for path, text in files.items():
        target = root / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return root / name
