"""Numbers in words, and values in prose and in the typed channel."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexathlon.tasks.roleplay.text import denotes, found, number_forms, number_words, same_value


@pytest.mark.parametrize(
    ("number", "english", "chinese"),
    [
        (0, "zero", "零"),
        (10, "ten", "十"),
        (12, "twelve", "十二"),
        (42, "forty-two", "四十二"),
        (105, "one hundred and five", "一百零五"),
        (110, "one hundred and ten", "一百一十"),
        (1042, "one thousand and forty-two", "一千零四十二"),
        (1900, "one thousand nine hundred", "一千九百"),
        (2010, "two thousand and ten", "二千零一十"),
    ],
)
def test_numbers_in_words(number, english, chinese):
    assert (number_words(number, "en"), number_words(number, "zh")) == (english, chinese)


@given(st.integers(0, 9999))
def test_every_form_of_a_number_is_found_in_prose(number):
    for form in number_forms(number):
        assert found(f"well, {form}!", str(number))
        assert found(f"，{form}。", str(number))


@given(st.integers(0, 2099), st.integers(0, 2099))
def test_one_number_is_not_another(one, other):
    if one != other:
        assert not found(f"It is {one}.", str(other))
        assert not same_value(str(one), str(other))


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("It was in the year 412.", "412"),
        ("Four hundred and twelve.", "412"),
        ("四百一十二年。", "412"),
        ("两百个", "200"),
        ("Old  Marren Oakson, yes", "Marren Oakson"),
        ("MARREN OAKSON'S", "Marren Oakson"),
        ("the bale of sailcloth", "a bale of sailcloth"),
        ("我叫陆博之。", "陆博之"),
        ("Marren\u200b Oakson", "Marren Oakson"),
    ],
)
def test_found(reply, value):
    assert found(reply, value)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("It is 1412.", "412"), ("3.14", "14"), ("二十四", "20"), ("forty-two", "2"),
        ("Marrens", "Marren"), ("", "x"), ("Marren Oak", "Marren Oakson"), ("一百二十", "20"),
    ],
)  # fmt: skip
def test_not_found(reply, value):
    assert not found(reply, value)


@pytest.mark.parametrize(
    ("given_value", "wanted"),
    [
        ("the year 412", "412"), ("412年", "412"), ("17 years", "17"), ("seventeen", "17"),
        ("十七", "17"), ("“Old Honey”", "Old Honey"), ("a knotted carpet", "knotted carpet"),
        ("OLD HONEY.", "Old Honey"), ("1,042", "1042"), ("3个", "3"),
    ],
)  # fmt: skip
def test_the_same_value(given_value, wanted):
    assert same_value(given_value, wanted) and denotes(given_value, wanted)


def test_a_value_among_other_words_is_denoted():
    assert denotes("my silver whistle, please", "silver whistle")
    assert denotes("那支银哨", "银哨")
    assert not denotes("my silver whistles", "silver whistle")
    assert not denotes("whistle", "silver whistle")


@pytest.mark.parametrize(
    ("given_value", "wanted"),
    [("17 or 18", "17"), ("Old Honey, Old Date", "Old Honey"), ("", "0"), ("41", "412")],
)
def test_another_value(given_value, wanted):
    assert not same_value(given_value, wanted)
