"""Public sets are read unchanged, and their gold is valid."""

import gzip
import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.sql.data import chinook_questions, shipped_database, shipped_lines
from hexathlon.tasks.sql.loaders.bird import BirdSource
from hexathlon.tasks.sql.loaders.dbbench import UNREPRODUCED, DBBenchSource, replay, table_of
from hexathlon.tasks.sql.loaders.gold import hardness, is_ordered, translated
from hexathlon.tasks.sql.loaders.intercode import InterCodeSource, dump_databases
from hexathlon.tasks.sql.loaders.sample import HIDDEN, ChinookSource
from hexathlon.tasks.sql.loaders.spider import SpiderSource
from hexathlon.tasks.sql.world.database import database_bytes, hidden_bytes
from hexathlon.tasks.taskset import TaskSet


def _opened(image):
    connection = sqlite3.connect(":memory:")
    connection.deserialize(image)
    return closing(connection)


def _bag(rows, ordered=False):
    texts = [repr(row) for row in rows]
    return texts if ordered else sorted(texts)


# -- Chinook -------------------------------------------------------------------------------------


def test_chinook_ships_at_least_thirty_questions():
    source = ChinookSource()
    assert source.size("test") == len(chinook_questions()) >= 30
    assert source.size("train") == source.size("dev") == 0
    assert len({entry["text"] for entry in chinook_questions()}) == len(chinook_questions())


@pytest.mark.parametrize("variant", range(HIDDEN + 1))
def test_both_queries_of_every_question_agree(variant):
    with _opened(shipped_database("chinook", variant)) as connection:
        for entry in chinook_questions():
            ordered = entry.get("ordered", False)
            found = connection.execute(entry["query"]).fetchall()
            second = connection.execute(entry["second"]).fetchall()
            assert found, entry["text"]
            assert _bag(found, ordered) == _bag(second, ordered), entry["text"]


def test_near_misses_of_every_question_are_distinguished():
    with _opened(shipped_database("chinook")) as connection:
        for entry in chinook_questions():
            ordered = entry.get("ordered", False)
            right = _bag(connection.execute(entry["query"]).fetchall(), ordered)
            assert entry["wrong"]
            for wrong in entry["wrong"]:
                found = _bag(connection.execute(wrong).fetchall(), ordered)
                assert found != right, (entry["text"], wrong)


def test_most_answers_change_with_the_variant():
    answers = []
    for variant in range(HIDDEN + 1):
        with _opened(shipped_database("chinook", variant)) as connection:
            answers.append(
                [_bag(connection.execute(e["query"]).fetchall()) for e in chinook_questions()]
            )
    constant = sum(len({str(each) for each in row}) == 1 for row in zip(*answers, strict=True))
    assert constant <= len(chinook_questions()) // 6


def test_a_chinook_task_has_hidden_databases():
    task = TaskSet("chinook", "test")[0]
    assert task.checks[0].name == "sql_result" and task.checks[0].headline
    images = [database_bytes(task.params), *hidden_bytes(task.params)]
    assert len(set(images)) == HIDDEN + 1


# -- DBBench -------------------------------------------------------------------------------------


def _entries():
    return [json.loads(line) for line in shipped_lines("dbbench.jsonl.gz")]


def test_dbbench_ships_whole():
    source = DBBenchSource()
    assert source.size("test") == 300
    kinds = Counter(task.template for task in TaskSet(source, "test"))
    assert kinds["insert"] == kinds["update"] == 100
    assert sum(kinds.values()) == 300


def test_the_shipped_file_is_the_public_one(shared_data):
    public = (shared_data / "dbbench" / "standard.jsonl").read_bytes()
    lines = gzip.decompress(gzip.compress(public)).decode().splitlines()
    assert shipped_lines("dbbench.jsonl.gz") == lines


def test_a_folder_of_dbbench_loads_as_it_is(shared_data):
    own, public = DBBenchSource(), DBBenchSource(shared_data / "dbbench")
    assert [task.hash for task in TaskSet(own, "test")] == [
        task.hash for task in TaskSet(public, "test")
    ]


def test_every_write_label_replays_and_changes_the_table():
    entries = [entry for entry in _entries() if entry["type"][0] in ("INSERT", "UPDATE")]
    assert len(entries) == 200
    for entry in entries:
        table = table_of(entry)
        image = database_bytes({"database": {"kind": "tables", "tables": [table]}})
        with _opened(image) as connection:
            name = table["name"].replace('"', '""')
            before = connection.execute(f'SELECT * FROM "{name}"').fetchall()
            for statement in replay(entry):
                connection.execute(statement)
            assert connection.execute(f'SELECT * FROM "{name}"').fetchall() != before


def test_all_but_the_known_labels_use_the_published_hash():
    tasks = [task for task in TaskSet("dbbench", "test") if task.params["mode"] == "write"]
    own = [task for task in tasks if "statements" in task.checks[0].params]
    assert [int(task.id[-5:]) for task in own] == sorted(UNREPRODUCED)


def test_questions_are_judged_by_their_label():
    task = TaskSet("dbbench", "test")[0]
    assert task.checks[0].name == "dbbench"
    assert task.checks[0].params == {"label": _entries()[int(task.id[-5:])]["label"]}
    assert not task.checks[1].headline


# -- Spider --------------------------------------------------------------------------------------


@pytest.fixture
def spider(shared_data, monkeypatch):
    monkeypatch.setenv("HEXATHLON_DATA", str(shared_data))
    return SpiderSource()


def test_spider_loads_as_it_is(spider):
    assert spider.size("dev") == 598
    assert spider.size("train") == spider.size("test") == spider.size("heldout") == 0
    templates = [spider.address("dev", index).split("/")[1] for index in range(12)]
    assert len(set(templates)) == 12


def test_every_gold_query_of_spider_runs(spider):
    for task in TaskSet(spider, "dev"):
        assert not task.params["database"]["path"].startswith("/")
        with _opened(database_bytes(task.params)) as connection:
            connection.execute(task.checks[0].params["gold"]).fetchall()
        assert [check.name for check in task.checks if check.headline] == ["spider"]


def test_a_path_given_or_found_means_the_same_questions(spider, shared_data):
    other = SpiderSource(shared_data / "spider")
    left, right = TaskSet(spider, "dev")[7], TaskSet(other, "dev")[7]
    assert left.instruction == right.instruction
    assert database_bytes(left.params) == database_bytes(right.params)


def test_missing_folders_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    for source in (SpiderSource(), BirdSource(), InterCodeSource()):
        with pytest.raises(MissingData, match=source.folder):
            source.size("dev")
    monkeypatch.delenv("HEXATHLON_DATA")
    with pytest.raises(MissingData, match="HEXATHLON_DATA"):
        SpiderSource().size("dev")


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "dev.json").write_text("{not json")
    with pytest.raises(MissingData, match=r"dev\.json is not JSON"):
        SpiderSource(tmp_path).size("dev")


@pytest.mark.parametrize("wrong", [
    "chinook/counting/tiny/test/00999", "chinook/joins/tiny/test/00000",
    "chinook/counting/tiny/dev/00000", "chinook/counting/tiny/test/0",
    "spider/counting/tiny/test/00000",
])  # fmt: skip
def test_unknown_ids_are_refused(wrong):
    with pytest.raises(UnknownTask):
        ChinookSource().build(wrong)


# -- BIRD ----------------------------------------------------------------------------------------


@pytest.fixture
def bird_folder(tmp_path):
    place = tmp_path / "dev_databases" / "shop"
    (place / "database_description").mkdir(parents=True)
    with closing(sqlite3.connect(place / "shop.sqlite")) as connection:
        connection.execute("CREATE TABLE sale (id INTEGER, amt REAL)")
        connection.execute("INSERT INTO sale VALUES (1, 2.5)")
        connection.commit()
    head = "original_column_name,column_name,column_description,value_description"
    text = f"{head}\namt,,amount,in $\n"
    (place / "database_description" / "sale.csv").write_text("\ufeff" + text, encoding="utf-8")
    entry = {
        "question_id": 0, "db_id": "shop", "question": "How much?", "difficulty": "challenging",
        "evidence": "much refers to SUM(amt)", "SQL": "SELECT SUM(amt) FROM sale",
    }  # fmt: skip
    (tmp_path / "dev.json").write_text(json.dumps([entry]))
    return tmp_path


def test_bird_brings_evidence_documents_and_its_rules(bird_folder):
    task = TaskSet(BirdSource(bird_folder), "dev")[0]
    assert task.id == "bird/shop/hard/dev/00000"
    assert task.instruction == "How much?\n\nEvidence: much refers to SUM(amt)"
    assert task.params["documents"] == {
        "sale": "amt: column description: amount; value description: in $"
    }
    assert [(check.name, check.headline) for check in task.checks] == [
        ("bird_ex", True), ("bird_soft_f1", False), ("bird_rves", False), ("sql_result", False),
    ]  # fmt: skip
    with _opened(database_bytes(task.params)) as connection:
        assert connection.execute(task.checks[0].params["gold"]).fetchall() == [(2.5,)]


# -- InterCode -----------------------------------------------------------------------------------

DUMP = r"""
-- a dump; with a semicolon
/* and ; another */
CREATE DATABASE `zoo`;
USE `zoo`;
CREATE TABLE `animal` (
  `id` int(11) NOT NULL,
  `name` varchar(20) DEFAULT 'a,b',
  `weight` decimal(5,2),
  `key` text,
  PRIMARY KEY (`id`),
  KEY `n` (`name`)
) ENGINE=InnoDB;
INSERT INTO `animal` VALUES (1,'it\'s; a "cat"',2.50,'x'),(2,'dog\nbig',30,NULL);
USE `town`;
CREATE TABLE house (no int);
INSERT INTO house VALUES (7);
"""


def test_a_mysql_dump_becomes_tables():
    databases = dump_databases(DUMP)
    assert list(databases) == ["zoo", "town"]
    (animal,) = databases["zoo"]
    assert animal["columns"] == [
        ["id", "INTEGER"], ["name", "TEXT COLLATE NOCASE"], ["weight", "REAL"],
        ["key", "TEXT COLLATE NOCASE"],
    ]  # fmt: skip
    assert animal["rows"] == [[1, 'it\'s; a "cat"', 2.5, "x"], [2, "dog\nbig", 30.0, None]]


def test_intercode_reads_questions_and_dump(tmp_path):
    gold = "SELECT name FROM animal WHERE name = 'DOG\nBIG'"
    entry = {"db": "zoo", "query": "Which?", "gold": gold, "hardness": "easy", "db_tables": {}}
    (tmp_path / "ic_spider_dev.json").write_text(json.dumps([entry, {**entry, "db": "town"}]))
    (tmp_path / "ic_spider_dbs.sql").write_text(DUMP)
    source = InterCodeSource(tmp_path)
    assert source.size("dev") == 2
    task = source.build("intercode-sql/zoo/tiny/dev/00000")
    with _opened(database_bytes(task.params)) as connection:
        found = connection.execute(task.checks[0].params["gold"]).fetchall()
    assert found == [("dog\nbig",)]
    assert task.checks[0].name == "intercode_iou"


# -- reading gold --------------------------------------------------------------------------------


@pytest.mark.parametrize(("sql", "wanted"), [
    ("SELECT a FROM t ORDER BY a", True),
    ("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 3)", False),
    ("SELECT 'order by' FROM t", False),
    ("SELECT a FROM t GROUP BY a order  by count(*)", True),
    ("SELECT RANK() OVER (ORDER BY a) FROM t", False),
])  # fmt: skip
def test_outer_order(sql, wanted):
    assert is_ordered(sql) is wanted


@pytest.mark.parametrize(("sql", "wanted"), [
    ("SELECT count(*) FROM singer", "easy"),
    ("SELECT a FROM t JOIN u ON t.x = u.x WHERE b = 1", "medium"),
    ("SELECT a, max(b), min(c) FROM t JOIN u ON 1 JOIN v ON 1 GROUP BY a ORDER BY a", "hard"),
    ("SELECT a FROM t WHERE b NOT IN (SELECT b FROM u)", "hard"),
    ("SELECT a FROM t JOIN u ON 1 GROUP BY a HAVING x IN (SELECT b FROM u)", "extra"),
])  # fmt: skip
def test_hardness(sql, wanted):
    assert hardness(sql) == wanted


@pytest.mark.parametrize(("mysql", "sqlite"), [
    (r"SELECT 'it\'s'", "SELECT 'it''s'"),
    (r"SELECT 'a\nb', `c\n`", "SELECT 'a\nb', `c\\n`"),
    (r'SELECT "say \"x\""', 'SELECT "say ""x"""'),
    ("INSERT INTO 1952_prix (No) VALUES ('1952_prix')",
     "INSERT INTO `1952_prix` (No) VALUES ('1952_prix')"),
    ("UPDATE plain SET a = 1", "UPDATE plain SET a = 1"),
])  # fmt: skip
def test_mysql_statements_are_translated(mysql, sqlite):
    assert translated(mysql, ["1952_prix", "plain"]) == sqlite


@pytest.mark.parametrize("name", ["chinook", "dbbench"])
def test_shipped_sources_are_registered_and_hash_the_same_twice(name):
    source = get_source(name)
    assert source.fingerprint() == type(source)().fingerprint()
    task = TaskSet(source, "test")[3]
    assert source.build(task.id).hash == task.hash
