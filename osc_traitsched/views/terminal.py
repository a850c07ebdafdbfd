"""Lines of text, and how a terminal shows them."""

from __future__ import annotations

import dataclasses
import enum

import termcolor

from osc_traitsched.text import visible


class Tone(enum.Enum):
    """What a line says at a glance; its words say so, too."""

    TITLE = "title"
    YES = "yes"
    NO = "no"
    DOUBT = "doubt"


_COLORS = {Tone.TITLE: None, Tone.YES: "green", Tone.NO: "red", Tone.DOUBT: "yellow"}


@dataclasses.dataclass(frozen=True)
class Line:
    """A line; names are in it as they are."""

    text: str
    tone: Tone | None = None


def painted(line: Line, width: int) -> str:
    """Return a line with nothing in it that a terminal obeys but its own color.

    termcolor knows whether the terminal has any, and ``NO_COLOR``.

    :param width: of the terminal; 0 where the text goes to none
    """
    shown = visible(line.text)
    if line.tone is None or not width:
        return shown
    return termcolor.colored(shown, _COLORS[line.tone], attrs=["bold"])
