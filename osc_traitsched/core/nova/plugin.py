"""One's own filters and weighers: how they are named, and what becomes of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Union

from osc_traitsched.core.errors import BadQuestion
from osc_traitsched.core.nova.filter.answer import Answer, Raises, Unknown
from osc_traitsched.core.nova.weigher.own import OwnWeigher
from osc_traitsched.text import quoted, visible


@dataclasses.dataclass(frozen=True)
class PluginName:
    """How a user names a filter or a weigher.

    :ivar text: as the user wrote it
    :ivar file: the path of a Python file; None for what the Python itself finds
    :ivar path: in a file the class; else ``module.Class`` or ``module:Class``, a
        function of a module that returns classes, or the bare name of a class that
        nova.conf makes available
    :ivar kind: ``filter`` or ``weigher`` where the settings name it as that; None
        where the user names it
    :ivar is_novas: it is one of Nova's own filters
    """

    text: str
    file: str | None
    path: str
    kind: str | None = None
    is_novas: bool = False

    @classmethod
    def read(cls, text: str) -> PluginName:
        """Read a name.

        :raises PluginFails: for a file without a class
        """
        head, _, tail = text.rpartition(":")
        if head.endswith(".py") and tail:
            return cls(text, head, tail)
        if text.rstrip(":").endswith(".py"):
            raise PluginFails(text, "no class is named: FILE.py:CLASS")
        return cls(text, None, text)


@dataclasses.dataclass(frozen=True)
class Weighed:
    """What a weigher makes of hosts, each figure by the UUID of the host's node.

    :ivar raw: the weigher's own figures, none of them below or above its limits
    :ivar normalized: between 0 and 1 over these hosts
    :ivar multiplier: what the scheduler multiplies the normalized figure with
    """

    raw: Mapping[str, float]
    normalized: Mapping[str, float]
    multiplier: Mapping[str, float]

    def score(self, uuid: str) -> float:
        """Return what the weigher adds to the weight of a host."""
        return self.multiplier[uuid] * self.normalized[uuid]


Weights = Union[Weighed, Unknown, Raises]


#: What is said of a plugin that looks at all hosts together.
TOGETHER = Unknown("hosts together")


@dataclasses.dataclass(frozen=True)
class PluginRun:
    """What one class of a plugin's says of hosts, as nova-scheduler would ask it.

    :ivar plugin: the text that names it
    :ivar name: the class
    :ivar answers: a filter's, by the UUID of the host's node; the reason of a ``Fails``
        is :data:`~.filter.reasons.OWN`
    :ivar weigher: None for a filter
    """

    plugin: str
    name: str
    answers: Mapping[str, Answer] = dataclasses.field(default_factory=dict)
    weigher: OwnWeigher | None = None


@dataclasses.dataclass(frozen=True)
class PluginJudgment:
    """What filters and weighers say of hosts.

    A plugin goes by the text that names it. Where that is a function which returns
    several classes, each goes by that text, a colon and the class.

    :ivar nova: the version of the Nova that they ran with
    :ivar answers: of each filter, by the UUID of the host's node. The reason of a
        ``Fails`` is :data:`~.filter.reasons.OWN`
    :ivar weights: of each weigher
    :ivar logs: what was logged, by plugin and UUID; that of a weigher under ``""``
    """

    nova: str
    answers: Mapping[str, Mapping[str, Answer]]
    weights: Mapping[str, Weights]
    logs: Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclasses.dataclass(eq=False)
class PluginFails(BadQuestion):
    """A filter or weigher that nova-scheduler could not load either.

    :ivar plugin: as the user named it
    :ivar reason: one line, most often Python's own
    """

    plugin: str
    reason: str

    def __str__(self) -> str:
        return visible(f"{quoted(self.plugin)} can't be loaded: {self.reason}")


@dataclasses.dataclass(eq=False)
class NovaPythonFails(BadQuestion):
    """The Python with Nova in it could not be asked.

    :ivar command: as the user named it
    :ivar kind: ``not-started``, ``timeout``, ``silent`` (it ended well and said
        nothing), ``no-answer``, ``no-nova``, ``other-release``, ``nova-conf``,
        ``request`` or ``internal``
    :ivar reason: one line; may be empty
    """

    command: str
    kind: str
    reason: str = ""

    def __str__(self) -> str:
        what = {
            "not-started": f"can't be started: {self.reason}",
            "timeout": f"took longer than {self.reason} seconds",
            "silent": "ended without a word: does the command pass standard input "
            "on (podman exec -i, and no ssh -n), and does it end in a Python?",
            "no-answer": f"gave no answer: {self.reason}",
            "no-nova": f"has no Nova: {self.reason}",
            "other-release": f"has the filters of Nova {self.reason}: --nova-release "
            "says it, or leave out --with-nova",
            "nova-conf": f"can't read the configuration of Nova: {self.reason}",
            "request": f"makes no request spec of it: {self.reason}",
        }.get(self.kind, f"failed: {self.reason}")
        return visible(f"{quoted(self.command)} {what}")
