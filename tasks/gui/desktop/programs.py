"""The programs of the desktop: names, commands and settings.

Real Debian packages. Settings turn off only what would start by itself (hints, update checks,
recent files), never a program's functions. How programs are started is left to the environment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["FILES", "PROGRAMS", "SERVICES", "Program"]

_CONFIG = "/home/user/.config"


@dataclass(frozen=True)
class Program:
    """A program with windows."""

    command: Sequence[str]
    """Its command line; a file to open is appended."""

    package: str
    """The Debian package that provides it."""

    window_class: str
    """Class of its windows, by which the window manager identifies them."""

    purpose: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Absolute path → text of a settings file."""

    opens_files: bool = True
    variables: Mapping[str, str] = field(default_factory=dict)


_PCMANFM = """[config]
bm_open_method=0
[volume]
mount_on_startup=0
mount_removable=0
autorun=0
[ui]
always_show_tabs=0
max_tab_chars=32
win_width=640
win_height=480
maximized=1
splitter_pos=150
media_in_new_tab=0
side_pane_mode=places
view_mode=list
show_hidden=0
sort=name;ascending;
toolbar=navigation;home;
show_statusbar=1
columns=name:400;desc:200;size;mtime;
"""
_LIBFM = """[config]
single_click=0
use_trash=1
confirm_del=1
confirm_trash=1
auto_selection_delay=600000
thumbnail_local=0
show_thumbnail=0
[ui]
show_internal_volumes=0
places_home=1
places_desktop=0
places_applications=0
places_trash=1
places_root=0
places_computer=0
places_network=0
[places]
places_home=1
places_desktop=0
places_applications=0
places_trash=0
places_root=0
places_computer=0
places_network=0
places_unmounted=0
"""

PROGRAMS: dict[str, Program] = {
    "Text Editor": Program(
        ("mousepad",), "mousepad", "Mousepad", "plain text files"),
    "Calculator": Program(
        ("galculator",), "galculator", "Galculator", "sums", opens_files=False),
    "Spreadsheet": Program(
        ("gnumeric", "--no-splash"), "gnumeric", "Gnumeric", "tables (.gnumeric, .csv)"),
    "Files": Program(
        ("pcmanfm", "--no-desktop"), "pcmanfm", "Pcmanfm", "files and folders",
        {f"{_CONFIG}/pcmanfm/default/pcmanfm.conf": _PCMANFM,
         f"{_CONFIG}/libfm/libfm.conf": _LIBFM}),
    "Accounts": Program(
        ("homebank",), "homebank", "HomeBank", "household accounts (.xhb)"),
    "Notes": Program(
        ("zim", "--standalone"), "zim", "zim", "notebooks (open their file notebook.zim)"),
    "Image Viewer": Program(
        ("gpicview",), "gpicview", "Gpicview", "looking at, turning and deleting images"),
    "Paint": Program(
        ("mtpaint",), "mtpaint", "Mtpaint", "changing images",
        {"/home/user/.mtpaint": "toolbar3 = 0\n"}),
}  # fmt: skip
"""Name in the launcher → program."""

SERVICES = {
    "Xvfb": "xvfb", "openbox": "openbox", "dbus-daemon": "dbus",
    "/usr/libexec/at-spi2-registryd": "at-spi2-core", "/usr/bin/python3": "python3",
}  # fmt: skip
"""Other programs required by the desktop → Debian package."""

FILES = {
    "/usr/share/fonts/truetype/dejavu": "fonts-dejavu-core",
    "/usr/lib/*/gtk-2.0/modules/libatk-bridge.so": "libatk-adaptor",
}
"""File patterns required by the desktop → Debian package."""
