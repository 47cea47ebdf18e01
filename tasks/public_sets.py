"""Public task sets that users provide: folders and files, as their authors publish them.

Only names and paths; each family's loaders read the formats.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PUBLIC_SETS", "PublicFile", "PublicSet", "missing_files"]


@dataclass(frozen=True)
class PublicFile:
    """A file of a set, or several."""

    pattern: str
    """Path below the set's folder; may have wildcards."""

    about: str
    needed: bool = True
    """Whether nothing can be loaded without it."""

    others: tuple[str, ...] = ()
    """Alternative patterns, any of which suffices."""

    def present(self, folder: Path) -> bool:
        """Return whether a file matches."""
        return any(next(folder.glob(one), None) for one in (self.pattern, *self.others))


@dataclass(frozen=True)
class PublicSet:
    """A public set."""

    source: str
    """Name of the task source."""

    env: str
    """Short name of the event."""

    folder: str
    """Folder below HEXATHLON_DATA."""

    origin: str
    """Where its authors publish it."""

    files: tuple[PublicFile, ...]


def missing_files(public: PublicSet, folder: Path) -> list[PublicFile]:
    """Return the files of a set that a folder lacks, needed ones first."""
    absent = [file for file in public.files if not file.present(folder)]
    return sorted(absent, key=lambda file: not file.needed)


def _sets() -> Iterator[PublicSet]:
    yield PublicSet(
        "spider", "SQL", "spider", "yale-lily.github.io/spider",
        (
            PublicFile("dev.json", "questions of the dev split", others=("train_spider.json",)),
            PublicFile("database/*/*.sqlite", "databases", others=("test_database/*/*.sqlite",)),
            PublicFile("train_spider.json", "questions of the train split", needed=False),
            PublicFile("train_others.json", "more questions of the train split", needed=False),
            PublicFile("test.json", "questions of the test split", needed=False),
        ),
    )  # fmt: skip
    yield PublicSet(
        "bird", "SQL", "bird", "bird-bench.github.io",
        (
            PublicFile(
                "dev.json", "questions of the dev split",
                others=("mini_dev_sqlite.json", "train.json"),
            ),
            PublicFile(
                "dev_databases/*/*.sqlite", "databases",
                others=("databases/*/*.sqlite", "train_databases/*/*.sqlite"),
            ),
            PublicFile("train.json", "questions of the train split", needed=False),
        ),
    )  # fmt: skip
    yield PublicSet(
        "intercode-sql", "SQL", "intercode", "github.com/princeton-nlp/intercode",
        (
            PublicFile("ic_spider_dev.json", "questions"),
            PublicFile("ic_spider_dbs.sql", "databases", others=("database/*/*.sqlite",)),
        ),
    )  # fmt: skip
    yield PublicSet(
        "dbbench", "SQL", "dbbench", "github.com/THUDM/AgentBench",
        (PublicFile("dev.jsonl", "tasks of the dev split; those of test are shipped"),),
    )  # fmt: skip
    yield PublicSet(
        "tau2-retail", "Shopping", "tau2_retail", "github.com/sierra-research/tau2-bench",
        (
            PublicFile("db.json", "products, customers and orders"),
            PublicFile("tasks.json", "tasks"),
            PublicFile("policy.md", "policy"),
            PublicFile("split_tasks.json", "splits"),
        ),
    )  # fmt: skip
    yield PublicSet(
        "webshop", "Shopping", "webshop", "github.com/princeton-nlp/WebShop",
        (
            PublicFile("items_shuffle.json", "products"),
            PublicFile("items_ins_v2.json", "attributes and instructions"),
            PublicFile("items_human_ins.json", "instructions by people", needed=False),
        ),
    )  # fmt: skip
    for source, origin in (
        ("webarena", "github.com/web-arena-x/webarena"),
        ("webarena-verified", "github.com/ServiceNow/webarena-verified"),
        ("visualwebarena", "github.com/web-arena-x/visualwebarena"),
    ):
        yield PublicSet(source, "Web", _WEB_FOLDERS[source], origin, _web_files(source))
    yield PublicSet(
        "android-world", "GUI", "android_world", "github.com/google-research/android_world",
        (
            PublicFile("task_metadata.json", "templates; start states and checks are its code"),
            PublicFile("parameters.json", "values of templates with parameters", needed=False),
        ),
    )  # fmt: skip
    yield PublicSet(
        "osworld", "GUI", "osworld", "github.com/xlang-ai/OSWorld",
        (
            PublicFile(
                "evaluation_examples/examples/*/*.json", "tasks, one file each",
                others=("examples/*/*.json", "*/*.json", "*.json"),
            ),
        ),
    )  # fmt: skip
    yield PublicSet(
        "gui-replay", "GUI", "gui_replay", "github.com/X-PLUG/MobileAgent",
        (
            PublicFile("*.jsonl", "recorded trajectories, one per line"),
            PublicFile("images/**/*.png", "screenshots named by the steps", needed=False),
        ),
    )  # fmt: skip
    for source, origin, file in (
        ("personagym", "github.com/vsamuel2003/PersonaGym", "questions.json"),
        ("pingpong", "github.com/IlyaGusev/ping_pong_bench", "settings_v2.json"),
        ("charactereval", "github.com/morecry/CharacterEval", "test_data.jsonl"),
        ("characterbench", "github.com/thu-coai/CharacterBench", "*.json"),
        ("rolebench", "huggingface.co/datasets/ZenMoore/RoleBench", "**/test.jsonl"),
        ("rolemrc", "github.com/LuJunru/RoleMRC", "roleMRC_test.jsonl"),
        ("coser", "github.com/Neph0s/CoSER", "*_set.json"),
    ):
        yield PublicSet(source, "RolePlay", source, origin, _roleplay_files(source, file))
    for source, mark in (("harbor", "*/task.toml"), ("terminal-bench", "*/task.yaml")):
        yield PublicSet(
            source, "Terminal", source, "tbench.ai",
            (PublicFile(mark, "task directories"),),
        )  # fmt: skip


_WEB_FOLDERS = {
    "webarena": "webarena", "webarena-verified": "webarena", "visualwebarena": "visualwebarena",
}  # fmt: skip


def _web_files(source: str) -> tuple[PublicFile, ...]:
    if source == "visualwebarena":
        names = ("classifieds", "reddit", "shopping")
        return tuple(PublicFile(f"test_{name}.raw.json", f"tasks on {name}") for name in names)
    name = "test.raw.json" if source == "webarena" else "webarena-verified.json"
    return (PublicFile(name, "tasks; their sites are your own copies, named by URL"),)


def _roleplay_files(source: str, file: str) -> tuple[PublicFile, ...]:
    others = {"personagym": ("questions/**/*.json",), "rolebench": ("**/general.jsonl",)}
    files = [PublicFile(file, "items", others=others.get(source, ()))]
    if source == "charactereval":
        files.append(PublicFile("character_profiles.json", "profiles"))
        files.append(PublicFile("id2metric.jsonl", "metrics", needed=False))
    if source == "rolebench":
        files.append(PublicFile("profiles/desc.json", "descriptions", needed=False))
    return tuple(files)


PUBLIC_SETS: Mapping[str, PublicSet] = {public.source: public for public in _sets()}
"""Every public set by the name of its task source."""
