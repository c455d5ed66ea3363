"""Sets of line numbers as bit maps: a log of twenty million lines takes 2.5 MB a set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set


class LineSet(Set[int]):
    """Line numbers, one bit each; a set as far as readings use one."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._bits = bytearray()
        self._size = 0
        self.update(numbers)

    def update(self, numbers: Iterable[int]) -> None:
        """Adds numbers, none of them negative."""
        bits = self._bits
        for number in numbers:
            at, bit = number >> 3, 1 << (number & 7)
            if at >= len(bits):
                bits.extend(bytes(at + 1 + (at >> 3) - len(bits)))
            if not bits[at] & bit:
                bits[at] |= bit
                self._size += 1

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int) or number < 0 or number >> 3 >= len(self._bits):
            return False
        return bool(self._bits[number >> 3] & 1 << (number & 7))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[int]:
        for at, byte in enumerate(self._bits):
            if byte:
                yield from (at * 8 + bit for bit in range(8) if byte >> bit & 1)

    def __and__(self, other: Set[object]) -> LineSet:
        if not isinstance(other, LineSet):
            return LineSet(number for number in self if number in other)
        return _from_int(int.from_bytes(self._bits, "little") & int.from_bytes(other._bits, "little"))

    def __or__(self, other: Set[object]) -> LineSet:
        if not isinstance(other, LineSet):
            other = LineSet(number for number in other if isinstance(number, int))
        return _from_int(int.from_bytes(self._bits, "little") | int.from_bytes(other._bits, "little"))

    def without(self, other: LineSet) -> LineSet:
        """The numbers that another set does not hold."""
        return _from_int(int.from_bytes(self._bits, "little") & ~int.from_bytes(other._bits, "little"))

    def ends(self) -> tuple[int, int] | tuple[None, None]:
        """The smallest and the largest number."""
        bits = int.from_bytes(self._bits, "little")
        return ((bits & -bits).bit_length() - 1, bits.bit_length() - 1) if bits else (None, None)


def _from_int(bits: int) -> LineSet:
    made = LineSet()
    made._bits = bytearray(bits.to_bytes((bits.bit_length() + 7) // 8, "little"))
    made._size = bits.bit_count()
    return made
