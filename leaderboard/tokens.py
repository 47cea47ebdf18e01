"""Tokens of a policy's trials for the trajectory page: texts, log-probabilities, and masks.

Read from the file that ``hexathlon eval --keep-tokens`` leaves beside the records. It is outside
their chain of hashes, so that nothing here affects a score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hexathlon.evaluators.records.regular import irregularity
from hexathlon.leaderboard.methods import training_folder
from hexathlon.leaderboard.text import shown

__all__ = ["TOKENS_FILE", "Vocabulary", "turn_tokens", "tokens_by_record"]

TOKENS_FILE = "tokens.jsonl"
_TOKENIZER = "tokenizer.json"
_MOST_BYTES = 256 << 20
_LONGEST_TURN = 4_000
"""Tokens of a turn that are kept, the last ones."""


def tokens_by_record(run: Path) -> dict[str, list[Mapping[str, Any]]]:
    """Return the token nodes of a run's trials by the hash of their record; empty without any."""
    source = run / TOKENS_FILE
    if irregularity(source) or not source.is_file() or source.stat().st_size > _MOST_BYTES:
        return {}
    found = {}
    for line in source.read_bytes().splitlines(keepends=True):
        try:
            row = json.loads(line)
            nodes, name = row["tokens"], row["record"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if isinstance(name, str) and isinstance(nodes, list) and all(map(_is_node, nodes)):
            found[name] = nodes
    return found


def _is_node(node: Any) -> bool:
    return (
        isinstance(node, dict)
        and isinstance(node.get("ids"), list)
        and all(type(one) is int for one in node["ids"])
        and isinstance(node.get("log_probabilities", []), list)
        and all(type(one) in (int, float) for one in node.get("log_probabilities", []))
        and isinstance(node.get("kind"), str)
        and type(node.get("turn", -1)) is int
    )


def turn_tokens(
    nodes: list[Mapping[str, Any]], vocabulary: Vocabulary
) -> dict[str, list[tuple[str, float | None, int]]]:
    """Return (text, log-probability, 1 if sampled) for the tokens of each turn, by its number.

    A turn has the tokens that the policy received since its last turn, and those that it sampled.
    """
    turns: dict[str, list[tuple[str, float | None, int]]] = {}
    given: list[tuple[str, float | None, int]] = []
    for node in nodes:
        texts = vocabulary.texts(node["ids"])
        if node["kind"] != "sampled":
            given += [(text, None, 0) for text in texts]
            continue
        chances = [round(float(one), 3) for one in node.get("log_probabilities", [])]
        own = [(text, chance, 1) for text, chance in zip(texts, chances, strict=False)]
        turns[str(node.get("turn", -1))] = (given + own)[-_LONGEST_TURN:]
        given = []
    return turns


class Vocabulary:
    """Texts of token ids, from a checkpoint's ``tokenizer.json``; ids in brackets without one."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = texts

    @classmethod
    def of(cls, run: Path, plan: Mapping[str, Any]) -> Vocabulary:
        """Return the vocabulary of the checkpoint that was evaluated, if it is on this machine."""
        folders = [Path(str(plan.get("config", {}).get("model", "")))]
        training = training_folder(run)
        if training is not None:
            folders.append(training / "policy")
        for folder in folders:
            source = folder / _TOKENIZER
            if not irregularity(source) and source.is_file():
                try:
                    return cls(_texts_of(json.loads(source.read_bytes())))
                except (OSError, ValueError, TypeError, KeyError, RecursionError):
                    continue
        return cls({})

    def texts(self, ids: list[int]) -> list[str]:
        """Return the text of each id."""
        return [self._texts.get(one, f"\u27e8{one}\u27e9") for one in ids]


def _texts_of(tokenizer: Mapping[str, Any]) -> dict[int, str]:
    rules = _decoders(tokenizer.get("decoder") or {})
    in_bytes = any(rule.get("type") == "ByteLevel" for rule in rules)
    pairs: dict[str, str] = {}
    for rule in rules:
        if rule.get("type") == "Replace":
            pairs.setdefault(_replaced(rule["pattern"]), str(rule["content"]))
    texts = {}
    for token, number in tokenizer["model"]["vocab"].items():
        text = _from_bytes(token) if in_bytes else token.replace("\u2581", " ")
        for old, new in pairs.items():
            text = text.replace(old, new) if old else text
        texts[int(number)] = shown(text)
    for one in tokenizer.get("added_tokens") or []:
        texts[int(one["id"])] = shown(str(one["content"]))
    return texts


def _decoders(decoder: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(decoder["decoders"]) if decoder.get("type") == "Sequence" else [decoder]


def _replaced(pattern: Mapping[str, Any]) -> str:
    """Return what a rule replaces; a condition on the text before is left out for single tokens."""
    if "String" in pattern:
        return str(pattern["String"])
    found = re.fullmatch(r"\(\?<=[^)]*\)([^\\.*+?()\[\]{}|^$]+)", str(pattern.get("Regex", "")))
    return found.group(1) if found else ""


def _byte_characters() -> dict[str, int]:
    """Return the bytes by the characters that byte-level tokenizers print for them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): b for n, b in enumerate(others)}


_BYTES = _byte_characters()


def _from_bytes(token: str) -> str:
    if not all(character in _BYTES for character in token):
        return token
    return bytes(_BYTES[character] for character in token).decode("utf-8", "replace")
