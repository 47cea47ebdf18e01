"""A forger who knows the code: edits a run's files and recomputes every hash and every chain."""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hexathlon.evaluators.content import Image
from hexathlon.evaluators.judged.file import JudgedWriter, judged_files, read_judged
from hexathlon.evaluators.judges.rubric import Rubric
from hexathlon.evaluators.records import MEDIA_FOLDER, RecordWriter, read_records, record_key
from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.records.plan import PLAN_FILE, read_plan, write_plan

Record = dict[str, Any]


class Forger:
    """Holds a run in memory; `save` writes it back without a trace of the change.

    Every field of `plan`, `records` and `judged` may be changed, and records added, removed or
    moved. Hashes are recomputed where they are derived from other fields: those of plan, final
    states, records, chains, rubrics and judged files, and the records named by judged lines.

    Args:
        run: The run's directory.
        others: Directory of other runs, whose records the forger may use.
    """

    def __init__(self, run: Path, others: Path | None = None) -> None:
        self.run, self._others = run, others
        self.plan: dict[str, Any] = read_plan(run)
        self.records: list[Record] = list(read_records(run))
        self.judged = [read_judged(path) for path in judged_files(run)]
        self.headers = [dict(one.header) for one in self.judged]
        self.lines = [[dict(line) for line in one.lines] for one in self.judged]
        self.state_hashes = True

    def other(self, name: str) -> list[Record]:
        """Return the records of another run."""
        assert self._others is not None
        return list(read_records(self._others / name))

    def first(self, wanted: Callable[[Record], bool]) -> Record:
        """Return the first record of a kind."""
        return next(filter(wanted, self.records))

    def drop(self, wanted: Callable[[Record], bool]) -> list[Record]:
        """Remove records of a kind and return them."""
        gone = [record for record in self.records if wanted(record)]
        self.records = [record for record in self.records if not wanted(record)]
        return gone

    def replace_image(self, image: Image) -> Record:
        """Replace the image in the first record that has one by another of the same size, and store
        its bytes.
        """
        for record in self.records:
            for step in record["steps"]:
                for part in step["observation"] if isinstance(step["observation"], list) else ():
                    if part["type"] == "image":
                        part["sha256"] = image.sha256
                        folder = self.run / MEDIA_FOLDER
                        (folder / f"{image.sha256}.png").write_bytes(image.png())
                        return record
        raise LookupError("no record has an image")

    def save(self) -> Path:
        """Write plan, records and judged files with new hashes."""
        old = [record.get("hash", "") for record in self.records]
        for name in (PLAN_FILE, "records.jsonl"):
            (self.run / name).unlink()
        self.plan.pop("plan_hash", None)
        digest = write_plan(self.run, self.plan)
        renamed = {}
        with RecordWriter(self.run, digest, "never") as writer:
            for before, record in zip(old, self.records, strict=True):
                if self.state_hashes:
                    record["final_state_hash"] = content_hash(record["final_state"])
                renamed[before] = writer.append(record)["hash"]
        shutil.rmtree(self.run / "judged", ignore_errors=True)
        for header, lines in zip(self.headers, self.lines, strict=True):
            self._save_judged(header, lines, digest, renamed)
        return self.run

    def _save_judged(
        self,
        header: dict[str, Any],
        lines: list[dict[str, Any]],
        plan_hash: str,
        renamed: Mapping[str, str],
    ) -> None:
        rubrics, hashes = {}, {}
        for digest, content in header["rubrics"].items():
            hashes[digest] = Rubric.model_validate(content).hash
            rubrics[hashes[digest]] = content
        bare = {name: item for name, item in header.items() if name not in ("hash", "schema")}
        with JudgedWriter(self.run, {**bare, "rubrics": rubrics, "plan_hash": plan_hash}) as writer:
            for line in lines:
                if "key" in line:
                    line["record"] = renamed.get(line["record"], line["record"])
                    line["rubric"] = hashes.get(line["rubric"], line["rubric"])
                writer.append({name: item for name, item in line.items() if name != "hash"})


def key_of(record: Record) -> list[Any]:
    """Return the key of a record as plans write it."""
    return list(record_key(record))


def digest(text: str) -> str:
    """Return a plausible hash."""
    return hashlib.sha256(text.encode()).hexdigest()
