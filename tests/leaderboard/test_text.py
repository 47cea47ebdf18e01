"""Untrusted text: invisible characters become visible, nothing becomes markup."""

import json

import pytest

from hexathlon.leaderboard.text import inline_json, shorten, shown, slug


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("Grüße, 日本語, שלום, مرحبا, 👩‍💻, é", "Grüße, 日本語, שלום, مرحبا, 👩‍💻, é"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hgone", "⟨ESC⟩⟨ESC⟩gone"),
        ("\x1b]0;title\x07after", "⟨ESC⟩after"),
        ("\x1b]8;;http://a\x1b\\link", "⟨ESC⟩link"),
        ("\x1b]never closed", "⟨ESC⟩]never closed"),
        ("\x9b31mred", "red"),
        ("a\x00b\x07c\x7f", "a⟨NUL⟩b⟨BEL⟩c⟨U+007F⟩"),
        ("dos\r\nline", "dos\nline"),
        ("over\rwritten", "over⟨CR⟩written"),
        ("\u202etxt.exe", "⟨U+202E⟩txt.exe"),
        ("\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"),
        ("a\u200bb\ufeffc", "a⟨U+200B⟩b⟨U+FEFF⟩c"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("\ufff9\uffff", "⟨U+FFF9⟩⟨U+FFFF⟩"),
    ],
)
def test_shown(text, expected):
    assert shown(text) == expected
    shown(text).encode("utf-8")


def test_every_character_of_the_basic_plane_can_be_written():
    text = shown("".join(map(chr, range(0x10000))))
    assert all(ord(character) >= 0x20 or character in "\n\t" for character in text)
    text.encode("utf-8")


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&amp;", "'\"", "\u2028", "\ud800"])
def test_inline_json_cannot_end_its_element(text):
    made = str(inline_json({"a": [text]}))
    assert json.loads(made) == {"a": [text]}
    assert made.isascii()
    assert not set("<>&'") & set(made)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Qwen/Qwen2.5-7B", "qwen-qwen2-5-7b"), ("../../etc", "etc"), ("", "run"), ("日本", "run"),
     ("a" * 99, "a" * 40)],
)  # fmt: skip
def test_slug(text, expected):
    assert slug(text) == expected


def test_shorten_keeps_both_ends_and_counts_the_rest():
    assert shorten("abc", 10) == ("abc", 0)
    text, cut = shorten("a" * 50 + "b" * 50, 10)
    assert (text, cut) == ("aaaaa\n⋯\nbbbbb", 90)
