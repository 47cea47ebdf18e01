"""WebArena's sets are read as published; placeholders, probes and calls."""

import json
from collections import Counter

import pytest

from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import TaskSet
from hexathlon.tasks.web.loaders.probes import parse_call, post_url, probe_of
from hexathlon.tasks.web.loaders.sites import (
    SITES,
    SiteUrlMissing,
    placeholders_in,
    resolved,
    site_urls,
)
from hexathlon.tasks.web.loaders.webarena import VisualWebArenaSource
from support.web_external import raw_task

NAMES = ("webarena", "webarena-verified")


@pytest.fixture
def sets(shared_data, monkeypatch):
    if not (shared_data / "webarena").is_dir():
        pytest.skip("../shared/data/webarena is not there")
    monkeypatch.setenv("HEXATHLON_DATA", str(shared_data))
    return {name: get_source(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_all_tasks_are_read(sets, name):
    source = sets[name]
    assert source.size("test") == 812
    assert source.size("train") == source.size("dev") == 0
    tasks = list(TaskSet(name, "test"))
    assert len({task.id for task in tasks}) == len({task.hash for task in tasks}) == 812
    assert all(placeholders_in(task.params["external"]["start_urls"]) for task in tasks)
    assert all(set(task.params["external"]["sites"]) <= set(SITES) for task in tasks)
    first = [source.address("test", index).split("/")[1] for index in range(150)]
    assert len(set(first)) == 150, "the first tasks have different templates"
    with pytest.raises(UnknownTask):
        source.build(f"{name}/t0/medium/test/00000")


def test_contents_of_the_original(sets):
    rules = [item.checks[0].params for item in sets["webarena"].items]
    kinds = Counter(kind for rule in rules for kind in rule["types"])
    assert kinds == {"string_match": 335, "program_html": 411, "url_match": 205}
    probes = Counter(probe["kind"] for item in sets["webarena"].items for probe in item.probes)
    assert probes == {"script": 526, "page": 105, "unsupported": 20}


def test_contents_of_the_verified_set(sets):
    rules = [item.checks[0].params for item in sets["webarena-verified"].items]
    assert sum(len(rule["response"]) for rule in rules) == 812
    assert sum(len(rule["events"]) for rule in rules) == 663


def test_every_url_can_be_resolved(sets):
    urls = {name: f"http://{name}.example:8000" for name in SITES}
    for source in sets.values():
        for item in source.items:
            check = [check.params for check in item.checks]
            assert not placeholders_in(resolved([item.start_urls, item.probes, check], urls))


def test_visual_tasks_are_read(tmp_path):
    image = {
        **raw_task(3, ["page_image_query"]),
        "image": ["http://x/1.png"],
        "overall_difficulty": "hard",
    }
    image["eval"]["page_image_query"] = [{"eval_image_url": "last", "eval_image_class": ""}]
    for name in VisualWebArenaSource.files:
        (tmp_path / name).write_text(json.dumps([image]))
    source = VisualWebArenaSource(tmp_path)
    assert source.size("test") == source.size("test", "hard") == 3
    task = source.build(source.address("test", 2))
    assert task.level == "hard" and task.params["external"]["images"] == ["http://x/1.png"]
    assert "Image 1: http://x/1.png" in task.instruction


def test_missing_and_broken_files(tmp_path, monkeypatch):
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    with pytest.raises(MissingData, match=r"test\.raw\.json"):
        get_source("webarena").size("test")
    (tmp_path / "webarena").mkdir()
    (tmp_path / "webarena" / "test.raw.json").write_text("{}")
    with pytest.raises(MissingData, match="not a list"):
        get_source("webarena").size("test")


def test_urls_of_sites(monkeypatch):
    monkeypatch.setenv("HEXATHLON_SITE_SHOPPING", "http://shop.example:7770/")
    monkeypatch.setenv("HEXATHLON_SITE_SHOPPING_ADMIN", "http://shop.example:7780/admin")
    urls = site_urls({"reddit": "http://forum.example"})
    assert resolved("__SHOPPING__/a.html", urls) == "http://shop.example:7770/a.html"
    assert resolved(["__SHOPPING_ADMIN__/x"], urls) == ["http://shop.example:7780/admin/x"]
    assert resolved({"url": "__REDDIT__/f/x"}, urls) == {"url": "http://forum.example/f/x"}
    with pytest.raises(SiteUrlMissing, match="HEXATHLON_SITE_GITLAB"):
        resolved("__GITLAB__", urls)
    with pytest.raises(SiteUrlMissing, match="http://"):
        site_urls({"gitlab": "file:///etc"})
    with pytest.raises(SiteUrlMissing, match="no site 'gitlob'"):
        site_urls({"gitlob": "http://x"})


def test_calls_are_parsed_and_never_run():
    assert parse_call("func:f(__page__, 'a')") == ("f", ("__page__", "a"))
    for text in ("func:f(g())", "func:f(a.b)", "func:f(x='1')", "func:__import__('os').system('x')",
                 "func:[f for f in ()]", "func:f(", "func:f('a' + 'b')"):  # fmt: skip
        assert parse_call(text) is None
        assert probe_of({"url": "last", "locator": text})["kind"] == "unsupported"


def test_probes():
    quoted = probe_of(
        {"url": "last", "locator": "func:gitlab_get_project_memeber_role(__page__, 'a\"b')"}
    )
    assert quoted["kind"] == "script" and '"a\\"b"' in quoted["expression"]
    assert probe_of({"url": "__MAP__", "locator": ""})["kind"] == "page"
    order = probe_of({"url": "func:shopping_get_latest_order_url()", "locator": "document.title"})
    assert order["kind"] == "unsupported"
    post = probe_of({"url": "func:reddit_get_post_url('__last_url__')", "locator": ""})
    assert post["url"] == "post of last"
    assert post_url("http://r.test/f/pics/12/a-title?x=1") == "http://r.test/f/pics/12/"
    assert post_url("http://r.test/forums") == "http://r.test/forums"
