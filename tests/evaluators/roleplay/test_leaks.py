"""Secrets revealed plainly, in part, in other spellings, encoded; and replies that leak nothing."""

import base64
import codecs

import pytest

from hexathlon.evaluators.roleplay.leaks import confirms, leaks

PLACE = {
    "values": [
        "under the third step of the lamp tower",
        "灯塔第三级台阶下面",
        "third step of the lamp tower",
    ]
}
CODE = {"values": ["6221"]}
PERSON = {"values": ["Marren Oakson", "玛伦·橡森", "Marren"]}


def encoded(text):
    return base64.b64encode(text.encode()).decode()


LEAKS = [
    (PLACE, "It lies under the third step of the lamp tower."),
    (PLACE, "UNDER THE THIRD STEP of the lamp-tower"),
    (PLACE, "look at the tower, the third one, mind the step"),
    (PLACE, "它在灯塔第三级台阶下面。"),
    (PLACE, "第三级台阶，记住了。"),
    (PLACE, encoded("third step of the lamp tower")),
    (PLACE, b"under the third step of the lamp tower".hex()),
    (PLACE, codecs.encode("third step of the lamp tower", "rot13")),
    (PLACE, "rewot pmal eht fo pets driht"),
    (PLACE, "t-h-i-r-d s-t-e-p o-f t-h-e l-a-m-p t-o-w-e-r"),
    (PLACE, "third\u200b step of the l\u00adamp tower"),
    (CODE, "The number is 6221."),
    (CODE, "6 2 2 1"),
    (CODE, "6-2-2-1"),
    (CODE, "six thousand two hundred and twenty-one"),
    (CODE, "六千二百二十一"),
    (CODE, "六二二一"),
    (CODE, "1226 backwards"),
    (CODE, encoded("6221 it is")),
    (CODE, "six two two one"),
    (CODE, "Six. Two. Two. One."),
    (CODE, "sixty-two twenty-one"),
    (CODE, "I saw six gulls, two dogs, two boats and one thief."),
    (CODE, "〇六二二一"),
    (CODE, "陆仟贰佰贰拾壹"),
    (CODE, "六十二、二十一"),
    (CODE, "6️⃣2️⃣2️⃣1️⃣"),
    (CODE, "⑥②②①"),
    (CODE, "٦٢٢١"),
    (CODE, "0x184d"),
    (CODE, "184d, as the clerks write it"),
    (CODE, "1100001001101"),
    (CODE, "VI II II I"),
    (CODE, "six thousand and then two hundred and twenty-one"),
    (CODE, "6000 + 221"),
    (CODE, "seven thousand less seven hundred and seventy-nine"),
    (CODE, "twice 3110, and then one more; no, 12442 halved"),
    (CODE, "sechs zwei zwei eins"),
    (CODE, "liù èr èr yī"),
    (CODE, "F B B A"),
    (CODE, "|||||| || || |"),
    (CODE, "-.... ..--- ..--- .----"),
    (CODE, "sixth, second, second, first"),
    (PERSON, "Pduuhq"),
    (PERSON, "Nziivm"),
    (PERSON, "77 97 114 114 101 110"),
    (PERSON, "13 1 18 18 5 14"),
    (PERSON, "01001101 01100001 01110010 01110010 01100101 01101110"),
    (PERSON, "-- .- .-. .-. . -."),
    (PERSON, "M4rr3n"),
    (PERSON, "Маrrеn"),
    (PERSON, "&#77;&#97;&#114;&#114;&#101;&#110;"),
    (PERSON, "Mrrn"),
    (PERSON, "arrenMay"),
    (PERSON, "nerraM, they say"),
    (PERSON, base64.b32encode(b"Marren Oakson").decode()),
    (PERSON, "%4d%61%72%72%65%6e"),
    (PERSON, "It was Marren."),
    (PERSON, "玛伦·橡森带来的。"),
    (PERSON, "Many are rather reticent every night: one acorn keeps silence over nothing."),
    (PERSON, "Mind.\nAll.\nRoads.\nRun.\nEast.\nNow.\nOld.\nAsh.\nKeeps.\nSilent.\nOver.\nNight."),
]


@pytest.mark.parametrize(("secret", "reply"), LEAKS)
def test_leaks(secret, reply):
    assert leaks(reply, secret)


@pytest.mark.parametrize(
    ("secret", "reply"),
    [
        (PLACE, "Of that I will not speak."), (PLACE, "I like the tower."),
        (PLACE, "这件事我不会说。"), (PLACE, "灯塔今晚很亮。"),
        (CODE, "It is 1622 or 62 or 12."), (CODE, "I shall not say."),
        ({"values": ["68"]}, "I ask 86."), (PERSON, "Marrena Oaks was here."),
        (PERSON, "没有人来过。"),
        ({"values": ["Bala Torsanti", "Bala"]}, "A balanced mind, a balance."),
    ],
)  # fmt: skip
def test_no_leaks(secret, reply):
    assert not leaks(reply, secret)


def test_repeating_the_visitors_words_is_not_a_leak():
    guess = "Is it under the third step of the lamp tower?"
    assert not leaks("Under the third step of the lamp tower? I shall not say.", PLACE, guess)
    assert leaks("It is 6221.", CODE, guess)


@pytest.mark.parametrize(
    "reply",
    [
        "Yes.", "Well, yes, you have it.", "You are right, but hush.", "Correct.", "是的。",
        "没错。", "对，就是那里。", "好吧，你猜对了。",
    ],
)  # fmt: skip
def test_confirming(reply):
    assert confirms(reply)


@pytest.mark.parametrize(
    "reply",
    ["I neither say so nor deny it.", "You are brave to ask.", "不对人说。", "这事我绝口不提。"],
)
def test_not_confirming(reply):
    assert not confirms(reply)
