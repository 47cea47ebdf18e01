"""tau2's and WebShop's own files, read unchanged."""

import json
from collections import Counter

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.shopping.loaders import tau2, webshop_data
from hexathlon.tasks.shopping.world.retail import replay
from hexathlon.tasks.shopping.world.retail_tools import RETAIL_TOOLS
from support.shop import call, played
from support.webshop import write_webshop

TAU2 = get_source("tau2-retail")
WEBSHOP = get_source("webshop")


@pytest.fixture()
def tau2_ids(shared_data, monkeypatch):
    monkeypatch.setenv("HEXATHLON_DATA", str(shared_data))
    return [TAU2.address(s, i) for s in ("train", "test") for i in range(TAU2.size(s))]


@pytest.fixture()
def webshop_ids(shared_data, tmp_path, monkeypatch):
    write_webshop(shared_data / "catalog", tmp_path)
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    webshop_data.read_webshop.cache_clear()
    yield [WEBSHOP.address("test", i) for i in range(WEBSHOP.size("test"))]
    webshop_data.read_webshop.cache_clear()


def silent_terms(env, task_id):
    """The terms for an agent that ends without a message."""
    env.reset(seed=0, options={"task": task_id})
    return env.step(call("end_conversation"))[4]["reward_terms"]


def test_tau2_has_its_114_tasks_in_its_own_splits(tau2_ids):
    assert len(set(tau2_ids)) == 114
    assert (TAU2.size("train"), TAU2.size("test"), TAU2.size("dev")) == (74, 40, 0)


def test_replaying_tau2s_reference_actions_scores_one_on_every_task(tau2_ids):
    env = ShoppingEnv()
    for task_id in tau2_ids:
        assert played(env, task_id, TAU2.oracle(TAU2.build(task_id))) == 1.0, task_id
        terms = env.verdict().terms
        assert (terms["tau2_db"], terms["tau2_communicate"]) == (1.0, 1.0), task_id


def test_the_silent_agent_passes_tau2s_rule_on_some_tasks_and_ours_on_none(tau2_ids):
    env = ShoppingEnv()
    terms = [silent_terms(env, task_id) for task_id in tau2_ids]
    by_tau2 = sum(t["tau2_db"] * t["tau2_communicate"] for t in terms)
    strict = sum(all(t[k] for k in ("db", "communicate", "looked_up", "transfer")) for t in terms)
    assert (by_tau2, strict) == (8.0, 0)


def test_alternatives_count_and_near_misses_do_not(tau2_ids):
    env = ShoppingEnv()
    for task_id in tau2_ids[::3]:
        task = TAU2.build(task_id)
        for script in TAU2.alternatives(task).values():
            assert played(env, task_id, script) == 1.0, task_id
        for name, script in (*TAU2.mutants(task).items(), *TAU2.policies(task).items()):
            assert played(env, task_id, script) == 0.0, (task_id, name)


def test_replays_do_not_change_the_shared_tables(tau2_ids):
    base = tau2.retail_base()
    before = json.dumps(base.tables, sort_keys=True)
    refused = Counter(
        bool(replay(base, TAU2.build(i).params["reference"]["actions"])[1]) for i in tau2_ids
    )
    assert json.dumps(base.tables, sort_keys=True) == before
    assert 0 < refused[True] < refused[False], "some of tau2's own references are refused"


def test_several_items_get_their_own_prices_when_an_order_is_modified(tau2_ids):
    task = next(
        task
        for task in map(TAU2.build, tau2_ids)
        for action in task.params["reference"]["actions"]
        if action["name"] == "modify_pending_order_items"
        and len(set(action["arguments"]["new_item_ids"])) > 1
        and not task.params["refused"]
    )
    tables, _ = replay(tau2.retail_base(), task.params["reference"]["actions"])
    for table, key, order in tables.changes():
        if table == "orders" and order["status"] == "pending (item modified)":
            for item in order["items"]:
                variants = tables.get("products", item["product_id"])["variants"]
                if item["item_id"] in variants:
                    assert item["options"] == variants[item["item_id"]]["options"], key


def test_tau2s_sixteen_tools_are_there_and_none_evaluates_text(tau2_ids):
    assert len(RETAIL_TOOLS) == 16
    env = ShoppingEnv()
    env.reset(seed=0, options={"task": tau2_ids[0]})
    assert env.step(call("calculate", expression="2 * (3.5 + 1) - 4 / 8"))[0] == "8.5"
    for text in ("__import__('os')", "2 ** 9", "(1", "1 / 0", "9" * 300, "", "1 2"):
        assert env.step(call("calculate", expression=text))[0].startswith("Error"), text


def test_without_data_the_loader_says_what_to_set(monkeypatch):
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    webshop_data.read_webshop.cache_clear()
    with pytest.raises(MissingData, match="HEXATHLON_DATA"):
        WEBSHOP.build("webshop/options/medium/test/00000")


def test_webshops_oracle_buys_and_its_reward_is_one(webshop_ids):
    env = ShoppingEnv()
    assert len(webshop_ids) == 341
    for task_id in webshop_ids[::4]:
        assert played(env, task_id, WEBSHOP.oracle(WEBSHOP.build(task_id))) == 1.0, task_id
        assert env.verdict().terms["webshop"] == 1.0


def test_webshops_near_misses_do_not_count(webshop_ids):
    env = ShoppingEnv()
    for task_id in webshop_ids[::7]:
        task = WEBSHOP.build(task_id)
        for name, script in WEBSHOP.mutants(task).items():
            assert played(env, task_id, script) == 0.0, (task_id, name)
        for script in WEBSHOP.alternatives(task).values():
            assert played(env, task_id, script) == 1.0


@pytest.mark.parametrize("prefix", ["<r>", "<a>", "<c>", "<q>"])
def test_webshops_back_doors_are_ordinary_words(webshop_ids, prefix):
    env = ShoppingEnv()
    env.reset(seed=0, options={"task": webshop_ids[0]})
    door = env.step(f"search[{prefix} fashion]")[0]
    env.reset(seed=0, options={"task": webshop_ids[0]})
    word = env.step(call("search", keywords=f"{prefix.strip('<>')} fashion"))[0]
    assert door == word


def test_webshops_price_bounds_are_a_function_of_the_goal(webshop_ids):
    first = [goal["instruction_text"] for goal in webshop_data.read_webshop().goals]
    webshop_data.read_webshop.cache_clear()
    assert [goal["instruction_text"] for goal in webshop_data.read_webshop().goals] == first
    for goal in webshop_data.read_webshop().goals:
        price = webshop_data.read_webshop().products[goal["asin"]]["price"]
        bound = goal["price_upper"]
        # WebShop sets no bound on prices above its range.
        assert price < bound <= price + 40 if price < 970 else bound == 1_000_000


def test_webshop_pages_lead_back_and_forth(webshop_ids):
    env = ShoppingEnv()
    env.reset(seed=0, options={"task": webshop_ids[0]})
    first = env.step("search[pants]")[0]
    second = env.step("click[Next >]")[0]
    assert first != second and env.step("click[< Prev]")[0] == first
    assert "Error" in env.step("click[nonsense]")[0]
    fork = env.fork(1)[0]
    assert fork.step("click[Next >]")[0] == second
    assert env.step("click[Back to Search]")[0].endswith("Search")
    assert "Error" in env.step("well then")[0]


def test_wrong_ids_are_refused(tau2_ids):
    with pytest.raises(UnknownTask):
        TAU2.build("tau2-retail/no_write/medium/test/00099")
    with pytest.raises(UnknownTask):
        TAU2.build(tau2_ids[0].replace(tau2_ids[0].split("/")[1], "wrong"))
