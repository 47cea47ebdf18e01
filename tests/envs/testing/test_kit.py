"""The conformance kit names each planted fault, and passes sound environments."""

import decimal
import re
import subprocess
from pathlib import Path

import gymnasium
import pytest

from hexathlon.envs.testing import (
    ConformanceError,
    assert_conforms,
    check_environment,
    check_names,
)
from hexathlon.envs.wrappers import ChatHistory
from support.drill import DrillEnv
from support.faults import base, contract, process, sources, truth
from support.toy import ToyEnv, ToySource

SMALL = {"fuzz": 150, "tasks": 8}

FAULTS = [
    (process.DroppedSeed, "seed_honoured", "seed"),
    (process.ConstantStart, "seed_honoured", "the same opening"),
    (process.GlobalRandom, "global_state", "the state of random"),
    (process.GlobalNumpy, "global_state", r"the state of numpy\.random"),
    (process.ChangedEnviron, "global_state", r"os\.environ"),
    (process.ClockInText, "two_instances", "at reset"),
    (process.HashOrder, "two_processes", "another hash seed"),
    (process.SharedCounter, "order_independence", "depends on earlier episodes"),
    (process.SharedWorld, "interleaved", "counter stands at"),
    (contract.AliasingFork, "fork_contract", "was changed by"),
    (contract.ForgetfulRestore, "restore_contract", "diverged"),
    (contract.UnpicklableState, "pickle_round_trip", "local object"),
    (process.LeakedFile, "no_leaked_file", "/dev/null"),
    (process.LeakedThread, "no_leaked_thread", "planted"),
    (process.LeakedProcess, "no_leaked_process", "python"),
    (process.LeakedTemporary, "no_leaked_temporary", "tmp"),
    (contract.ClockInInfo, "info_plain", "a clock"),
    (contract.UuidInInfo, "info_plain", "a uuid"),
    (contract.PathInInfo, "info_plain", "a path"),
    (contract.TruncatedInfo, "info_keys", "lacks 'reward_terms'"),
    (contract.WrongStatus, "info_keys", "status 'truncated_turns' with terminated=True"),
    (contract.RewardForNothing, "noop_scores_zero", r"doing nothing got 1\.0"),
    (contract.EasyVerifier, "mutants_score_zero", "the mutant 'off by"),
    (contract.AnythingGoes, "floor", "policy 'random' scores"),
    (sources.PolicyOfSomeEnv, "floor", r"policy 'lucky' scores 1\.000 over \d tasks"),
    (contract.NarrowVerifier, "alternatives_score_one", "'small steps' got 0"),
    (sources.LostOracleEnv, "oracle_scores_one", r"the oracle got 0\.0"),
    (sources.FewMutantsEnv, "mutants_score_zero", "fewer than 3 mutants"),
    (sources.NoAlternativeEnv, "alternatives_score_one", "fewer than 1 alternatives"),
    (contract.PaidPerStep, "reward_bounded", "declared maximum"),
    (truth.LeakyCanary, "canary_hidden", "was shown"),
    (truth.CanaryInInfo, "canary_hidden", "was shown"),
    (contract.CrashOnMalformed, "fuzzed_actions", "UnicodeEncodeError"),
    (contract.AcceptsAnyOption, "unknown_option", "was accepted"),
    (contract.LongObservation, "observation_bounded", r"not in Unicode\(65536\)"),
    (contract.ClosesOnce, "close_twice", "KeyError"),
    (contract.ReusedBuffer, "fresh_observations", "changed by a later call"),
    (contract.WrongType, "gymnasium_checker", "reward"),
    (contract.StepsOn, "step_after_end", r"after the end \(completed\) was played"),
    (truth.NoCanary, "canary_hidden", "has an empty canary"),
    (truth.IdInOpening, "id_hidden", "the id toy/count/tiny/dev/00000 was shown"),
    (
        truth.TruthInInfo,
        "truth_in_info",
        r"info\['wanted'\] of the last step shows",
    ),
    (truth.TruthInOpening, "truth_in_observations", "the opening shows"),
    (truth.TruthAfterTheEnd, "truth_in_observations", "the answer to a wrong ending shows"),
    (truth.TruthWhenAsked, "truth_in_observations", "an empty or malformed turn shows"),
    (contract.LateForgetfulFork, "fork_every_turn", "diverged"),
    (contract.LateSharedFork, "fork_every_turn", "diverged|the parent was changed"),
    (process.TimeOfDay, "clock_hidden", "so the time is visible"),
    (process.DateOfToday, "clock_hidden", "so the time is visible"),
    (contract.AcceptsNeighbours, "neighbours_score_zero", "still score 1: drop:add"),
    (truth.LeakInDisguise, "truth_in_observations", "by its sha256"),
    (truth.TruthWhenIdle, "truth_in_observations", "an empty or malformed turn shows"),
    (truth.TruthInRefusal, "truth_in_observations", "the answer to a refused call shows"),
    (truth.TruthInToolsEnv, "truth_in_observations", "a tool's description shows"),
    (process.MarkedTask, "order_independence", "changed the record of its own task"),
    (process.UserInText, "two_processes", "another hash seed, locale, user"),
    (process.FolderInText, "two_processes", "user and folder got different bytes"),
    (process.Printing, "two_processes", "wrote to standard output: 'An episode begins"),
    (process.SecondsInText, "clock_hidden", "so the time is visible"),
    (process.SeedsRandom, "global_state", "the state of random"),
    (process.SetsPrecision, "global_state", "changed the decimal context"),
    (contract.ChangesAction, "fresh_observations", "was changed by a later call"),
    (contract.HiddenVerdict, "neighbours_score_zero", r"give 0\.0 for its final state"),
    (contract.ForgetfulReading, "neighbours_score_zero", "changes when it is read"),
    (contract.ScoresWhatWasSaid, "neighbours_score_zero", "after saying the right one"),
    (contract.LaxInTest, "mutants_score_zero", r"the mutant 'off by .* on toy/count/\w+/test/"),
    (sources.IdleMutantsEnv, "mutants_score_zero", "fewer than 3 mutants that differ"),
    (sources.OneLevelEnv, "addresses_kept", "level tiny should be"),
    (sources.NoSaltEnv, "salt_honoured", "are the same with another salt"),
    (process.HomeInText, "machine_hidden", "another home, host name"),
    (process.HostInText, "machine_hidden", "another home, host name"),
    (process.LoginInText, "machine_hidden", "another home, host name"),
    (process.NodeInText, "machine_hidden", "another home, host name"),
    (process.CpusInText, "machine_hidden", "another home, host name"),
    (process.AffinityInText, "machine_hidden", "another home, host name"),
    (process.TemporaryInText, "machine_hidden", "another home, host name"),
    (process.MarkInFolder, "machine_hidden", "another home, host name"),
    (process.EditorInText, "machine_hidden", "another home, host name"),
    (process.KindToTheKit, "two_processes", "a fresh process, without the kit"),
    (process.KindToItsCaller, "two_processes", "a fresh process, without the kit"),
    (process.KindToPytest, "two_processes", "a fresh process, without the kit"),
    (truth.AddendsInInfo, "truth_in_parts", r"\['part'\] of .* plus info\['rest'\] of"),
    (truth.ShiftedTruthInInfo, "truth_in_parts", r"\['part'\] of .* times and plus constants"),
    (truth.MaskedTruthInInfo, "truth_in_parts", r"info\['parts'\]\.a of .* xor info"),
    (truth.HalvesInInfo, "truth_in_parts", r"\['a'\] of .* followed by info\['b'\]"),
    (contract.NegativeReward, "reward_bounded", r"paid -\d+\.0 in total, less than 0"),
    (contract.NoLastStep, "neighbours_score_zero", "still score 1: .*drop:submit"),
]

RARE_FAULTS = [
    (sources.RarelyLostEnv, "oracle_scores_one", r"of 1000 tasks are not solved"),
    (sources.OneSidedEnv, "floor", "policy '(constant|neighbour)' scores"),
    (sources.SameContentEnv, "splits_apart", "tasks are in dev and in test, such as"),
    (process.GreetsRegulars, "order_independence", "depends on the many episodes before"),
    (process.BusyProcess, "two_processes", "got different bytes"),
    (sources.CountingSourceEnv, "builds_are_pure", "a different task when it is built again"),
    (sources.RepeatedEnv, "tasks_differ", "the first 40 ids of dev name 2 tasks"),
    (sources.OtherNamesEnv, "splits_apart", "solutions with the same numbers are in dev and"),
    (sources.SideInIndexEnv, "numbers_tell_nothing", "bit 0 of the index goes with"),
    (sources.SideInSeedEnv, "numbers_tell_nothing", "bit 2 of the seed goes with"),
    (sources.SideInNameEnv, "names_tell_nothing", "predicts the ending report report.reason"),
]
"""Faults that show over many tasks."""


@pytest.fixture(autouse=True)
def tidy():
    with decimal.localcontext():
        yield
    base.RELEASE.set()
    while base.KEPT:
        left = base.KEPT.pop()
        if isinstance(left, subprocess.Popen):
            left.communicate()
        elif isinstance(left, Path):
            left.unlink(missing_ok=True)
        elif hasattr(left, "close"):
            left.close()
        else:
            left.join(5)
    base.RELEASE.clear()


@pytest.mark.parametrize(
    ("faulty", "check", "reason"), FAULTS, ids=[f"{f.__name__}-{c}" for f, c, _ in FAULTS]
)
def test_each_planted_fault_is_named_with_its_reason(faulty, check, reason):
    (result,) = check_environment(faulty, only=[check], **SMALL).results
    assert re.search(f"(?s)failed.*{check}: .*{reason}.*fix: ", str(result)), str(result)


@pytest.mark.parametrize(
    ("faulty", "check", "reason"), RARE_FAULTS, ids=[f.__name__ for f, _, _ in RARE_FAULTS]
)
def test_faults_of_few_tasks_and_of_many_together_are_found(faulty, check, reason):
    (result,) = check_environment(faulty, only=[check]).results
    assert re.search(f"(?s)failed.*{check}: .*{reason}.*fix: ", str(result)), str(result)


@pytest.mark.parametrize(
    ("env", "found"),
    [
        (truth.DoorInInfo, r"info\['hint'\] of an idle step contains .*value \('\d' in"),
        (truth.DoorAmongFewInInfo, r"info\['open'\] of an idle step contains .*value \('\d' in"),
        (truth.DoorsEnv, ""),
    ],
)
def test_short_answers_and_lists_of_choices_in_info_are_found(env, found):
    (result,) = check_environment(env, only=["truth_in_parts"], tasks=120).results
    assert result.status == ("failed" if found else "passed"), str(result)
    assert re.search(found, result.detail), str(result)


def test_every_check_is_shown_to_catch_something():
    planted = {check for _, check, _ in FAULTS + RARE_FAULTS}
    assert set(check_names()) - planted == {"spec_round_trip", "vector_equals_single"}, (
        "the other two are planted in the registered ids below"
    )


def test_neighbours_are_played_from_the_start_where_nothing_forks(monkeypatch):
    only, seen = ["neighbours_score_zero"], []
    for forks in (True, False):
        monkeypatch.setattr(contract.AcceptsNeighbours, "supports_fork", forks)
        seen += check_environment(contract.AcceptsNeighbours, only=only, **SMALL).results
    assert seen[0].status == seen[1].status == "failed" and seen[0].detail == seen[1].detail


@pytest.mark.parametrize(("template", "listed"), [("count", False), ("sum", True)])
def test_a_change_is_tolerated_for_one_template(monkeypatch, template, listed):
    reason = {f"{template}/drop:add": "planted"}
    monkeypatch.setattr(ToySource, "tolerated", {**ToySource.tolerated, **reason})
    only = ["neighbours_score_zero"]
    (result,) = check_environment(contract.AcceptsNeighbours, only=only, **SMALL).results
    assert ("drop:add (" in result.detail) == listed


@pytest.mark.parametrize(
    ("differences", "found"),
    [
        ({0}, "still score 1: drop:add"),
        ({0, 3}, ""),
        ({0, 1, 3}, r"equivalent\(\) takes the near miss 'off by -1' of toy/count"),
    ],
)
def test_a_rule_of_equivalence_excuses_neighbours_and_no_near_miss(monkeypatch, differences, found):
    def equivalent(self, task, right, other):
        return abs(right["counter"] - other["counter"]) in differences

    monkeypatch.setattr(ToySource, "equivalent", equivalent)
    monkeypatch.setattr(ToySource, "tolerated", {**ToySource.tolerated, "alter:add.amount": "-"})
    only = ["neighbours_score_zero"]
    (result,) = check_environment(contract.AcceptsNeighbours, only=only, **SMALL).results
    assert result.status == ("failed" if found else "passed"), str(result)
    assert re.search(found, result.detail), str(result)


@pytest.mark.parametrize("told", [True, False])
def test_a_public_fact_is_no_leak_and_must_be_told(monkeypatch, told):
    said = "The answer is known as {}."
    monkeypatch.setattr(
        base.HiddenSum, "public_facts", lambda self, task: [said.format(task.params["target"])]
    )

    class Telling(base.SumEnv):
        def on_reset(self, task):
            return super().on_reset(task) + (said.format(task.params["target"]) if told else "")

    (result,) = check_environment(Telling, only=["truth_in_observations"], **SMALL).results
    assert result.status == ("passed" if told else "failed"), str(result)
    assert told or "lacks 'The answer is known as" in str(result)


@pytest.mark.parametrize("action_format", ["text", "message"])
def test_a_sound_environment_passes(action_format):
    report = check_environment(ToyEnv, action_format=action_format, fuzz=2_000)
    assert report.passed, str(report)
    skipped = [result.name for result in report.results if result.status == "skipped"]
    expected = ["spec_round_trip"] + ["vector_equals_single"] * (action_format == "message")
    assert skipped == expected


def test_a_sound_environment_of_coroutines_with_images_passes():
    only = [
        "gymnasium_checker", "close_twice", "unknown_option", "step_after_end", "seed_honoured",
        "oracle_scores_one", "noop_scores_zero", "mutants_score_zero", "alternatives_score_one",
    ]  # fmt: skip
    report = check_environment(DrillEnv, only=only, **SMALL)
    assert report.passed, f"{report}: it has a tool that crashes, so nothing random is run"


@pytest.fixture
def registered():
    made = []

    def register(name, entry_point="support.toy:ToyEnv", **more):
        gymnasium.register(name, entry_point, order_enforce=False, disable_env_checker=True, **more)
        made.append(name)
        return name

    yield register
    for name in made:
        del gymnasium.registry[name]


def test_a_registered_id_passes_everything(registered):
    name = registered("tests/Sound-v0", vector_entry_point="support.toy_vector:make_vector")
    report = check_environment(name, fuzz=150, tasks=120, sample=8)
    assert report.passed, str(report)
    assert {result.status for result in report.results} == {"passed"}


def test_an_id_without_a_vector_is_named(registered):
    report = check_environment(registered("tests/Lonely-v0"), **SMALL)
    assert report.failed == ("vector_equals_single",)


def test_a_spec_that_is_not_json_is_named(registered):
    name = registered(
        "tests/Callable-v0", "support.faults.contract:WithCallable", kwargs={"scorer": len}
    )
    report = check_environment(name, only=["spec_round_trip"])
    assert report.failed == ("spec_round_trip",)


def test_fork_checks_are_skipped_with_the_reason_if_unsupported():
    from support.rigid import RigidEnv

    report = check_environment(RigidEnv, only=["fork_contract", "restore_contract"], **SMALL)
    assert [result.status for result in report.results] == ["skipped"] * 2
    assert "a reason" in report.results[0].detail


def test_a_wrapped_environment_may_be_checked_too():
    def wrapped():
        return ChatHistory(ToyEnv(), form="text")

    only = ["two_instances", "oracle_scores_one", "fork_contract", "fresh_observations"]
    assert check_environment(wrapped, only=only, **SMALL).passed


def test_the_report_reads_as_a_table_and_assert_conforms_raises_it():
    with pytest.raises(ConformanceError, match=r"(?s)ClosesOnce: \d+ passed.*failed  close_twice"):
        assert_conforms(contract.ClosesOnce, only=["close_twice", "info_keys"], **SMALL)
    assert_conforms(ToyEnv, only=["close_twice"])
    seen = []
    check_environment(ToyEnv, only=["close_twice"], progress=seen.append)
    assert [result.name for result in seen] == ["close_twice"]


def test_one_exception_is_reported_once():
    only = ["info_keys", "info_plain", "oracle_scores_one", "floor", "two_instances"]
    report = check_environment(contract.NeverBegins, only=only, **SMALL)
    assert report.failed == tuple(name for name in check_names() if name in only)
    first, *others = report.failed
    said = f"the same exception failed 4 more: {', '.join(others)}"
    assert said in str(report) and str(report).count("fix: ") == 1
    assert str(report).count("cannot begin toy/count/") == 1
    assert {result.same_as for result in report.results} == {"", first}


def test_unknown_checks_are_refused():
    with pytest.raises(ValueError, match="no check 'speed'"):
        check_environment(ToyEnv, only=["speed"])
