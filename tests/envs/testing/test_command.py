"""The command of the conformance kit: one line per check with its time, and an exit code."""

import io
import re

import pytest

from hexathlon.envs.testing import check_names
from hexathlon.envs.testing.__main__ import main

SQL = "hexathlon/SQL-v1"
SMALL = ["--tasks", "3", "--fuzz", "20", "--sample", "3"]


def test_each_check_has_a_line_with_its_time_and_the_last_line_counts_them():
    out = io.StringIO()
    assert main([SQL, *SMALL, "--only", "floor", "close_twice", "--skip", "floor"], out) == 0
    first, *checks, last = out.getvalue().splitlines()
    assert first == SQL
    found = [re.fullmatch(r"(\w+) +(\w+) +\d+\.\d s(?:: (.*))?", line) for line in checks]
    assert [each and each.groups() for each in found] == [
        ("close_twice", "passed", None),
        ("floor", "skipped", "skipped by the caller"),
    ]
    assert re.fullmatch(r"1 passed, 0 failed, 1 skipped, \d+ s", last)


def test_a_failed_check_is_described_and_sets_the_exit_code():
    out = io.StringIO()
    assert main([SQL, *SMALL, "--only", "floor", "--floor", "-1"], out) == 3
    assert "at most -1.0 is allowed" in out.getvalue()
    assert "        fix: make answers longer" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hexathlon/Nope-v0"], "Nope"),
        ([SQL, "--taskset", "no-such-set"], "there is no task source 'no-such-set'"),
    ],
)
def test_an_environment_that_cannot_be_made_is_named_before_any_check(arguments, said, capsys):
    out = io.StringIO()
    assert main([*arguments, "--only", "floor"], out) == 1
    assert said in capsys.readouterr().err
    assert out.getvalue() == ""


def test_a_wrong_name_of_a_check_gets_the_list_of_checks(capsys):
    with pytest.raises(SystemExit) as ended:
        main([SQL, "--only", "no_such_check"])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "no_such_check" in said
    assert all(name in said for name in check_names())


def test_another_task_set_is_checked():
    out = io.StringIO()
    arguments = ["hexathlon/RolePlay-v1", "--taskset", "roleplay-shift", *SMALL]
    assert main([*arguments, "--only", "noop_scores_zero"], out) == 0
    assert "noop_scores_zero" in out.getvalue()
