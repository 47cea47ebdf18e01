"""Points of the Agentic Benchmark Checklist, with what this benchmark does about each.

The checklist is that of *Establishing Best Practices for Building Rigorous Agentic Benchmarks*
(arXiv 2507.02825), by its numbers and in our words. Points that follow it are our own.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CHECKLIST", "Point"]


class Point(NamedTuple):
    """One point of the checklist."""

    number: str
    """In the paper; empty for our own."""
    part: str
    statement: str
    answer: str
    """What this benchmark does about it."""
    tests: tuple[str, ...] = ()
    """Test files, relative to the repository, whose tests prove the answer; none if open."""


_TASK, _OUTCOME, _REPORT = "Task validity", "Outcome validity", "Reporting"
_BEYOND = "Beyond the checklist"
_KIT = "tests/envs/testing/test_registered.py"
_RED_TEAM = "tests/envs/terminal/test_red_team.py"
CHECKLIST = (
    Point("T.1", _TASK, "Versions of tools and packages are stated.",
          "Task sets and environments are versioned and content-hashed; what else decides tasks is pinned and probed.",
          ("tests/tasks/test_taskset.py", "tests/tasks/fingerprint/test_dependencies.py")),
    Point("T.2", _TASK, "Interfaces outside the benchmark stay available.",
          "There are none: every world is simulated in the process or runs in the sandbox.",
          (_KIT,)),
    Point("T.3", _TASK, "Evaluations handle an interface that fails.",
          "Infrastructure failures, of a model's server too, are retried, recorded and never become a score.",
          ("tests/baselines/test_resume_faults.py", "tests/evaluators/test_summary.py")),
    Point("T.4", _TASK, "State is cleared between runs.",
          "Trials are independent of their order and of each other; parallel runs give the same bytes.",
          (_KIT, _RED_TEAM)),
    Point("T.5", _TASK, "Agents are isolated from the truth.",
          "Expected answers never enter the process, page, prompt or file system that an agent can reach.",
          (_RED_TEAM, "tests/envs/shopping/test_leaks.py", "tests/envs/roleplay/test_roleplay_leaks.py")),
    Point("T.6", _TASK, "The setup does not change over time.",
          "Tasks are a function of generator, version, split and index. Any change that moves them moves the task set's hash.",
          ("tests/tasks/fingerprint/test_sources.py", "tests/tasks/fingerprint/test_code.py")),
    Point("T.7", _TASK, "The truth is verified.",
          "The oracle's solution scores 1 through the agent's interface, near misses 0, another right solution 1.",
          (_KIT, "tests/tasks/sql/test_templates.py")),
    Point("T.8", _TASK, "Every task can be solved.",
          "The oracle solves it; impossible tasks have a feasible twin and need evidence of what blocks them.",
          (_KIT, "tests/tasks/sql/test_templates.py")),
    Point("T.9", _TASK, "An oracle solves all tasks.",
          "Each event has one, and its score is the ceiling of every board.",
          (_KIT, "tests/leaderboard/test_boards.py")),
    Point("T.10", _TASK, "No weakness of the implementation passes for a solution.",
          "Attacks on graders, sandbox, database, pages and simulated users are part of the tests and score 0.",
          (_RED_TEAM, "tests/evaluators/sql/test_sql_exploits.py", "tests/envs/web/test_attacks.py")),
    Point("O.a.1", _OUTCOME, "Equivalent expressions count.",
          "Results and states are compared by value; equivalent queries and spellings score 1.",
          ("tests/evaluators/sql/test_sql_strict.py", "tests/evaluators/web/test_state_attacks.py")),
    Point("O.a.2", _OUTCOME, "Redundant words do no harm.",
          "Answers are typed arguments of a call; prose around the call is not read.",
          ("tests/evaluators/web/test_state.py", "tests/evaluators/gui/test_state.py")),
    Point("O.b.1", _OUTCOME, "Negated answers fail.",
          "Values are compared whole, so a hedged or negated one is another value.",
          ("tests/evaluators/web/test_state_attacks.py",)),
    Point("O.b.2", _OUTCOME, "Listing all answers fails.",
          "Answers have a fixed number of parts; an agent that submits everything it saw is run on every event.",
          ("tests/evaluators/web/test_webarena.py", "tests/baselines/test_report.py")),
    Point("O.b.3", _OUTCOME, "The truth cannot be guessed.",
          "Each board shows how well endings are predicted from ids, digests and openings.",
          ("tests/envs/testing/test_forecasting.py", "tests/leaderboard/test_predicting.py")),
    Point("O.c.1", _OUTCOME, "The judge's accuracy, consistency and agreement with people are shown.",
          "Judges are audited against labelled sets and by repeats; planted controls decide whether a judged file "
          "counts. Agreement with people has not been measured.",
          ("tests/baselines/judging/test_audit.py", "tests/leaderboard/test_judged.py")),
    Point("O.c.2", _OUTCOME, "The judge resists adversarial inputs.",
          "What agents wrote is fenced and cleaned; an audit measures attacks with and without the guards.",
          ("tests/evaluators/judges/test_isolation.py", "tests/baselines/judging/test_audit.py")),
    Point("O.d.1", _OUTCOME, "Test cases are verified.",
          "Near misses of every template must fail them, the alternative solution must pass.",
          (_KIT, "tests/envs/terminal/test_grader_pytest.py")),
    Point("O.d.2", _OUTCOME, "The quality of test cases is measured.",
          "An SQL task is kept only if hidden databases distinguish ten mutants of its query or more, all essential ones among them.",
          ("tests/tasks/sql/test_mutations.py", "tests/tasks/sql/test_templates.py")),
    Point("O.e.1", _OUTCOME, "Edge cases are tested.",
          "Hidden databases hold values at each bound of the question: a query that is off by one fails.",
          ("tests/evaluators/sql/test_sql_bounds.py", "tests/tasks/sql/test_bounds.py")),
    Point("O.e.2", _OUTCOME, "Inputs cover all variations.",
          "Every query runs on five hidden populations of its schema or more.",
          ("tests/tasks/sql/test_templates.py", "tests/tasks/sql/test_populate.py")),
    Point("O.e.3", _OUTCOME, "Inputs are such that the code is sensitive to them.",
          "Each hidden database must distinguish some mutant of the query, or the task is discarded.",
          ("tests/tasks/sql/test_mutations.py", "tests/tasks/sql/test_templates.py")),
    Point("O.f.1", _OUTCOME, "End-to-end tests exercise all relevant parts.",
          "Everything that the task changes is compared, and that nothing else changed.",
          ("tests/tasks/terminal/test_sameness.py", "tests/evaluators/web/test_state.py")),
    Point("O.f.2", _OUTCOME, "Results are not flaky.",
          "The same seed and actions give the same bytes; every board is verified by replay.",
          (_KIT, "tests/cli/test_boards.py")),
    Point("O.g.1", _OUTCOME, "All states after a success are accepted.",
          "What a task leaves open (numbers of new rows, times, order) is not compared; an alternative solution must score 1.",
          (_KIT, "tests/evaluators/web/test_state_attacks.py")),
    Point("O.g.2", _OUTCOME, "Relevant and irrelevant state is checked.",
          "A change that nobody asked for fails the trial.",
          ("tests/evaluators/gui/test_state.py", "tests/evaluators/web/test_state.py")),
    Point("O.g.3", _OUTCOME, "Trivial changes of state do not succeed.",
          "Random and scripted agents play every event; the best of them is the floor.",
          ("tests/envs/web/test_fuzz_agent.py", "tests/baselines/test_report.py")),
    Point("O.h.1", _OUTCOME, "The form of the answer is stated.",
          "Answers are arguments with a JSON schema; a malformed call is answered with the right form.",
          (_KIT, "tests/envs/test_tools.py")),
    Point("O.h.2", _OUTCOME, "Guessing rarely succeeds.",
          "Constants, the most frequent answer and random choices are played; their best score is the floor.",
          ("tests/envs/testing/test_agreement.py", "tests/baselines/test_report.py")),
    Point("O.i.1", _OUTCOME, "Quality measures cannot be exploited.",
          "The headline is success or failure. Partial credit stands beside it and enters no rank.",
          ("tests/evaluators/test_verifier.py", "tests/evaluators/test_summary.py")),
    Point("R.1", _REPORT, "Code and data are open.",
          "Generators, environments, verifiers and records are published; the wheel contains all of them.",
          ("tests/test_wheel.py", "tests/test_repository.py")),
    Point("R.2", _REPORT, "The harness is open.",
          "Evaluation, replay and this site are commands of the same package.",
          ("tests/test_docs.py", "tests/leaderboard/test_build.py")),
    Point("R.3", _REPORT, "Contamination is prevented.",
          "Held-out rounds are drawn from a secret whose hash is published first; training data is declared.",
          ("tests/tasks/test_taskset.py", "tests/cli/test_boards.py")),
    Point("R.4", _REPORT, "Tasks are renewed over time.",
          "Train splits are unbounded and held-out rounds draw new tasks; versions never share a board.",
          ("tests/tasks/test_taskset.py", "tests/leaderboard/test_boards.py")),
    Point("R.5", _REPORT, "Capabilities and what is measured are related.",
          "Each event's guide says what its tasks ask for and what its verifier checks. No test can prove that."),
    Point("R.6", _REPORT, "What is evaluated is stated.",
          "Model, agent and scaffold are named apart in every submission.",
          ("tests/leaderboard/test_board_folder.py",)),
    Point("R.7", _REPORT, "Flaws are prevented, found and corrected.",
          "New environments pass a conformance kit; wrong rewards have a form for reports; corrections raise a version "
          "and leave a line in the ledger.",
          ("tests/envs/testing/test_kit.py", "tests/test_repository.py")),
    Point("R.8", _REPORT, "Unavoidable flaws are discussed.",
          "The verification guide lists each statement that no replay can check, and what would.",
          ("tests/baselines/test_forgeries.py",)),
    Point("R.9", _REPORT, "Their effect is quantified.",
          "Boards show the noise of repeat runs, bounds for trials without a score, and predictable endings.",
          ("tests/leaderboard/test_resolution.py", "tests/leaderboard/test_predicting.py")),
    Point("R.10", _REPORT, "Statistical significance is reported.",
          "Intervals on effective n, paired tests with Holm's correction, rank ranges, detectable differences.",
          ("tests/evaluators/test_statistics_intervals.py", "tests/evaluators/test_statistics_units.py")),
    Point("R.11", _REPORT, "Readers learn how to interpret results.",
          "The page How to read explains every figure, badge and flag, and what no replay shows.",
          ("tests/leaderboard/test_guide.py",)),
    Point("R.12", _REPORT, "Baselines other than models are reported.",
          "The oracle and eight scripted agents are on every board. No people have been measured."),
    Point("R.13", _REPORT, "Trivial agents are reported.",
          "An agent that does nothing is among those that set the floor beside every score.",
          ("tests/baselines/test_report.py", "tests/leaderboard/test_boards.py")),
    Point("", _BEYOND, "Results can be verified by others.",
          "Recorded actions are replayed; forged runs, ledgers and signatures are refused with the place.",
          ("tests/baselines/test_forgeries.py", "tests/leaderboard/test_board_folder.py")),
    Point("", _BEYOND, "Infrastructure failures are no failures of the agent.",
          "They are counted apart, bounded on both sides, and cost the rank above 2 %.",
          ("tests/evaluators/test_summary.py", "tests/leaderboard/test_boards.py")),
    Point("", _BEYOND, "Pages display submissions without executing them.",
          "A corpus of hostile texts is put into every field and opened in a real browser.",
          ("tests/leaderboard/test_injection.py",)),
)  # fmt: skip
