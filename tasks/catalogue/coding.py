"""Product ids: short opaque codes that hide which products are neighbours.

The product number is scrambled by an invertible 30-bit mix under the catalogue's seed and written
in base 32, so that ids are unique, stable and not sequential.
"""

from hexathlon.tasks.catalogue.noise import mix

__all__ = ["Coder"]

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DIGITS = {letter: value for value, letter in enumerate(_LETTERS)}
_BITS = 30
_MASK = (1 << _BITS) - 1


class Coder:
    """Encodes product numbers as ids, and decodes ids, for one catalogue."""

    def __init__(self, noise: int) -> None:
        self._factors = tuple(mix(noise, 51, i) & _MASK | 1 for i in range(2))
        self._inverses = tuple(pow(factor, -1, 1 << _BITS) for factor in self._factors)
        self._offset = mix(noise, 52) & _MASK

    def encode(self, number: int) -> str:
        """Return the id of a product number."""
        word = (number * self._factors[0] + self._offset) & _MASK
        word ^= word >> 15
        word = word * self._factors[1] & _MASK
        word ^= word >> 15
        return "P" + "".join(_LETTERS[word >> shift & 31] for shift in range(25, -1, -5))

    def decode(self, code: str) -> int | None:
        """Return the product number of an id, or None if the id is malformed."""
        if len(code) != 7 or code[0] != "P" or any(c not in _DIGITS for c in code[1:]):
            return None
        word = 0
        for letter in code[1:]:
            word = word << 5 | _DIGITS[letter]
        word ^= word >> 15
        word = word * self._inverses[1] & _MASK
        word ^= word >> 15
        return (word - self._offset) * self._inverses[0] & _MASK
