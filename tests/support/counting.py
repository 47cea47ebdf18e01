"""A token counter, for lookup by import path."""


def letters(text: str) -> int:
    return sum(character.isalpha() for character in text)
