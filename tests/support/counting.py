"""A token counter to be found by its path."""


def letters(text: str) -> int:
    return sum(character.isalpha() for character in text)
