"""Whether another host could be given to a server now, with room for it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping

from osc_traitsched.core.existing import own_host
from osc_traitsched.core.existing.company import Company
from osc_traitsched.core.existing.wish import Wish
from osc_traitsched.core.nova.filter.answer import Passes, Unknown
from osc_traitsched.core.nova.filter.judging import enabled, judge
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher


class Destination(enum.Enum):
    """Whether there is another host; the values are those of rows."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclasses.dataclass
class _Found:
    """The hosts for one wish, found as far as they were wanted.

    :ivar left: yields those that were not looked at yet
    """

    left: Iterator[tuple[str, bool]]
    roots: list[tuple[str, bool]] = dataclasses.field(default_factory=list)

    def all(self) -> Iterator[tuple[str, bool]]:
        """Yield each host, and whether all filters pass it for sure."""
        yield from self.roots
        for each in self.left:
            self.roots.append(each)
            yield each


class Elsewhere:
    """Looks for other hosts; each wish looks no further than its servers need.

    :param facts: with what providers can give now, of all amounts that are asked for
    :param states: the compute nodes, by the UUIDs of their providers
    """

    def __init__(
        self,
        facts: Facts,
        states: Mapping[str, HostState],
        settings: SchedulerSettings,
    ) -> None:
        self._facts = facts
        hosts = (host.uuid for host in facts.snapshot.hosts)
        self._states = {uuid: states[uuid] for uuid in hosts if uuid in states}
        self._settings = settings
        self._names = enabled(settings)
        self._alone = [n for n in self._names if n not in own_host.OF_SERVERS]
        self._found: dict[Wish, _Found] = {}

    def destination(
        self, wish: Wish, own: str | None, company: Company | None
    ) -> Destination:
        """Tell whether a host other than its own could be given to a server.

        It meets the whole request, has room, and all filters pass it. What one kind of
        move alone takes is not looked at.

        :param own: the UUID of the provider of the server's own host; None for none
        :param company: of a server that is moved
        """
        if wish.request is None or wish.spec is None:
            is_refused = wish.refusal is not None
            return Destination.NO if is_refused else Destination.UNKNOWN
        if wish not in self._found:
            self._found[wish] = _Found(self._hosts(wish.request, wish.spec))
        is_known = not wish.doubts and (company is None or company.is_whole)
        is_open = False
        for root, is_sure in self._found[wish].all():
            if root == own:
                continue
            fits = self._in_company(root, wish.spec, company)
            if fits and is_sure and is_known:
                return Destination.YES
            is_open = is_open or fits
        if is_open or not wish.is_image_known:
            return Destination.UNKNOWN
        return Destination.NO

    def _hosts(self, request: Request, spec: RequestSpec) -> Iterator[tuple[str, bool]]:
        """Yield the hosts that are not kept out for sure, and if that is sure."""
        matchers = [
            Matcher(each.clauses, each.group_policy, self._facts, each.same_subtree)
            for each in filter(None, (request, request.fallback))
        ]
        for root, state in self._states.items():
            if any(m.meets(m.host(root), m.everything) for m in matchers):
                answers = [judge(n, state, spec, self._settings) for n in self._alone]
                if all(isinstance(each, (Passes, Unknown)) for each in answers):
                    yield root, all(isinstance(each, Passes) for each in answers)

    def _in_company(
        self, root: str, spec: RequestSpec, company: Company | None
    ) -> bool:
        if company is None:
            return True
        state, spec = company.seen(self._states[root], spec)
        return all(
            isinstance(judge(name, state, spec, self._settings), Passes)
            for name in own_host.OF_SERVERS
            if name in self._names
        )
