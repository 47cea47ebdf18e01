"""OSWorld's getters on a folder of this machine, and the check on what they read."""

import json
import subprocess
from pathlib import Path

import pytest

from hexathlon.envs.gui.osworld import MachineOutput, read_results
from hexathlon.evaluators.gui.osworld.check import osworld
from hexathlon.tasks.gui.loaders.osworld import OsworldSource


class FolderMachine:
    """A machine whose paths lie below a folder, and whose commands run there."""

    screen = (1280, 720)

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, "/home/user"
        self.at("/home/user/Desktop").mkdir(parents=True)
        self.at("/cache").mkdir()

    def at(self, path: str) -> Path:
        return self.folder / path.lstrip("/")

    def write(self, path: str, text: str) -> None:
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        self.at(path).write_text(text, "utf-8")

    def read(self, path):
        return self.at(path).read_bytes() if self.at(path).is_file() else None

    def cached(self, name):
        return self.read(f"/cache/{name}")

    def run(self, command, shell):
        done = subprocess.run(
            command, shell=shell, cwd=self.at(self.home), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        return MachineOutput(done.stdout, done.stderr)

    def names(self, path):
        folder = self.at(path)
        if not folder.is_dir():
            return None
        return [(each.name, each.is_dir()) for each in sorted(folder.iterdir())]

    def terminal_text(self):
        text = self.read("/terminal")
        return None if text is None else text.decode()


@pytest.fixture
def machine(tmp_path):
    return FolderMachine(tmp_path)


def read(machine, **getter):
    return read_results({"result": [getter], "expected": []}, machine)["result"][0]


def test_files_are_read_from_the_machine(machine):
    machine.write("/home/user/a.txt", "one")
    machine.write("/home/user/.config/vlc/vlcrc", "qt-bgcone=0\n")
    machine.write("/home/user/.config/GIMP/2.10/gimprc", "(theme x)\n")
    machine.write("/cache/grep.out", "two")
    assert read(machine, type="vm_file", path="/home/user/a.txt", dest="a") == {"file": "b25l"}
    assert read(machine, type="vm_file", path="/home/user/b.txt", dest="b") is None
    assert read(machine, type="vlc_config", dest="vlcrc") is not None
    assert read(machine, type="gimp_config_file", file_name="gimprc", dest="x") is not None
    assert read(machine, type="gimp_config_file", file_name="none", dest="x") is None
    assert read(machine, type="cache_file", path="grep.out") == {"file": "dHdv"}
    several = {"path": ["/home/user/a.txt", "/home/user/b.txt"], "multi": True, "dest": ["a", "b"]}
    assert read(machine, type="vm_file", gives=[0, 1], **several) == {"files": ["b25l", None]}
    assert read(machine, type="vm_file", **several) == {"file": "b25l"}


def test_commands_run_in_the_machine(machine):
    assert read(machine, type="vm_command_line", command=["echo", "a  b"]) == {"text": "a  b\n"}
    shell = {"command": "[ -d Desktop ] && echo yes || echo no", "shell": True}
    assert read(machine, type="vm_command_line", **shell) == {"text": "yes\n"}
    error = read(machine, type="vm_command_error", command=["ls", "/no/such/folder"])
    assert "/no/such/folder" in error["text"]


def test_screen_terminal_rule_and_folders(machine):
    assert read(machine, type="vm_screen_size") == {"json": {"width": 1280, "height": 720}}
    assert read(machine, type="vm_terminal_output") is None
    machine.write("/terminal", "43 132")
    assert read(machine, type="vm_terminal_output") == {"text": "43 132"}
    assert read(machine, type="rule", rules={"expected": 1}) == {"json": {"expected": 1}}
    machine.write("/home/user/Desktop/p/a.jpg", "")
    tree = read(machine, type="list_directory", path="/home/user/Desktop")["json"]
    assert tree["children"] == [
        {"type": "directory", "name": "p", "children": [{"type": "file", "name": "a.jpg"}]}
    ]
    assert read(machine, type="list_directory", path="/nowhere") is None


def test_the_usual_video_player_is_the_most_common_answer(machine):
    answers = {"video/mp4": "other.desktop\n", "video/divx": ""}
    machine.run = lambda command, shell: MachineOutput(
        answers.get(command[-1], "vlc.desktop\n"), ""
    )
    assert read(machine, type="default_video_player") == {"text": "vlc.desktop\n"}
    machine.run = lambda command, shell: MachineOutput("", "not found")
    assert read(machine, type="default_video_player") == {"text": "unknown"}


def test_a_getter_that_is_not_implemented_is_named(machine):
    assert read(machine, type="bookmarks") == {"unsupported": "the getter bookmarks"}
    assert read_results({"result": [None], "expected": []}, machine)["result"] == [None]


def task_of(source: OsworldSource, identifier: str):
    ids = [source.address("test", index) for index in range(source.size("test"))]
    return next(
        task
        for task in map(source.build, ids)
        if task.params["osworld"]["id"].startswith(identifier)
    )


def grade(task, machine, status="complete"):
    state = {"status": status, "osworld": read_results(task.params["osworld"], machine)}
    (check,) = task.checks
    return osworld(task, check.params, json.loads(json.dumps(state)), ()).score


@pytest.mark.parametrize(
    ("identifier", "path", "right", "wrong"),
    [
        ("276cc624", "/home/user/.config/Code/User/settings.json",
         '{"editor.wordWrapColumn": 50, "x": 1}', '{"editor.wordWrapColumn": 80}'),
        ("930fdb3b", "/home/user/.config/Code/User/keybindings.json",
         '// mine\n[{"key": "ctrl+j", "command": "workbench.action.focusActiveEditorGroup", '
         '"when": "terminalFocus"}]', "[]"),
        ("9195653c", "/home/user/.config/vlc/vlcrc", "qt-max-volume=200\n", "qt-max-volume=125\n"),
        ("7b7617bd", "/home/user/.config/GIMP/2.10/gimprc", "(undo-levels 100)\n",
         "(undo-levels 5)\n"),
    ],
)  # fmt: skip
def test_published_tasks_are_graded_by_files(shared_data, machine, identifier, path, right, wrong):
    task = task_of(OsworldSource(shared_data / "osworld"), identifier)
    assert grade(task, machine) == 0.0  # nothing done
    machine.write(path, wrong)
    assert grade(task, machine) == 0.0
    machine.write(path, right)
    assert grade(task, machine) == 1.0
    assert grade(task, machine, status="infeasible") == 0.0
