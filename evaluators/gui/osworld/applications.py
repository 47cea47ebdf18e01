"""OSWorld's metrics for applications: settings of VLC, GIMP and Thunderbird, GNOME, images."""

import ast
import functools
import io
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree import ElementTree

from hexathlon.evaluators.gui.osworld.rules import has_fields, matches_rule
from hexathlon.evaluators.gui.osworld.values import MetricUnsupported, content_of, text_of

__all__ = [
    "VLC_SETTINGS",
    "check_config_status",
    "check_gnome_favorite_apps",
    "check_image_file_size",
    "check_image_size",
    "check_moved_jpgs",
    "check_qt_slider_colours",
    "check_thunderbird_filter",
    "check_thunderbird_prefs",
    "is_utc_0",
    "is_vlc_fullscreen",
    "is_vlc_playing",
    "is_vlc_recordings_folder",
]

MetricRules = Mapping[str, Any]

_SLIDER = "153;210;153;20;210;20;255;199;15;245;39;29"
_BLACKISH = 100
_PREFERENCE = re.compile(r'user_pref\("((?:[^"]|\\")+)", (.+)\);')
_CONDITION = re.compile(r"\b(?:AND|OR) \([\w ]+,[\w ']+,(?:\"(?:[^\"]|\")+\"|[^)]+)\)|\bALL\b")
_FILTER_KEYS = ("enabled", "type", "action", "actionValue")
_NAMES = ("filename", "title", "uri", "location", "name")
_ADDRESSES = ("url", "URI", "location", "title", "filename")


def _vlc_setting(result: Any, rules: MetricRules, *, key: str, rule: str, default: str) -> float:
    """A setting of VLC, or its default if the file does not set it, equals the rule's value."""
    text = text_of(result)
    if text is None:
        return 0.0
    value = default
    for line in text.split("\n"):
        if f"{key}=" in line:
            value = line.split("=")[-1].strip()
    if rule == "expected_global_key_play_pause":  # the rule says whether there is a key at all
        value = "1" if value not in ("", "0") else "0"
    return float(value == str(rules[rule]))


VLC_SETTINGS: Mapping[str, Callable[..., float]] = {
    name: functools.partial(_vlc_setting, key=key, rule=rule, default=default)
    for name, key, rule, default in (
        ("check_qt_bgcone", "qt-bgcone", "expected_qt_bgcone", "1"),
        ("check_qt_max_volume", "qt-max-volume", "expected_qt_max_volume", "125"),
        ("check_qt_minimal_view", "qt-minimal-view", "expected_qt_minimal_view", "0"),
        ("check_play_and_exit", "play-and-exit", "expected_play_and_exit", "0"),
        ("check_global_key_play_pause", "global-key-play-pause",
         "expected_global_key_play_pause", "0"),
        ("check_one_instance_when_started_from_file", "one-instance-when-started-from-file",
         "expected_one_instance_when_started_from_file", "1"),
    )
}  # fmt: skip
"""Metrics for single lines in VLC's settings, by name; commented lines count, as in OSWorld."""


def is_vlc_recordings_folder(result: Any, rules: MetricRules) -> float:
    """VLC's folder for recordings is set to the rule's path."""
    for line in (text_of(result) or "").split("\n"):
        if not line.startswith("#") and "input-record-path" in line:
            return float(line.split("=")[-1].strip() == rules["recording_file_path"])
    return 0.0


def check_qt_slider_colours(result: Any, rules: MetricRules) -> float:
    """The colours of VLC's volume slider are the given ones, or all dark."""
    text = text_of(result)
    if text is None:
        return 0.0
    value = _SLIDER
    for line in text.split("\n"):
        if "qt-slider-colours" in line:
            value = line.split("=")[-1].strip()
    if rules["type"] == "match":
        return float(value == rules["expected_qt_slider_colours"])
    if rules["type"] != "blackish":
        raise MetricUnsupported(f"check_qt_slider_colours of the type {rules['type']!r}")
    numbers = value.split(";")
    return float(all(part.strip().isdecimal() and int(part) < _BLACKISH for part in numbers))


def is_vlc_playing(result: Any, rules: MetricRules) -> float:
    """VLC's status says that it plays the given file or URL."""
    if rules["type"] not in ("file_name", "url"):
        raise MetricUnsupported(f"is_vlc_playing of the type {rules['type']!r}")
    try:
        status = ElementTree.fromstring(text_of(result) or "")
    except ElementTree.ParseError:
        return 0.0
    if status.findtext("state") != "playing":
        return 0.0
    by_file = rules["type"] == "file_name"
    for name in _NAMES if by_file else _ADDRESSES:
        info = status.findtext(f'information/category[@name="meta"]/info[@name="{name}"]')
        if info and by_file:
            return float(info.endswith(rules["file_name"]))
        if info:
            return float(rules["url"] in info or info == rules["url"].rpartition("/")[2])
    return 0.0


def is_vlc_fullscreen(result: Any, expected: Any) -> float:
    """The window is as large as the screen; both are objects with `width` and `height`."""
    if not isinstance(result, dict) or not isinstance(expected, dict):
        return 0.0
    return float(all(result.get(key) == expected.get(key) for key in ("width", "height")))


def check_config_status(result: Any, rules: MetricRules) -> float:
    """GIMP's settings have a line with the rule's key, or two keys, and value."""
    keys = rules["key"] if isinstance(rules["key"], list) else [rules["key"]]
    for line in (text_of(result) or "").splitlines():
        words = line.strip().lstrip("(").rstrip(")\n").split()
        if words and not line.startswith("#") and words[: len(keys)] == keys:
            if words[-1] == rules["value"]:
                return 1.0
    return 0.0


def check_thunderbird_prefs(result: Any, rules: MetricRules) -> float:
    """Thunderbird's preferences satisfy the rules of `expect`, and not those of `unexpect`."""
    text = text_of(result)
    if text is None:
        return 0.0
    met = dict.fromkeys(rules.get("expect", {}), False)
    unexpected = False
    for line in text.splitlines():
        match = _PREFERENCE.fullmatch(line.strip())
        if match is None:
            continue
        key, value = match[1], _value(match[2])
        if key in met:
            met[key] = matches_rule(value, rules["expect"][key])
        elif key in rules.get("unexpect", {}):
            unexpected = unexpected or matches_rule(value, rules["unexpect"][key])
    return float(all(met.values()) and not unexpected)


def check_thunderbird_filter(result: Any, rules: MetricRules) -> float:
    """The message filters contain every record of `expect`, and none of `unexpect`."""
    text = text_of(result)
    if text is None:
        return 0.0
    filters: list[dict[str, Any]] = []
    for line in text.splitlines():
        key, mark, quoted = line.partition("=")
        value = quoted[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        if not mark:
            continue
        if key == "name":
            filters.append({"name": value})
        elif filters and key in _FILTER_KEYS:
            filters[-1][key] = value
        elif filters and key == "condition":
            filters[-1][key] = _CONDITION.findall(value)
    expected = all(
        any(has_fields(want, each) for each in filters) for want in rules.get("expect", ())
    )
    return float(
        expected
        and not any(has_fields(ban, each) for ban in rules.get("unexpect", ()) for each in filters)
    )


def check_gnome_favorite_apps(result: Any, rules: MetricRules) -> float:
    """The favourites, a list literal as `gsettings` prints it, are the expected ones."""
    try:
        favourites = ast.literal_eval(text_of(result) or "")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return 0.0
    if not isinstance(favourites, list) or len(favourites) != len(rules["expected"]):
        return 0.0
    return float(sorted(map(str, favourites)) == sorted(rules["expected"]))


def check_moved_jpgs(result: Any, rules: MetricRules) -> float:
    """A folder, as a tree with `children`, holds the expected files and no others."""
    if not isinstance(result, dict):
        return 0.0
    names = sorted(str(child.get("name")) for child in result.get("children", ()))
    return float(names == sorted(rules["expected"]))


def is_utc_0(result: Any) -> float:
    """The fourth line of `timedatectl` names a time zone at UTC."""
    lines = (text_of(result) or "").split("\n")
    return float(len(lines) > 3 and lines[3].endswith("+0000)"))


def check_image_file_size(result: Any, rules: MetricRules) -> float:
    """The file is smaller than `max_size` bytes."""
    content = content_of(result)
    return float(content is not None and len(content) < rules["max_size"])


def check_image_size(result: Any, rules: MetricRules) -> float:
    """The image has the given `width` and `height`, without transparent margins if asked."""
    from PIL import Image, UnidentifiedImageError

    content = content_of(result)
    if content is None:
        return 0.0
    try:
        with Image.open(io.BytesIO(content)) as image:
            size = image.size
            if (rules.get("ignore_transparent", False) and image.mode in ("RGBA", "LA")) or (
                "transparency" in image.info
            ):
                box = image.convert("RGBA").getchannel("A").getbbox()
                size = (box[2] - box[0], box[3] - box[1]) if box else (0, 0)
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return 0.0
    wanted = (rules.get("width"), rules.get("height"))
    return float(all(want in (None, have) for want, have in zip(wanted, size, strict=True)))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
