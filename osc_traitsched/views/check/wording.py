"""What every finding's words are: what is wrong, and how to fix it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.check.finding import Finding, Kind
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.paste import (
    Command,
    Option,
    Placeholder,
    is_printable,
    line,
    openstack,
)


@dataclasses.dataclass(frozen=True)
class Words:
    """A finding in words.

    :ivar problem: what is wrong, one line
    :ivar fix: a command to paste where one exists, else what to do; may be empty
    :ivar when: what has to be so before the command is run, or what it is for
    """

    problem: str
    fix: str | Command = ""
    when: str = ""

    def fix_line(self, options: Sequence[Option]) -> str:
        """Return what to do.

        :param options: the global ones of printed commands
        """
        return ": ".join(filter(None, (self.when, self._done(options))))

    def fix_lines(self, options: Sequence[Option]) -> Iterator[str]:
        """Yield what to do; a command has a line of its own, further in.

        :param options: the global ones of printed commands
        """
        done = self._done(options)
        if isinstance(self.fix, str) or not done:
            yield from filter(None, (self.fix_line(options),))
            return
        if self.when:
            yield f"{self.when}:"
        yield f"  {done}"

    def _done(self, options: Sequence[Option]) -> str:
        return self.fix if isinstance(self.fix, str) else line(self.fix, options)


@functools.singledispatch
def word(finding: Finding) -> Words:
    """Return the words of a finding; each class of findings registers its own."""
    raise NotImplementedError(type(finding).__name__)


def unset(kind: Kind, keys: Iterable[str], identity: str) -> Command:
    """Return how keys are taken off; ``KEY`` is one that no command can print."""
    shown = (key if is_printable(key) else Placeholder("KEY") for key in keys)
    options = dict.fromkeys(Option("--property", key) for key in shown)
    return openstack(f"{kind.value} unset", *options, identity)


def aggregate_set(identity: int, *pairs: str | Placeholder) -> Command:
    """Return how an aggregate gets keys.

    :param pairs: each ``key=value``
    """
    properties = (Option("--property", pair) for pair in pairs)
    return openstack("aggregate set", str(identity), *properties)


def off(setting: Setting) -> str:
    """Return that an option is off, or only assumed to be, and by what."""
    state = "off" if setting.given else "assumed to be off"
    return f"{state} ({setting.source})"
