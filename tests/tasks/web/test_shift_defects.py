"""Defects of the sites of a shift: real sites in the twin, and real days."""

import json
from dataclasses import replace

import pytest

from hexathlon.envs.web.env import WebEnv
from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.evaluators.web.state import web_state
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import play
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.source import _draft_of
from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.defects import (
    DefectiveSites,
    SiteDefect,
    defect_edits,
    guarded,
    saves_of,
)
from hexathlon.tasks.web.templates.shifts.ledger import record_of
from hexathlon.tasks.web.templates.shifts.office_jobs import issue_priorities, reorder_levels
from hexathlon.tasks.web.templates.shifts.records import ShiftBench
from hexathlon.tasks.web.templates.shifts.templates import TEMPLATES
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network
from support.chromium import skip_without_chromium
from support.web_pages import reward_of, task_ids

HELD_OUT = {"late", "linked"}
UNSEEN = {f"{kind}_unseen" for kind in ("lost", "stray", "step", "late", "linked")}


@pytest.fixture(scope="module")
def bench():
    scene = WebScene(generator_for("defects"), "hard", "train", "en", True, 5)
    return ShiftBench(scene, scene.plan("mail", "tracker"))


@pytest.fixture(scope="module")
def job(bench):
    made = issue_priorities(bench, range(3, 7))
    assert made is not None
    return made


class Episode:
    """A tracker with defects in the twin; saves are made on its pages."""

    def __init__(self, bench, job, *defects):
        plan = bench.plan.with_edits([*bench.edits, *defect_edits(defects)])
        self.job, self.defects, self.bench = job, defects, bench
        self.network, self.browser = Network(plan, LOOKS[next(iter(LOOKS))]), TwinBrowser()
        self.browser.open(self.network)
        self.screens = []

    def run(self, script):
        def respond(action):
            call = json.loads(action)
            self.browser.act(call["name"], call["arguments"])
            self.screens.append(self.browser.view().text)
            return self.screens[-1]

        play(script, respond)

    def save(self, target, values):
        self.run(self.job.write(Pilot("en"), target, values))

    def others(self, target, values):
        self.network.intervene(guarded(self.defects, self.job.edits(target, values)))

    def shown(self, target):
        """Return the values that the site has for a record."""
        sql = f"SELECT {self.job.column} FROM issues WHERE number = ?"
        return {self.job.column: self.network.store("tracker").value(sql, (target.key,))}

    def changed(self):
        """Return the changes of the sites, by table and key."""
        tables = self.network.final_state()["changes"].get("tracker", {})
        return {(table, after["number"]) for table, each in tables.items()
                for before, after in each["changed"]
                if before[self.job.column] != after[self.job.column]}  # fmt: skip


def other_values(target, *former):
    return next(each for each in target.values if each not in (target.before, *former))


def test_a_lost_change_is_kept_the_second_time(bench, job):
    first, second, *_ = job.targets
    values = other_values(first)
    with_defect = Episode(bench, job, SiteDefect("lost", job, first, values))
    with_defect.save(first, values)
    assert with_defect.shown(first) == first.before and with_defect.changed() == set()
    with_defect.save(second, other_values(second))
    assert with_defect.shown(second) == other_values(second)
    with_defect.save(first, values)
    assert with_defect.shown(first) == values


def test_a_stray_change_stores_other_values_once(bench, job):
    first = job.targets[0]
    values = other_values(first)
    instead = other_values(first, values)
    with_defect = Episode(bench, job, SiteDefect("stray", job, first, values, None, instead))
    with_defect.save(first, values)
    assert with_defect.shown(first) == instead
    with_defect.save(first, values)
    assert with_defect.shown(first) == values


def test_a_step_is_possible_only_by_way_of_another_value(bench, job):
    first = job.targets[0]
    values = other_values(first)
    between = other_values(first, values)
    with_defect = Episode(bench, job, SiteDefect("step", job, first, values, None, first.before))
    for _ in range(3):
        with_defect.save(first, values)
        assert with_defect.shown(first) == first.before
    with_defect.save(first, between)
    assert with_defect.shown(first) == between
    with_defect.save(first, values)
    assert with_defect.shown(first) == values


def test_a_late_loss_comes_with_the_next_save_of_another_record_and_once(bench, job):
    first, second, *_ = job.targets
    values = other_values(first)
    with_defect = Episode(bench, job, SiteDefect("late", job, first, values))
    with_defect.save(first, values)
    assert with_defect.shown(first) == values
    with_defect.save(second, other_values(second))
    assert with_defect.shown(first) == first.before
    assert with_defect.changed() == {("issues", second.key)}
    with_defect.save(first, values)
    with_defect.save(second, second.before)
    assert with_defect.shown(first) == values


def test_a_linked_record_changes_as_well_in_one_direction_and_once(bench, job):
    first, second, *_ = job.targets
    values = next(each for each in first.values if each not in (first.before, second.before))
    with_defect = Episode(bench, job, SiteDefect("linked", job, first, values, second))
    with_defect.save(first, values)
    assert with_defect.shown(first) == with_defect.shown(second) == values
    with_defect.save(second, second.before)
    assert (with_defect.shown(first), with_defect.shown(second)) == (values, second.before)
    with_defect.save(first, first.before)
    with_defect.save(first, values)
    assert with_defect.shown(second) == second.before


def every_kind(job):
    first, second, third, *_ = job.targets
    values = {each: other_values(each) for each in job.targets}
    return (
        SiteDefect("lost", job, first, values[first]),
        SiteDefect("stray", job, second, values[second], None,
                   other_values(second, values[second])),
        SiteDefect("late", job, third, values[third]),
        SiteDefect("step", job, third, third.before, None, values[third]),
        SiteDefect("linked", job, second, second.before, third),
    )  # fmt: skip


def test_other_people_set_off_no_defect_and_call_off_a_pending_one(bench, job):
    first, second, third, *_ = job.targets
    defects = every_kind(job)
    with_defects = Episode(bench, job, *defects)
    for target in (first, second, third):
        with_defects.others(target, other_values(target))
        assert with_defects.shown(target) == other_values(target)
    with_defects.others(third, third.before)
    assert with_defects.shown(third) == third.before
    assert with_defects.changed() == set()
    with_defects.others(first, first.before)
    with_defects.save(first, other_values(first))
    assert with_defects.shown(first) == first.before
    with_defects.save(third, other_values(third))
    with_defects.others(third, third.values[-1])
    with_defects.save(first, other_values(first))
    assert with_defects.shown(third) == third.values[-1]


def test_a_change_that_is_not_undone_by_the_report_remains(bench, job):
    """Nobody who saves in another order has to watch for it all day."""
    first, second, *_ = job.targets
    values = other_values(first)
    defect = SiteDefect("late", job, first, values)
    episode, model = Episode(bench, job, defect), DefectiveSites([defect])
    for number, (target, given) in enumerate([(first, values), (second, other_values(second))]):
        if number:
            episode.network.intervene(guarded([defect], []))
        place = record_of(job, target)
        found = saves_of(model, [(job, target, given)], {place: given}, {place: (job, target)})
        assert found == ([], True)
        episode.save(target, given)
        assert episode.shown(first) == model.shown(job, first) == values


def test_an_emptied_cell_has_the_defects_of_a_full_one():
    scene = WebScene(generator_for("cells"), "hard", "train", "en", True, 5)
    bench = ShiftBench(scene, scene.plan("mail", "sheets"))
    cells = reorder_levels(bench, range(3, 12))
    first, second, third, *_ = cells.targets
    values = {each: each.values[0] for each in cells.targets}
    astray = first.values[1]
    defects = (SiteDefect("stray", cells, first, values[first], None, astray),
               SiteDefect("linked", cells, second, values[second], first),
               SiteDefect("lost", cells, third, values[third]))  # fmt: skip
    episode = Episode(bench, cells, *defects)

    def raw(target):
        sql = "SELECT raw FROM cells WHERE id = ?"
        return episode.network.store("sheets").value(sql, (target.key,))

    def saved(target, text):
        episode.save(target, {"raw": text})
        return raw(target)

    for target in (first, second, third):
        assert saved(target, "") is None
    assert saved(first, values[first]["raw"]) == astray["raw"]
    assert saved(second, values[second]["raw"]) == raw(first) == values[second]["raw"]
    assert saved(third, values[third]["raw"]) == ""
    assert saved(third, values[third]["raw"]) == values[third]["raw"]


def test_a_fork_right_before_a_defect_gives_the_same_bytes(bench, job):
    first, second, third, *_ = job.targets
    parent = Episode(bench, job, *every_kind(job))
    parent.save(third, other_values(third))
    fork = Episode(bench, job, *every_kind(job))
    fork.network.load(parent.network.save())
    fork.browser.load(parent.browser.save(), fork.network)
    for episode in (parent, fork):
        episode.screens.clear()
        for target in (first, second, first):
            episode.save(target, other_values(target))
    assert fork.screens == parent.screens and fork.shown(third) == third.before
    assert fork.network.save() == parent.network.save()


def test_defects_are_on_no_page_and_in_no_difference(bench, job):
    with_defects, without = Episode(bench, job, *every_kind(job)), Episode(bench, job)
    for episode in (with_defects, without):
        episode.run(job.find(Pilot("en")))
        for target in job.targets:
            episode.run(Pilot("en").goto("tracker", f"/issues/{target.key}"))
    assert with_defects.screens == without.screens
    assert with_defects.network.final_state()["changes"] == {}
    assert with_defects.network.store("tracker").value("SELECT count(*) FROM _defects") == 5


@pytest.mark.parametrize("seed", range(8))
def test_the_model_and_the_triggers_agree_on_any_course(bench, job, seed):
    """Random saves and changes by other people, by SQL and in the model."""
    rng = generator_for("courses", seed)
    defects = every_kind(job)
    episode, model = Episode(bench, job, *defects), DefectiveSites(defects)
    store = episode.network.store("tracker")
    for _ in range(40):
        target = job.targets[int(rng.integers(len(job.targets)))]
        values = (target.before, *target.values)[int(rng.integers(1 + len(target.values)))]
        if rng.random() < 0.2:
            episode.others(target, values)
            model.edit(job, target, values)
        else:
            for _, sql, told in job.edits(target, values):
                store.execute(sql, told)
            model.save(job, target, values)
        assert [episode.shown(each) for each in job.targets] == [
            model.shown(job, each) for each in job.targets
        ]


def test_repairs_lead_to_the_wanted_values(job):
    defects = every_kind(job)
    places = {record_of(job, each): (job, each) for each in job.targets}
    wanted = {record_of(job, each): other_values(each) for each in job.targets}
    writings = [(job, each, other_values(each)) for each in job.targets]
    sites = DefectiveSites(defects)
    more, repaired = saves_of(sites, writings, wanted, places)
    assert repaired and {target.key for _, target, _ in more} == {
        each.key for each in job.targets[:3]
    }
    assert all(sites.shown(*places[place]) == wanted[place] for place in places)
    blind = DefectiveSites(defects)
    saves_of(blind, writings, wanted, places, ("lost",))
    assert [blind.shown(job, each) == other_values(each) for each in job.targets[:3]] == [
        False, True, True,
    ]  # fmt: skip


def test_a_step_without_a_way_around_is_not_repaired(job):
    first = job.targets[0]
    values = other_values(first)
    only = replace(first, values=(values,))
    defect = SiteDefect("step", job, only, values, None, first.before)
    place = record_of(job, only)
    writings = [(job, only, values)]
    sites = DefectiveSites([defect])
    assert saves_of(sites, writings, {place: values}, {place: (job, only)}) == ([], False)


# Days ------------------------------------------------------------------------------------------


def defects_of(task):
    """Return the rows that install a day's defects: site, kind and record."""
    return [
        (site, values[1], values[2])
        for site, sql, values in task.params["world"]["edits"]
        if sql.startswith("INSERT INTO _defects ")
    ]


@pytest.fixture(scope="module")
def days():
    source = get_source("web")
    splits = ("train", "dev", "test") * 4
    return [
        source.build(task_ids(each.name, "hard", split, 1)[0])
        for each, split in zip(TEMPLATES[:12], splits, strict=True)
    ]


def test_each_day_has_three_defects_of_three_kinds(days):
    for task in days:
        defects = defects_of(task)
        kinds = {kind for _, kind, _ in defects}
        assert len(kinds) >= 3 and len({(site, key) for site, _, key in defects}) >= 3
        assert bool(kinds & HELD_OUT) == (task.split != "train")


def test_reports_are_checked_against_the_records(days):
    for task in days:
        requests = task.checks[0].params["requests"]
        assert {len(each["records"]) for each in requests} == {len(task.params["records"])}


def test_each_kind_that_goes_unseen_is_a_near_miss(days):
    for task in days:
        kinds = {f"{kind}_unseen" for _, kind, _ in defects_of(task)}
        mutants = _draft_of(task).mutants.keys()
        assert mutants & UNSEEN == kinds and "never_looked_again" in mutants


@pytest.mark.slow
def test_whoever_never_looks_again_fails(days):
    source, env = get_source("web"), WebEnv()
    for task in days:
        assert reward_of(env, task.id, source.oracle(task)) == 1
        for name, script in source.mutants(task).items():
            if name in UNSEEN or name == "never_looked_again":
                assert reward_of(env, task.id, script) == 0, (task.id, name)
    env.close()


def test_a_change_made_up_for_after_the_report_is_too_late():
    """The end of the day is right; one report came before a lost change was made again."""
    source, env = get_source("web"), WebEnv()
    task = source.build(task_ids("shift_office", "hard", "test", 1)[0])
    assert reward_of(env, task.id, source.oracle(task)) == 1
    final = env.final_state()
    reports = [dict(each) for each in final["reports"]]
    place = next(k for k, (one, other) in enumerate(zip(reports[0]["records"], reports[-1]["records"],
                                                        strict=True)) if one != other)  # fmt: skip
    records = [*reports[-1]["records"]]
    records[place] = reports[0]["records"][place]
    reports[-1]["records"] = records
    env.close()
    params = task.checks[0].params
    assert web_state(task, params, final, ()).score == 1
    late = web_state(task, params, {**final, "reports": reports}, ())
    assert late.score == 0 and late.terms["changes"] == 1
    assert late.terms[f"request {len(reports)}"] == 0


@pytest.mark.slow
def test_a_day_with_every_kind_in_chromium():
    skip_without_chromium()
    source, env = get_source("web"), WebEnv(backend="chromium")
    task = source.build(task_ids("shift_project", "hard", "test", 1)[0])
    assert len({kind for _, kind, _ in defects_of(task)}) >= 4
    assert reward_of(env, task.id, source.oracle(task)) == 1
    assert reward_of(env, task.id, source.mutants(task)["never_looked_again"]) == 0
    env.close()
