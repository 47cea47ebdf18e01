"""OSWorld's metrics on files made here: correct results score 1, near misses and garbage 0."""

import base64
import io
import json
import sqlite3
import zipfile

import pytest
from PIL import Image

from hexathlon.evaluators.gui.osworld.check import METRICS, osworld
from hexathlon.evaluators.gui.osworld.values import MetricUnsupported, StoredFile


def file(content):
    return StoredFile(content.encode("utf-8") if isinstance(content, str) else content)


def picture(width, height, box=None):
    image = Image.new("RGBA", (width, height), (0, 0, 0, 0 if box else 255))
    if box:
        image.paste((1, 2, 3, 255), box)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return file(buffer.getvalue())


def archive(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as pack:
        for name, text in files.items():
            pack.writestr(name, text)
    return file(buffer.getvalue())


def database(*rows):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER)")
    connection.executemany("INSERT INTO t VALUES (?)", [(row,) for row in rows])
    connection.commit()
    return file(connection.serialize())


PREFS = 'user_pref("mail.size", 12);\nuser_pref("mail.name", "Ann");\n// remark\n'
FILTERS = (
    'name="Bills"\nenabled="yes"\ntype="17"\naction="Move to folder"\nactionValue="mailbox://x"\n'
    'condition="AND (subject,contains,bill) AND (from,is,\\"a b\\")"\nname="Two"\nenabled="no"\n'
)
STATUS = (
    "<root><state>{state}</state><information><category name='meta'>"
    "<info name='filename'>{name}</info></category></information></root>"
)
CLOCKS = "12:01:59 cpu 3\nmean 4\n23:00:60 cpu 5\n24:00:00 no\n"
TIME = "Local time: x\nUniversal time: x\nRTC time: x\nTime zone: Etc/UTC (UTC, {zone})\n"
SIZE = {"width": 10, "height": 5}

HOLDS = [
    ("exact_match", ["1\n", {"expected": "1\n"}], {}),
    ("match_in_list", ["b", {"expected": ["a", "b"]}], {}),
    ("is_in_list", [["x", "y"], {"expected": "y"}], {}),
    ("literal_match", ["Ab", "aB"], {"ignore_case": True}),
    ("literal_match", [[1, "B"], ["1", "b"]], {"type": "list", "ignore_case": True}),
    ("check_include_exclude", ["on path", {"include": ["on"], "exclude": ["not found"]}], {}),
    ("is_extension_installed", ["a.b\nc.d", {"type": "contain", "expected": "c.d"}], {}),
    ("is_extension_installed", ["a.b", {"type": "not_contain", "expected": "c.d"}], {}),
    ("is_in_vm_clickboard", [{"expected": ["a", "b"]}, "b and a"], {}),
    ("file_contains", [file("CPU %user"), {"expected": ["CPU", "%user"]}], {}),
    ("diff_text_file", [file("a\nb"), file("a\nb")], {}),
    ("compare_text_file",
     [file("A  b\n"), file("a\tB")], {"ignore_blanks": True, "ignore_case": True}),
    ("compare_python_pure_text",
     [file("#!/x\n\ndef f():\n\treturn 1  \n"), file("def f():\n    return 1")], {}),
    ("compare_result_files", [file("about 42 km"), file("42")], {}),
    ("compare_result_files", [file("2.50004"), file("2.5")], {}),
    ("compare_config", [file('{"a": {"b": 1, "c": 2}}'), {"expected": '{"a": {"b": 1}}'}], {}),
    ("compare_config", [file("x = 1\ny = 2"), {"expected": "y = 2\n"}], {}),
    ("compare_config", [file('{"a":1}'), {"expected": '{"a": 1}'}], {"containment_ok": False}),
    ("check_line_number", [file(CLOCKS), {"expected": "2"}], {}),
    ("check_list", [file("one\ntwo 2"), {"expect": [r"\d"], "unexpect": ["three"]}], {}),
    ("check_csv",
     [file("a,b\n1,2\n3,4\n"), {"expect": [{"b": "4"}], "unexpect": [{"a": "4"}]}], {}),
    ("check_json", [file('{"a": [{"b": 7}]}'), {"expect": [
        {"key": ["a", 0, "b"], "method": "range.te", "ref": [6, 7]},
        {"key": ["a", 0, "b"], "method": "approx:0.5", "ref": 7.4},
    ], "unexpect": [{"key": ["c"], "method": "eq", "ref": 1}]}], {}),
    ("check_json", [file('{"a": "Hello"}'), {"expect": [
        {"key": ["a"], "method": "re.I", "ref": "hello"}]}], {}),
    ("check_json_settings", [file('{"a": 1, "b": 2}'), {"expected": {"a": 1}}], {}),
    ("check_json_keybindings", [file('// keys\n[{"key": "f"}]'), {"expected": {"key": "f"}}], {}),
    ("check_direct_json_object", ["{'a': 1, 'b': 2}", {"expected": {"a": 1}}], {}),
    ("check_direct_json_object", [{"a": "x y", "b": ["p"]}, {
        "expect_in_result": True, "expected": {"a": "y", "b": ["q", "p"]}}], {}),
    ("compare_zip_files", [archive(a="1", b="2"), archive(b="2", a="1")], {}),
    ("run_sqlite3", [database(1, 2), {"sql": "SELECT COUNT(*) = 2 FROM t"}], {}),
    ("check_qt_bgcone", [file("#qt-bgcone=1\nqt-bgcone=0\n"), {"expected_qt_bgcone": 0}], {}),
    ("check_qt_max_volume", [file(""), {"expected_qt_max_volume": 125}], {}),
    ("check_qt_minimal_view", [file("qt-minimal-view=1"), {"expected_qt_minimal_view": "1"}], {}),
    ("check_play_and_exit", [file("x=1"), {"expected_play_and_exit": 0}], {}),
    ("check_one_instance_when_started_from_file", [
        file("one-instance-when-started-from-file=0"),
        {"expected_one_instance_when_started_from_file": 0}], {}),
    ("check_global_key_play_pause", [file("global-key-play-pause=Space"), {
        "expected_global_key_play_pause": 1}], {}),
    ("check_qt_slider_colours", [file("qt-slider-colours=1;2;3;0;0;99"), {"type": "blackish"}], {}),
    ("check_qt_slider_colours", [file("qt-slider-colours=1;2"), {
        "type": "match", "expected_qt_slider_colours": "1;2"}], {}),
    ("is_vlc_recordings_folder", [file("#input-record-path=/x\ninput-record-path=/home/d"), {
        "recording_file_path": "/home/d"}], {}),
    ("is_vlc_playing", [file(STATUS.format(state="playing", name="a.mp4")), {
        "type": "file_name", "file_name": "a.mp4"}], {}),
    ("is_vlc_playing", [file(STATUS.format(state="playing", name="a.m3u8")), {
        "type": "url", "url": "http://x/a.m3u8"}], {}),
    ("is_vlc_fullscreen", [SIZE, SIZE], {}),
    ("check_config_status",
     [file('# x\n(theme "Light")\n'), {"key": "theme", "value": '"Light"'}], {}),
    ("check_config_status",
     [file("(tool opacity 50)\n"), {"key": ["tool", "opacity"], "value": "50"}], {}),
    ("check_thunderbird_prefs", [file(PREFS), {
        "expect": {"mail.size": {"method": "ge", "ref": 10}},
        "unexpect": {"mail.name": {"method": "eq", "ref": "Bob"}}}], {}),
    ("check_thunderbird_filter", [file(FILTERS), {"expect": [{
        "name": "Bills", "enabled": "yes", "action": "Move to folder",
        "condition": ["AND (subject,contains,bill)", 'AND (from,is,"a b")']}]}], {}),
    ("check_gnome_favorite_apps", ["['b.desktop', 'a.desktop']\n", {
        "expected": ["a.desktop", "b.desktop"]}], {}),
    ("check_moved_jpgs", [{"children": [{"name": "b.jpg"}, {"name": "a.jpg"}]}, {
        "expected": ["a.jpg", "b.jpg"]}], {}),
    ("is_utc_0", [TIME.format(zone="+0000")], {}),
    ("check_image_file_size", [file(b"12345"), {"max_size": 6}], {}),
    ("check_image_size", [picture(10, 5), {"width": 10}], {}),
    ("check_image_size", [picture(10, 10, (2, 3, 6, 5)), {
        "width": 4, "height": 2, "ignore_transparent": True}], {}),
]  # fmt: skip

FAILS = [
    ("exact_match", ["1", {"expected": "1\n"}], {}),
    ("match_in_list", ["c", {"expected": ["a", "b"]}], {}),
    ("is_in_list", [["x"], {"expected": "y"}], {}),
    ("literal_match", ["Ab", "aB"], {}),
    ("check_include_exclude",
     ["spotify not found", {"include": ["spotify"], "exclude": ["not found"]}], {}),
    ("is_extension_installed", ["c.d", {"type": "not_contain", "expected": "c.d"}], {}),
    ("is_in_vm_clickboard", [{"expected": ["a", "z"]}, "b and a"], {}),
    ("file_contains", [file("CPU"), {"expected": ["CPU", "%user"]}], {}),
    ("compare_text_file", [file("A b"), file("a b")], {"ignore_blanks": True}),
    ("compare_python_pure_text", [file("```\nx = 1\n```"), file("x = 1")], {}),
    ("compare_result_files", [file("2.6"), file("2.5")], {}),
    ("compare_config", [file('{"a": {"c": 2}}'), {"expected": '{"a": {"b": 1}}'}], {}),
    ("compare_config",
     [file('{"a":1,"b":2}'), {"expected": '{"a": 1}'}], {"containment_ok": False}),
    ("check_line_number", [file(CLOCKS), {"expected": "3"}], {}),
    ("check_list", [file("one\nthree 3"), {"expect": [r"\d"], "unexpect": ["three"]}], {}),
    ("check_csv", [file("a,b\n1,2\n"), {"expect": [{"a": "1", "b": "4"}]}], {}),
    ("check_json", [file('{"a": 6}'), {"expect": [
        {"key": ["a"], "method": "range.te", "ref": [6, 7]}]}], {}),
    ("check_json",
     [file('{"a": 6}'), {"expect": [{"key": ["a", "b"], "method": "eq", "ref": 6}]}], {}),
    ("check_json",
     [file('{"a": 6}'), {"unexpect": [{"key": ["a"], "method": "eq", "ref": 6}]}], {}),
    ("check_json_settings", [file('{"a": 1}'), {"expected": {"a": 1, "b": 2}}], {}),
    ("check_json_keybindings", [file('{"key": "f"}'), {"expected": {"key": "f"}}], {}),
    ("check_direct_json_object", ["{'a': 2}", {"expected": {"a": 1}}], {}),
    ("compare_zip_files", [archive(a="1"), archive(a="2")], {}),
    ("run_sqlite3", [database(1), {"sql": "SELECT COUNT(*) = 2 FROM t"}], {}),
    ("run_sqlite3", [database(1), {"sql": "DELETE FROM t RETURNING 1"}], {}),
    ("run_sqlite3", [database(1), {"sql": "ATTACH '/etc/passwd' AS x"}], {}),
    ("check_qt_bgcone", [file(""), {"expected_qt_bgcone": 0}], {}),
    ("check_global_key_play_pause", [file("global-key-play-pause="), {
        "expected_global_key_play_pause": 1}], {}),
    ("check_qt_slider_colours", [file("qt-slider-colours=1;2;100"), {"type": "blackish"}], {}),
    ("is_vlc_recordings_folder", [file("#input-record-path=/home/d"), {
        "recording_file_path": "/home/d"}], {}),
    ("is_vlc_playing", [file(STATUS.format(state="paused", name="a.mp4")), {
        "type": "file_name", "file_name": "a.mp4"}], {}),
    ("is_vlc_fullscreen", [{"width": 9, "height": 5}, SIZE], {}),
    ("check_config_status", [file('#(theme "Light")\n'), {"key": "theme", "value": '"Light"'}], {}),
    ("check_thunderbird_prefs", [file(PREFS), {
        "expect": {"mail.other": {"method": "eq", "ref": 1}}}], {}),
    ("check_thunderbird_filter",
     [file(FILTERS), {"expect": [{"name": "Two", "enabled": "yes"}]}], {}),
    ("check_gnome_favorite_apps", ["['a.desktop']", {"expected": ["a.desktop", "b.desktop"]}], {}),
    ("check_moved_jpgs", [{"children": [{"name": "b.jpg"}]}, {"expected": ["a.jpg"]}], {}),
    ("is_utc_0", [TIME.format(zone="+0100")], {}),
    ("check_image_file_size", [file(b"12345"), {"max_size": 5}], {}),
    ("check_image_size", [picture(10, 5), {"width": 10, "height": 6}], {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "options"), HOLDS)
def test_correct_results_score_one(name, arguments, options):
    assert METRICS[name](*arguments, **options) == 1.0


@pytest.mark.parametrize(("name", "arguments", "options"), FAILS)
def test_near_misses_score_zero(name, arguments, options):
    assert METRICS[name](*arguments, **options) == 0.0


def test_every_metric_has_a_case_on_either_side():
    assert {name for name, *_ in HOLDS} == set(METRICS)
    assert set(METRICS) - {name for name, *_ in FAILS} == {
        "diff_text_file", "check_qt_max_volume", "check_qt_minimal_view", "check_play_and_exit",
        "check_one_instance_when_started_from_file",
    }  # fmt: skip


RUBBISH = [None, file(b"\xff\xfe\x00"), file(""), file("{"), "", 7, [], {}]


@pytest.mark.parametrize(("name", "arguments", "options"), HOLDS)
def test_missing_and_malformed_results_never_raise(name, arguments, options):
    place = 1 if name == "is_in_vm_clickboard" else 0
    for rubbish in RUBBISH:
        given = [*arguments]
        given[place] = rubbish
        assert 0.0 <= METRICS[name](*given, **options) <= 1.0


def test_tables_that_cannot_be_read_score_zero():
    text = 'a\n"' + "x" * 200_000 + '"'
    assert METRICS["check_csv"](text, {"expect": [{"a": "1"}]}) == 0


def test_a_similarity_lies_between():
    assert METRICS["diff_text_file"](file("a\nb"), file("a\nc")) == pytest.approx(0.5)
    assert METRICS["diff_text_file"](file("a"), file("b")) == 0.0


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("check_json", [file("a: 1"), {}], {"is_yaml": True}),
        ("check_json", [
            file('{"a": 1}'), {"expect": [{"key": ["a"], "method": "soundex", "ref": 1}]}], {}),
        ("compare_zip_files", [archive(a="1"), archive(**{"a.pdf": "1"})], {}),
        ("literal_match", ["a", "a"], {"type": "date"}),
    ],
)  # fmt: skip
def test_unimplemented_metrics_are_named(name, arguments, options):
    with pytest.raises(MetricUnsupported):
        METRICS[name](*arguments, **options)


def verdict(final_state, func=("exact_match",), conj="and", options=()):
    params = {"func": list(func), "conj": conj, "options": list(options), "expected": []}
    return osworld(None, params, final_state, ())


def stored(*pairs):
    results = [{"text": result} for result, _ in pairs]
    expected = [{"json": {"expected": want}} for _, want in pairs]
    return {"status": "complete", "osworld": {"result": results, "expected": expected}}


@pytest.mark.parametrize(
    ("conj", "pairs", "score"),
    [
        ("and", [("1", "1"), ("2", "2")], 1.0),
        ("and", [("1", "1"), ("2", "3")], 0.0),
        ("or", [("1", "0"), ("2", "2")], 1.0),
        ("or", [("1", "0"), ("2", "0")], 0.0),
    ],
)
def test_metrics_are_joined(conj, pairs, score):
    assert verdict(stored(*pairs), ("exact_match", "exact_match"), conj).score == score


def test_infeasible_tasks_and_unjustified_refusals():
    assert verdict({"status": "infeasible"}, ("infeasible",)).score == 1.0
    assert verdict({"status": "complete"}, ("infeasible",)).score == 0.0
    assert verdict({}, ("infeasible",)).score == 0.0
    assert verdict({**stored(("1", "1")), "status": "infeasible"}).score == 0.0


def test_ungradable_episodes_are_unscored_with_the_reason():
    missing = verdict(stored(("1", "1")), ("compare_pdfs",))
    assert missing.status == "unscored" and "compare_pdfs" in missing.evidence["reason"]
    state = {"osworld": {"result": [{"unsupported": "the getter bookmarks"}], "expected": []}}
    assert "the getter bookmarks" in verdict(state).evidence["reason"]
    strange = verdict(stored(("1", "1")), options=[{"colour": 1}])
    assert strange.status == "unscored" and "colour" in strange.evidence["reason"]


def test_stored_values_survive_json():
    encoded = base64.b64encode(b"CPU").decode()
    state = {
        "status": "complete",
        "osworld": {
            "result": [{"file": encoded}, None],
            "expected": [{"json": {"expected": ["CPU"]}}, {"json": {"expected": ["CPU"]}}],
        },
    }
    state = json.loads(json.dumps(state))
    graded = verdict(state, ("file_contains", "file_contains"))
    assert graded.score == 0.0
    assert graded.terms == {"file_contains 0": 1.0, "file_contains 1": 0.0}
