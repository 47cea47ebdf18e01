"""The longest common subsequence, compared with an enumeration of all subsequences."""

from itertools import combinations, product

from hexathlon.evaluators.subsequence import common_length


def subsequences(text):
    return {part for size in range(len(text) + 1) for part in combinations(text, size)}


def test_lengths_are_those_of_an_enumeration():
    texts = ["".join(letters) for size in range(5) for letters in product("ab", repeat=size)]
    texts += ["abcab", "cabac", "bcbcb"]
    known = {text: subsequences(text) for text in texts}
    for first, second in product(texts, repeat=2):
        assert common_length(first, second) == max(map(len, known[first] & known[second]))


def test_items_are_compared_whole():
    assert common_length([b"open", b"read", b"close"], [b"open", b"close"]) == 2
