"""Requirements of OSWorld tasks: applications, downloads, network, getters and metrics."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from hexathlon.tasks.gui.loaders.osworld_format import OsworldStep, OsworldTask

__all__ = ["METRIC_NAMES", "READABLE", "OsworldNeeds", "needs_of"]

READABLE = frozenset(
    {
        "cache_file", "default_video_player", "gimp_config_file", "list_directory", "rule",
        "vlc_config", "vm_command_error", "vm_command_line", "vm_file", "vm_screen_size",
        "vm_terminal_output",
    }
)  # fmt: skip
"""Getters that the environment implements."""

METRIC_NAMES = frozenset(
    {
        "check_config_status", "check_csv", "check_direct_json_object",
        "check_global_key_play_pause", "check_gnome_favorite_apps", "check_image_file_size",
        "check_image_size", "check_include_exclude", "check_json", "check_json_keybindings",
        "check_json_settings", "check_line_number", "check_list", "check_moved_jpgs",
        "check_one_instance_when_started_from_file", "check_play_and_exit", "check_qt_bgcone",
        "check_qt_max_volume", "check_qt_minimal_view", "check_qt_slider_colours",
        "check_thunderbird_filter", "check_thunderbird_prefs", "compare_config",
        "compare_python_pure_text", "compare_result_files", "compare_text_file",
        "compare_zip_files", "diff_text_file", "exact_match", "file_contains", "infeasible",
        "is_extension_installed", "is_in_list", "is_in_vm_clickboard", "is_utc_0",
        "is_vlc_fullscreen", "is_vlc_playing", "is_vlc_recordings_folder", "literal_match",
        "match_in_list", "run_sqlite3",
    }
)  # fmt: skip
"""Metric functions that `hexathlon.evaluators.gui.osworld` implements."""

_APPLICATIONS = {
    "browser": "chrome", "calc": "libreoffice", "chrome": "chrome", "gimp": "gimp",
    "image": "image viewer", "libreoffice": "libreoffice", "libreoffice calc": "libreoffice",
    "libreoffice_calc": "libreoffice", "libreoffice_impress": "libreoffice",
    "libreoffice_writer": "libreoffice", "os": "gnome", "pdf": "document viewer",
    "picard": "picard", "terminal": "terminal", "thunderbird": "thunderbird",
    "ubuntu_media_player": "media player", "vlc": "vlc", "vs_code": "vs code",
    "vscode": "vs code", "writer": "libreoffice",
}  # fmt: skip
_STEPS_BY_CODE = frozenset(
    {"activate_window", "close_window", "command", "execute", "launch", "open", "sleep"}
)
_ONLINE = {
    "chrome_open_tabs": "web sites", "chrome_close_tabs": "web sites",
    "googledrive": "Google Drive account", "login": "account on a web site",
}  # fmt: skip
_ONLINE_GETTERS = {
    "googledrive_file": "Google Drive account", "info_from_website": "web sites",
    "page_info": "web sites", "pdf_from_url": "web sites",
    "gotoRecreationPage_and_get_html_content": "web sites",
}  # fmt: skip


@dataclass(frozen=True)
class OsworldNeeds:
    """Requirements of one task, each sorted."""

    applications: tuple[str, ...]
    downloads: tuple[str, ...]
    """URLs of files that the published setup or grading fetches."""

    online: tuple[str, ...]
    """Sites and accounts outside the machine."""

    setup: tuple[str, ...]
    """Kinds of setup steps that are not implemented."""

    getters: tuple[str, ...]
    """Getters that are not implemented."""

    metrics: tuple[str, ...]
    """Metric functions that are not implemented."""

    def missing(self, installed: Collection[str] = ()) -> tuple[str, ...]:
        """Return what a desktop with these applications lacks to run the task."""
        absent = [name for name in self.applications if name not in installed]
        rows = (
            ("application", absent),
            ("download", [f"{len(self.downloads)} files"] if self.downloads else []),
            ("online", self.online),
            ("setup", self.setup),
            ("getter", self.getters),
            ("metric", self.metrics),
        )
        return tuple(f"{kind}: {', '.join(names)}" for kind, names in rows if names)


def needs_of(task: OsworldTask) -> OsworldNeeds:
    """Return what a task requires."""
    steps = (*task.config, *task.evaluator.postconfig)
    getters = [each for each in (*task.evaluator.result, *task.evaluator.expected) if each]
    kinds = {str(getter["type"]) for getter in getters}
    return OsworldNeeds(
        applications=_sorted(
            _APPLICATIONS.get(name.lower(), name.lower()) for name in task.related_apps
        ),
        downloads=_sorted([*_downloads(steps), *_cloud_files(getters)]),
        online=_sorted(_online(task, steps, kinds)),
        setup=_sorted(
            step.type
            for step in steps
            if step.type not in _STEPS_BY_CODE | {"download"} | _ONLINE.keys()
        ),
        getters=_sorted(kinds - READABLE - {"cloud_file"} - _ONLINE_GETTERS.keys()),
        metrics=_sorted(set(task.evaluator.func) - METRIC_NAMES),
    )


def _sorted(names: Any) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _downloads(steps: Collection[OsworldStep]) -> Iterator[str]:
    for step in steps:
        if step.type == "download":
            for file in step.parameters["files"]:
                yield str(file["url"])


def _cloud_files(getters: Collection[dict[str, Any]]) -> Iterator[str]:
    for getter in getters:
        if getter["type"] == "cloud_file":
            paths = getter["path"]
            yield from [paths] if isinstance(paths, str) else map(str, paths)


def _online(
    task: OsworldTask, steps: Collection[OsworldStep], getters: Collection[str]
) -> Iterator[str]:
    for step in steps:
        if step.type in _ONLINE:
            yield _ONLINE[step.type]
    for kind in getters:
        if kind in _ONLINE_GETTERS:
            yield _ONLINE_GETTERS[kind]
    if task.proxy:
        yield "proxy"
    if any(
        "--list-extensions" in str((getter or {}).get("command", ""))
        for getter in task.evaluator.result
    ):
        yield "extension marketplace"
