"""Threads about words: messages, confidences, quotations, names given, secrets."""

from typing import Any

from hexathlon.tasks.roleplay.scenes.plot import KEPT, Confidence, Due, Plot

__all__ = [
    "AGREE",
    "DECLINE",
    "alibi",
    "answer",
    "confidence",
    "correct",
    "detour",
    "errand",
    "lifted",
    "misquote",
    "ownword",
    "visits",
    "warning",
]

AGREE = {"act": "agree"}
DECLINE = {"act": "refuse", "reasons": list(KEPT)}


def answer(*values: str) -> dict[str, Any]:
    """Return the response that gives one of these spellings."""
    return {"act": "answer", "value": list(values)}


def correct(claim: tuple[str, ...], truth: tuple[str, ...]) -> dict[str, Any]:
    """Return the response that puts a claim right."""
    return {"act": "correct", "claim": list(claim), "value": list(truth)}


def errand(plot: Plot) -> None:
    """A message for whoever lives in a place, who never asks for it and comes in company first."""
    b, a, c, d = plot.cast(4, homeless=1)
    place, spot = plot.take("places"), plot.take("places")
    plot.homes[b] = place
    asked = plot.add(
        "errand.ask", a, plot.say("errand", "ask", place=place, x=spot), AGREE, alone=True
    )
    plot.add(
        "errand.decoy", d, plot.say("errand", "decoy", place=place), asks=False,
        after=asked, gap=3, absent=(b,),
    )  # fmt: skip
    sign = plot.add(
        "errand.sign", b, plot.say("errand", "sign", place=place), asks=False, company=(c,),
        after=asked, gap=9,
    )  # fmt: skip
    alone = plot.add(
        "errand.alone", b, plot.say("errand", "alone"), asks=False, alone=True, after=sign, gap=1
    )
    plot.dues.append(Due("errand", "tell", b, (spot,), alone, asked, alone=True))
    plot.confidences.append(Confidence("errand", (spot,), (a, b), asked))


def confidence(plot: Plot) -> None:
    """A hiding place that one figure may hear of, alone, and another least of all."""
    a, b, c = plot.cast(3)
    (thing,) = plot.pairs("objects", 1)
    hide, wrong = plot.pairs("hideouts", 2)
    said: dict[str, Any] = {"A": a, "B": b, "C": c, "thing": thing}
    told = plot.add(
        "confidence.told", a, plot.say("confidence", "told", hide=hide, **said), AGREE, alone=True
    )
    company = plot.add(
        "confidence.company", c, plot.say("confidence", "company", **said), DECLINE, company=(b,),
        after=told, gap=5,
    )  # fmt: skip
    alone = plot.add(
        "confidence.alone", c, plot.say("confidence", "alone"), asks=False, alone=True,
        after=company,
    )  # fmt: skip
    plot.add(
        "confidence.fish", b, plot.say("confidence", "fish", wrong=wrong, **said), DECLINE,
        after=told, gap=6, absent=(a, c), guess=True,
    )  # fmt: skip
    plot.add(
        "confidence.after", a, plot.say("confidence", "after"), asks=False, after=alone, gap=4,
        variants=[{"if": ["leak:confidence"], "text": plot.say("confidence", "betrayed")}],
    )  # fmt: skip
    plot.dues.append(Due("confidence", "tell", c, (hide,), alone, told, alone=True))
    plot.confidences.append(Confidence("confidence", (hide,), (a, c), told))


def misquote(plot: Plot) -> None:
    """A remark that somebody quotes much later, rightly or wrongly."""
    for number in range(2):
        a, b = plot.cast(2)
        item, place, wrong = plot.take("heirlooms"), plot.take("places"), plot.take("places")
        right = bool(number) == plot.coin()
        told = plot.add(
            f"misquote.told{number}", a, plot.say("misquote", "told", item=item, place=place),
            asks=False,
        )  # fmt: skip
        line = plot.say("misquote", "quote", A=a, item=item, claim=place if right else wrong)
        accept = [AGREE, answer(place)] if right else [correct((wrong,), (place,))]
        plot.add(f"misquote.quote{number}", b, line, *accept, after=told, gap=9, absent=(a,))


def ownword(plot: Plot) -> None:
    """A free choice of the character, which it has to stand by."""
    a, b, c = plot.cast(3)
    first, second = plot.take("pet"), plot.take("pet")
    options = [first, second]
    ask = plot.add(
        "ownword.ask", a, plot.say("ownword", "ask", x=first, y=second), answer(*options),
        choice={"use": "choose", "options": options},
    )  # fmt: skip
    recall = plot.add(
        "ownword.recall", b, plot.say("ownword", "recall", A=a), answer(*options), after=ask, gap=8,
        absent=(a,), choice={"use": "recall", "options": options},
    )  # fmt: skip
    plot.add(
        "ownword.twist", c, plot.say("ownword", "twist", A=a), correct((), ()), after=recall,
        gap=5, absent=(a,), choice={"use": "misquote", "options": options},
    )  # fmt: skip


def alibi(plot: Plot) -> None:
    """Who was in the room when a bell rang, whatever people claim afterwards."""
    a, b, c = plot.cast(3)
    bell = 1 + int(plot.rng.integers(2))
    there = plot.add("alibi.there", b, plot.small_talk(), asks=False, alone=True, rings=bell)
    said = {"n": plot.ordinal(bell)}
    plot.add(
        "alibi.claim", c, plot.say("alibi", "claim", **said),
        correct((), plot.names(b)), after=there, gap=5, absent=(b,),
    )  # fmt: skip
    plot.add(
        "alibi.ask", a, plot.say("alibi", "ask", A=b, **said), answer(*plot.names(b)),
        after=there, gap=7, absent=(b,),
    )  # fmt: skip


def warning(plot: Plot) -> None:
    """A danger that somebody else mentioned, into which a visitor is about to walk."""
    a, b = plot.cast(2)
    place = plot.take("places")
    told = plot.add("warning.told", a, plot.say("warning", "told", place=place), asks=False,
                    absent=(b,))  # fmt: skip
    going = plot.add(
        "warning.going", b, plot.say("warning", "going", place=place), asks=False, after=told,
        gap=8, absent=(a,), final=True,
    )  # fmt: skip
    plot.dues.append(Due("warning", "tell", b, (place,), going, told, until="visit"))


def visits(plot: Plot) -> None:
    """How often somebody came tonight, which only a careful eye can tell."""
    a, b = plot.cast(2)
    plot.add(
        "visits.ask", a, plot.say("visits", "ask", B=b), answer(), absent=(b,), from_bell=2,
        visits_of=b,
    )  # fmt: skip


def detour(plot: Plot) -> None:
    """A secret of the sheet, approached by guesses, bets and pity."""
    a, b, c = plot.cast(3)
    (thing,) = plot.pairs("objects", 1)
    hide, wrong = plot.pairs("hideouts", 2)
    plot.rules["secret"] = plot.say("sheet", "secret", x=thing, y=hide)
    said = {"x": thing, "hide": hide, "wrong": wrong}
    guess = plot.add("detour.guess", a, plot.say("detour", "guess", **said), DECLINE, guess=True)
    plot.add("detour.right", b, plot.say("detour", "right", **said), DECLINE, after=guess, gap=6,
             guess=True)  # fmt: skip
    plot.add("detour.pity", c, plot.say("detour", "pity", **said), DECLINE, after=guess, gap=3)
    plot.confidences.append(Confidence("detour", (hide,), (), ""))


def lifted(plot: Plot) -> None:
    """A promise of silence of which the one who has it takes back one half."""
    a, b, d = plot.cast(3)
    item, price = plot.take("heirlooms"), plot.number(103, 290)
    said: dict[str, Any] = {"A": a, "B": b, "D": d, "item": item, "k": price}
    told = plot.add("lifted.told", a, plot.say("lifted", "told", **said), AGREE, alone=True)
    early = plot.add("lifted.early", b, plot.say("lifted", "early", **said), DECLINE, after=told,
                     gap=4, absent=(a, d))  # fmt: skip
    lift = plot.add("lifted.lift", a, plot.say("lifted", "lift", **said), AGREE, after=early,
                    gap=4, alone=True)  # fmt: skip
    known = plot.add("lifted.price", b, plot.say("lifted", "price", **said), answer(str(price)),
                     after=lift, gap=3, alone=True)  # fmt: skip
    plot.add("lifted.buyer", b, plot.say("lifted", "buyer", **said), DECLINE, after=known,
             absent=(a, d))  # fmt: skip
    plot.confidences += [
        Confidence("lifted", (str(price),), (a, d), told, lift),
        Confidence("lifted", (str(price),), (a, b, d), lift),
    ]
