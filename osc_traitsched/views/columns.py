"""Cells that a person reads abridged and a program reads whole."""

from __future__ import annotations

from collections.abc import Iterable

from cliff import columns

from osc_traitsched.text import visible


class Cell(columns.FormattableColumn):  # type: ignore[type-arg,unused-ignore]
    """A cell of lines that are safe to print on a terminal."""

    def human_readable(self) -> str:
        """The lines, visible."""
        return "\n".join(map(visible, self.lines()))

    def lines(self) -> Iterable[str]:
        """The lines that a person sees."""
        raise NotImplementedError


class Names(Cell):
    """Names, one a line; a program gets them all, as a list.

    :param names: all of them, in order
    :param shown: those that a person sees; all if not given
    :param rest: the line that counts the others; may have ``{count}``
    """

    def __init__(
        self,
        names: Iterable[str],
        shown: Iterable[str] | None = None,
        rest: str = "",
    ) -> None:
        super().__init__(list(names))
        self._shown = self._value if shown is None else list(shown)
        self._rest = rest

    def lines(self) -> Iterable[str]:
        """The names to show, and a line that counts the others."""
        hidden = len(self._value) - len(self._shown)
        lines = list(self._shown)
        if hidden:
            lines.append(self._rest.format(count=hidden))
        return lines


class Indented(Cell):
    """A name that a person sees indented by its depth in the tree."""

    def __init__(self, name: str, depth: int) -> None:
        super().__init__(name)
        self._depth = depth

    def lines(self) -> Iterable[str]:
        """The name, two columns to the right for each level."""
        return ["  " * self._depth + str(self._value)]
