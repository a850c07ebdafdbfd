"""What every rule's words are: what is wrong, and how to mend it."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Iterable

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.views.problems import listed


@dataclasses.dataclass(frozen=True)
class Words:
    """A finding in words.

    :ivar problem: what is wrong, one line
    :ivar mend: a command to paste where one exists, else what to do; may be empty
    """

    problem: str
    mend: str = ""


#: Words a rule's finding.
Wording = Callable[[Finding], Words]


def off(finding: Finding) -> str:
    """Return that an option is off, or only assumed to be, and by what."""
    state = "off" if finding.data["given"] else "assumed to be off"
    return f"{state} ({finding.text('source')})"


def command(*words: str) -> str:
    """Return an ``openstack`` command that a shell takes as it is."""
    return "openstack " + " ".join(shlex.quote(word) for word in words)


def count(names: Iterable[str], noun: str) -> str:
    """Return ``flavor a`` or ``flavors a, b``; nothing without names."""
    names = tuple(names)
    if not names:
        return ""
    return f"{noun}{'s' * (len(names) > 1)} {listed(names)}"
