"""The tokenizer of small policies: lossless, with one form of a name whatever its spelling."""

import re
from string import ascii_lowercase

import pytest

pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hypothesis import given
from hypothesis import strategies as st

from hexathlon.baselines.warmstart.initial import ModelShape, make_tokenizer, word_pieces

TEXTS = ["the overdraft limit of an account is at least 30", "SELECT a.overdraft_limit\nFROM a"]
TOKENIZER = make_tokenizer(TEXTS * 20, 400)
LINE = "- Answer in English, in at most 60 words."
NUMBERED = "12. Cancel: only orders that are pending."
WITH_LINES = make_tokenizer(
    [f"{LINE}\n{NUMBERED}\n{text}\nan end" for text in TEXTS * 20], 400, 0.5
)


def tokens(text: str) -> list[str]:
    ids = TOKENIZER.encode(text, add_special_tokens=False)
    return [TOKENIZER.decode([number]) for number in ids]


@given(st.text(max_size=40) | st.text(st.sampled_from("abAB12 _.'\n-é中"), max_size=16))
def test_tokenizer_round_trips_text(text: str) -> None:
    if any(mark in text for mark in ("\ue000", "\ue001", "<|")):
        return
    ids = TOKENIZER.encode(text, add_special_tokens=False)
    assert TOKENIZER.decode(ids) == text


def test_recurring_line_is_one_token() -> None:
    ids = WITH_LINES.encode(f"limit\n{LINE}\nlimit", add_special_tokens=False)
    assert [WITH_LINES.decode([number]) for number in ids] == ["limit", "\n", LINE, "\n", "limit"]


def test_list_number_is_not_part_of_its_line() -> None:
    for number in ("1", "7"):
        ids = WITH_LINES.encode(f"{number}{NUMBERED[2:]}", add_special_tokens=False)
        told = [WITH_LINES.decode([one]) for one in ids]
        assert (told[0], told[-1]) == (number, NUMBERED[4:])


def test_role_markers_are_single_tokens() -> None:
    said = [{"role": "user", "content": "limit"}]
    ids = WITH_LINES.apply_chat_template(said, add_generation_prompt=True, return_dict=False)
    assert [WITH_LINES.decode([number]) for number in ids] == [
        "<|im_start|>user\n", "limit", "<|im_end|>", "\n", "<|im_start|>assistant\n",
    ]  # fmt: skip


def test_line_ending_in_a_word_is_not_a_token() -> None:
    ids = WITH_LINES.encode("an end", add_special_tokens=False)
    assert WITH_LINES.decode(ids) == "an end"
    assert len(ids) > 1


def test_line_share_above_one_is_rejected() -> None:
    with pytest.raises(ValueError, match="from 0 to 1, got 3"):
        ModelShape(phrases=3)


def test_negative_induction_is_rejected() -> None:
    with pytest.raises(ValueError, match="at least 0 tokens, got -1"):
        ModelShape(induction=-1)


@given(st.lists(st.sampled_from([LINE, NUMBERED, LINE[:9], *"aA \n.中", "b1"]), max_size=8))
def test_tokenizer_with_line_tokens_round_trips_text(parts: list[str]) -> None:
    text = "".join(parts)
    ids = WITH_LINES.encode(text, add_special_tokens=False)
    assert WITH_LINES.decode(ids) == text


def test_words_of_a_name_have_the_same_tokens_in_every_spelling() -> None:
    for name in ("overdraft limit", "overdraft_limit", "overdraftLimit", "a.OverdraftLimit"):
        assert [token for token in tokens(name) if token in {"overdraft", "limit"}] == [
            "overdraft",
            "limit",
        ]
    assert tokens("overdraft limit") == ["overdraft", "limit"]


def test_word_pieces_are_short() -> None:
    pieces = word_pieces(TOKENIZER)
    assert set(ascii_lowercase) <= set(pieces)
    assert any(len(piece) > 1 for piece in pieces)
    assert all(re.fullmatch("[a-z]{1,4}", piece) for piece in pieces)
    assert word_pieces(TOKENIZER, longest=1) == sorted(ascii_lowercase)
