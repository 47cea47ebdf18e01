"""OSWorld's task files as records: every published field has a name, anything else is an error.

Source: `evaluation_examples/` and `desktop_env/` of OSWorld (Xie et al. 2024), 369 tasks.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.record import StrictRecord

__all__ = [
    "GETTERS",
    "SETUP_STEPS",
    "OsworldEvaluator",
    "OsworldStep",
    "OsworldTask",
    "parse_osworld_task",
]

OsworldFields = dict[str, Any]

SETUP_STEPS: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "activate_window": "window_name strict by_class",
        "chrome_close_tabs": "urls_to_close",
        "chrome_open_tabs": "urls_to_open",
        "close_window": "window_name strict by_class",
        "command": "command shell stdout",
        "download": "files",
        "execute": "command shell stdout",
        "googledrive": "settings_file operation args",
        "launch": "command shell",
        "login": "settings_file platform",
        "open": "path",
        "sleep": "seconds",
        "update_browse_history": "history",
    }.items()
}
"""Parameters of each kind of setup step."""

GETTERS: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "accessibility_tree": "",
        "active_tab_html_parse": "category class_multiObject class_multiObject_child "
        "class_multiObject_li class_multiObject_only_child class_multiObject_search_exist "
        "class_singleObject goto_prefix inputObject url_include_expected "
        "url_include_expected_multichoice xpathObject",
        "active_tab_info": "goto_prefix",
        "active_tab_url_parse": "goto_prefix parse_keys replace split_list",
        "active_url_from_accessTree": "goto_prefix",
        "audio_in_slide": "dest ppt_file_path slide_index",
        "background_image_in_slide": "dest ppt_file_path slide_index",
        "bookmarks": "",
        "cache_file": "path",
        "chrome_appearance_mode_ui": "",
        "chrome_font_size": "",
        "cloud_file": "dest gives multi path",
        "content_from_vm_file": "file_content file_type path",
        "cookie_data": "dest",
        "data_delete_automacally": "",
        "default_search_engine": "",
        "default_video_player": "",
        "enable_do_not_track": "",
        "enable_safe_browsing": "",
        "find_installed_extension_name": "",
        "find_unpacked_extension_path": "",
        "gimp_config_file": "dest file_name",
        "googledrive_file": "dest path path_list query query_list settings_file",
        "gotoRecreationPage_and_get_html_content": "class order selector",
        "history": "dest",
        "info_from_website": "backups infos url",
        "list_directory": "path",
        "new_startup_page": "",
        "open_tabs_info": "",
        "page_info": "url",
        "pdf_from_url": "dest path",
        "profile_name": "",
        "rule": "rules",
        "rule_relativeTime": "rules",
        "shortcuts_on_desktop": "",
        "url_dashPart": "goto_prefix key needDeleteId partIndex returnType",
        "url_path_parse": "goto_prefix parse_keys",
        "vlc_config": "dest",
        "vlc_playing_info": "dest",
        "vm_command_error": "command",
        "vm_command_line": "command shell",
        "vm_file": "dest gives multi path",
        "vm_screen_size": "",
        "vm_terminal_output": "",
        "vm_wallpaper": "dest",
        "vm_window_size": "app_class_name",
        "vscode_config": "dest path vscode_extension_command",
    }.items()
}
"""Parameters of each kind of getter."""

_NOTES = ("_config_note", "_note")
"""Authors' remarks inside records; no program reads them."""


class OsworldStep(StrictRecord):
    """One step of the setup, before the episode or before grading."""

    type: str
    parameters: OsworldFields = Field(default_factory=dict)


class OsworldEvaluator(StrictRecord):
    """How a task is graded: one metric or several, each on a result and an expected value."""

    func: tuple[str, ...]
    """Names of metric functions; `infeasible` alone for impossible tasks."""

    conj: Literal["and", "or"] = "and"
    result: tuple[OsworldFields | None, ...] = ()
    """One getter per metric."""

    expected: tuple[OsworldFields | None, ...] = ()
    """One getter per metric; empty if the metrics need no expected value."""

    options: tuple[OsworldFields, ...] = ()
    """Keyword arguments, one mapping per metric."""

    postconfig: tuple[OsworldStep, ...] = ()


class OsworldTask(StrictRecord):
    """One task file."""

    id: str
    snapshot: str
    """Name of the virtual machine's snapshot, mostly the application's name."""

    instruction: str
    source: str | tuple[str, ...]
    """Origin of the task: a URL or a word."""

    evaluator: OsworldEvaluator
    config: tuple[OsworldStep, ...] = ()
    trajectory: str = ""
    related_apps: tuple[str, ...] = ()
    proxy: bool = False
    fixed_ip: bool = False
    possibility_of_env_change: str = "low"
    hint: str | tuple[str, ...] = ""
    env_may_change: bool = False
    domain: str
    """Folder of the file: an application, or `multi_apps`."""


def parse_osworld_task(entry: Mapping[str, Any], domain: str) -> OsworldTask:
    """Read one task.

    Raises:
        MissingData: If a field, a kind of step or getter, or a parameter is missing or unknown.
    """
    name = f"OSWorld task {entry.get('id', '?')}"
    try:
        values = {**entry, "evaluator": _evaluator(entry["evaluator"]), "domain": domain}
        task = OsworldTask(**values)
    except KeyError as error:
        raise MissingData(f"{name}: expected the field {error.args[0]!r}") from None
    except (TypeError, ValueError) as error:
        raise MissingData(f"{name}: {error}") from error
    except Exception as error:
        raise MissingData(f"{name}: {error}") from error
    for step in (*task.config, *task.evaluator.postconfig):
        _check(name, "setup step", step.type, step.parameters, SETUP_STEPS)
    for getter in (*task.evaluator.result, *task.evaluator.expected):
        if getter:
            parameters = {key: value for key, value in getter.items() if key != "type"}
            _check(name, "getter", getter.get("type"), parameters, GETTERS)
    return task


def _evaluator(entry: Mapping[str, Any]) -> OsworldFields:
    """Return the fields with one entry per metric; single values become tuples of one."""
    functions = _several(entry["func"])
    values = {key: value for key, value in entry.items() if key not in _NOTES}
    values["func"] = functions
    for key in ("result", "expected"):
        values[key] = tuple(each or None for each in _several(entry.get(key) or ()))
    options = entry.get("options") or ()
    values["options"] = tuple(
        {key: value for key, value in (each or {}).items() if key not in _NOTES}
        for each in _several(options)
    )
    return values


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _check(
    name: str, kind: str, given: Any, parameters: OsworldFields, table: Mapping[str, frozenset[str]]
) -> None:
    if given not in table:
        raise MissingData(f"{name}: the {kind} {given!r} is unknown")
    unknown = sorted(set(parameters) - table[given])
    if unknown:
        raise MissingData(f"{name}: the {kind} {given} has unknown parameters {unknown}")
