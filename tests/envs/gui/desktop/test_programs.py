import pytest

from hexathlon.envs.gui.desktop.confined import launch_line
from hexathlon.tasks.gui.desktop.documents import Books, notebook, workbook
from hexathlon.tasks.gui.desktop.programs import PROGRAMS
from support.desktops import names, number, opened, until

SHORTCUT = "[Desktop Entry]\nType=Application\nName=Shell\nExec=/bin/touch /home/user/ran\n"
SCRIPT = "#!/bin/sh\ntouch /home/user/ran\n"


@pytest.fixture(scope="module")
def desktop():
    yield from opened({
        "Documents/a.txt": {"text": "hello\n"},
        "Documents/shell.desktop": {"text": SHORTCUT},
        "Documents/shell.sh": {"text": SCRIPT},
        "stock.gnumeric": {"text": workbook({"Stock": [["nails", 5]]})},
        "books.xhb": {"text": Books(["Bank"], [], [], []).text()},
        **notebook("Notes", {"Home": "====== Home ======\n"}),
    })  # fmt: skip


OPENED = {"Text Editor": "Documents/a.txt", "Spreadsheet": "stock.gnumeric",
          "Files": "Documents", "Accounts": "books.xhb", "Notes": "Notes/notebook.zim"}  # fmt: skip
TELLING = {
    "Text Editor": ("text", ""), "Calculator": ("toggle button", "AC"),
    "Spreadsheet": ("page tab", "Stock"), "Files": ("table cell", "a.txt"),
    "Accounts": ("menu", "Transactions"), "Notes": ("toggle button", "Strong"),
    "Image Viewer": ("push button", "Flip Horizontal"), "Paint": ("menu", "Palette"),
}  # fmt: skip


@pytest.mark.parametrize("app", PROGRAMS)
def test_opens_with_an_accessible_window(desktop, app):
    file = {"file": OPENED[app]} if app in OPENED else {}
    desktop.act("open_app", {"app_name": app, **file})
    until(desktop, *TELLING[app])
    desktop.act("open_app", {"app_name": app})  # to the front: no second window
    assert TELLING[app][1] in names(desktop, TELLING[app][0])


def outcome(desktop, command: str) -> str:
    """Return the output of a program started like those of the desktop, but in the foreground."""
    line = launch_line(command, "/tmp/out").removesuffix("&")
    sandbox = desktop._live()._sandbox
    done = sandbox.execute(f"rm -f /tmp/out; {line}\ncat /tmp/out", 60.0)
    return done.output.decode()


FORKS = {
    "fork": "import os; os.fork()",
    "vfork": "import subprocess; subprocess.run(['/bin/true'], close_fds=False)",
    "spawn": "import os; os.posix_spawn('/bin/sh', ['sh', '-c', 'true'], {})",
    "system": "import os; print('status', os.system('true'))",
}


@pytest.mark.parametrize("way", FORKS)
def test_a_program_cannot_start_a_program(desktop, way):
    said = outcome(desktop, f'/usr/bin/python3 -c "{FORKS[way]}"')
    assert "Operation not permitted" in said or "status 32512" in said, said  # 127: not run


def test_a_program_can_start_threads(desktop):
    code = "import threading; t = threading.Thread(target=print, args=(7,)); t.start(); t.join()"
    assert outcome(desktop, f'/usr/bin/python3 -c "{code}"') == "7\n"


def commands(desktop) -> set[str]:
    return {line.split(" ")[0].rpartition("/")[2] for line in desktop._live().running()}


def dismiss(desktop) -> None:
    """Close all dialogs, including follow-up dialogs."""
    for _ in range(20):
        if not names(desktop, "alert") and not names(desktop, "dialog"):
            return
        desktop.act("press_keys", {"keys": "escape"})
    raise AssertionError(names(desktop, "dialog"))


def test_the_file_manager_starts_nothing(desktop):
    desktop.act("open_app", {"app_name": "Files", "file": "Documents"})
    until(desktop, "table cell", "shell.sh")
    before = commands(desktop)
    desktop.act("press_keys", {"keys": "f4"})  # "open in terminal"
    dismiss(desktop)
    for name in ("shell.sh", "Shell"):  # a desktop entry is listed by its name
        # When a dialog closes, the window manager may show another program's window.
        desktop.act("open_app", {"app_name": "Files"})
        until(desktop, "table cell", name)
        desktop.act("double_click", {"index": number(desktop, "table cell", name)})
        for choice in ("Execute", "Execute in Terminal", "OK"):
            if choice in names(desktop, "push button"):
                desktop.act("click", {"index": number(desktop, "push button", choice)})
        dismiss(desktop)
    assert commands(desktop) == before
    assert "ran" not in desktop.final_state()["files"]


def test_keys_and_the_background_lead_nowhere(desktop):
    before = commands(desktop), desktop.caption()
    for keys in ("alt+f2", "ctrl+alt+t", "alt+f1", "ctrl+alt+f1", "menu"):
        desktop.act("press_keys", {"keys": keys})
    assert (commands(desktop), desktop.caption()) == before


def test_no_terminal_is_among_the_programs():
    for name, program in PROGRAMS.items():
        assert "term" not in name.lower() and "term" not in program.package
