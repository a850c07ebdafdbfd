"""Sets of CPUs, kept as ranges.

Nova holds every number of a list such as ``0-999999999`` in memory
(nova/virt/hardware.py, ``parse_cpu_spec``). A set here is as large as the text that
it was read from, whatever numbers that has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

Range = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class CpuSet:
    """A set of CPU numbers.

    :ivar ranges: the first and the last number of each, sorted; between two of them
        a number is missing
    """

    ranges: tuple[Range, ...] = ()

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> CpuSet:
        """Return the union of ranges, each a first and a last number."""
        joined: list[Range] = []
        for first, last in sorted(ranges):
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
            else:
                joined.append((first, last))
        return cls(tuple(joined))

    @classmethod
    def below(cls, count: int) -> CpuSet:
        """Return the numbers from 0 to ``count - 1``."""
        return cls(((0, count - 1),) if count > 0 else ())

    @property
    def size(self) -> int:
        """How many numbers it has; that can be more than ``len`` may return."""
        return sum(last - first + 1 for first, last in self.ranges)

    @property
    def lowest(self) -> int:
        """Its lowest number.

        :raises IndexError: for the empty set
        """
        return self.ranges[0][0]

    def __bool__(self) -> bool:
        """Tell whether it has any number."""
        return bool(self.ranges)

    def __sub__(self, other: CpuSet) -> CpuSet:
        """Return the numbers that the other set does not have."""
        kept: list[Range] = []
        at = 0
        for first, last in self.ranges:
            while at < len(other.ranges) and other.ranges[at][0] <= last:
                start, stop = other.ranges[at]
                if first < start:
                    kept.append((first, start - 1))
                first = max(first, stop + 1)
                if stop > last:
                    break
                at += 1
            if first <= last:
                kept.append((first, last))
        return CpuSet(tuple(kept))

    def __le__(self, other: CpuSet) -> bool:
        """Tell whether the other set has all its numbers."""
        return not self - other

    def __lt__(self, other: CpuSet) -> bool:
        """Tell whether the other set has all its numbers, and more."""
        return self <= other and self != other
