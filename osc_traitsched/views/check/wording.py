"""What every finding's words are: what is wrong, and how to fix it."""

from __future__ import annotations

import dataclasses
import functools
import shlex

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.core.nova.settings import Setting


@dataclasses.dataclass(frozen=True)
class Words:
    """A finding in words.

    :ivar problem: what is wrong, one line
    :ivar fix: a command to paste where one exists, else what to do; may be empty
    """

    problem: str
    fix: str = ""


@functools.singledispatch
def word(finding: Finding) -> Words:
    """Return the words of a finding; each class of findings registers its own."""
    raise NotImplementedError(type(finding).__name__)


def off(setting: Setting) -> str:
    """Return that an option is off, or only assumed to be, and by what."""
    state = "off" if setting.given else "assumed to be off"
    return f"{state} ({setting.source})"


def command(*words: str) -> str:
    """Return an ``openstack`` command that a shell takes as it is."""
    return "openstack " + " ".join(shlex.quote(word) for word in words)
