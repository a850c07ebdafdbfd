"""The request: what Nova asks Placement for one server."""

from __future__ import annotations

import dataclasses
import functools
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.server.not_evaluated import NotEvaluated


@dataclasses.dataclass(frozen=True)
class Request:
    """What Nova asks Placement for one server.

    :ivar clauses: in the order in which Nova comes to them: those of the
        prefilters, then those of the flavor and the image
    :ivar group_policy: ``none``, ``isolate``, or None where nothing is said
    :ivar limit: at most so many candidates
    :ivar microversion: of the Placement API, as Nova sends it
    :ivar in_tree: UUID of the root that alone is asked for; None for all
    :ivar fallback: the second query that Nova sends for a pinned server, whose
        candidates count as well; None where it sends one query only
    :ivar same_subtree: suffixes of groups whose providers must be one of them and its
        descendants
    :ivar not_evaluated: what the query depends on and was not given, and what Nova read
        and left out without a word
    """

    clauses: tuple[Clause, ...]
    group_policy: str | None
    limit: int | None
    microversion: str
    fallback: Request | None = None
    not_evaluated: tuple[NotEvaluated, ...] = ()
    in_tree: str | None = None
    same_subtree: tuple[tuple[str, ...], ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The suffixes of its groups, each once; empty for the unsuffixed one."""
        suffixes = (_group(clause) for clause in self.clauses)
        return tuple(dict.fromkeys(s for s in suffixes if s is not None))

    def resources(self, group: str = "") -> Mapping[str, int]:
        """Return the amount of each resource class that a group asks for."""
        return {
            clause.resource_class: clause.amount
            for clause in self.clauses
            if isinstance(clause, Resource) and clause.group == group
        }

    @property
    def groups_without_amounts(self) -> tuple[str, ...]:
        """The groups that ask for no amount; the unsuffixed one where none does.

        Placement refuses a request with any (placement/lib.py,
        ``_check_for_orphans`` and ``_check_for_one_resources``).
        """
        groups = self.groups or ("",)
        return tuple(group for group in groups if not self.resources(group))

    @property
    def lacks_group_policy(self) -> bool:
        """Whether it says nothing of how its groups may share providers, and must.

        Placement refuses it (placement/handlers/allocation_candidate.py,
        ``list_allocation_candidates``). Nova helps out only where ports or devices
        bring the second group (nova/scheduler/utils.py,
        ``resources_from_request_spec``).
        """
        return self.group_policy is None and len(set(self.groups) - {""}) > 1

    def query(self) -> str:
        """Return the query string, each byte as Nova sends it.

        nova/scheduler/utils.py, ``ResourceRequest.to_querystring``.
        """
        return self._query

    @functools.cached_property
    def _query(self) -> str:
        return urllib.parse.urlencode(sorted(self._parameters()))

    def without_limit(self) -> Request:
        """Return the request of a server whose hints name other servers, or a group.

        nova/scheduler/utils.py, ``resources_from_request_spec``
        """
        second = self.fallback and self.fallback.without_limit()
        return dataclasses.replace(self, limit=None, fallback=second)

    def forbidding_at_once(self, but: Request | None = None) -> Request:
        """Return the request with one clause for all the aggregates that it forbids.

        The same hosts match, and it takes less to find them: each of many isolated
        aggregates is a clause of its own in nearly every request.

        :param but: the clauses that this request has as well stay as they are
        """
        apart = but.clauses if but else ()
        joined: list[MemberOf] = []
        others: list[Clause] = []
        for clause in self.clauses:
            is_kept = clause in apart
            if isinstance(clause, MemberOf) and clause.forbidden and not is_kept:
                joined.append(clause)
            else:
                others.append(clause)
        if not joined:
            return self
        union = MemberOf(
            frozenset[str]().union(*(clause.aggregates for clause in joined)),
            forbidden=True,
            origins=tuple(origin for clause in joined for origin in clause.origins),
        )
        fallback = self.fallback and self.fallback.forbidding_at_once(but)
        return dataclasses.replace(self, clauses=(*others, union), fallback=fallback)

    def _parameters(self) -> Iterator[tuple[str, str]]:
        if self.limit is not None:
            yield "limit", str(self.limit)
        if self.group_policy:
            yield "group_policy", self.group_policy
        if self.in_tree:
            yield "in_tree", self.in_tree
        for suffixes in self.same_subtree:
            yield "same_subtree", ",".join(sorted(suffixes))
        roots = [clause for clause in self.clauses if isinstance(clause, RootTrait)]
        if roots:
            yield "root_required", _traits(roots)
        for group in self.groups:
            amounts = [f"{name}:{n}" for name, n in self.resources(group).items()]
            # A group of traits alone is sent too; Placement then refuses it.
            yield f"resources{group}", ",".join(sorted(amounts))
            traits = [
                clause
                for clause in self.clauses
                if isinstance(clause, Trait) and clause.group == group
            ]
            if traits:
                yield f"required{group}", _traits(traits)
        yield from self._aggregates()

    def _aggregates(self) -> Iterator[tuple[str, str]]:
        memberships = [
            clause for clause in self.clauses if isinstance(clause, MemberOf)
        ]
        for clause in memberships:
            if not clause.forbidden:
                named = sorted((*clause.aggregates, *clause.repeated))
                yield "member_of", "in:" + ",".join(named)
        forbidden = {u for c in memberships if c.forbidden for u in c.aggregates}
        if forbidden:
            yield "member_of", "!in:" + ",".join(sorted(forbidden))


def _group(clause: Clause) -> str | None:
    """Return the suffix of the group that a clause is of; None for the root's."""
    if isinstance(clause, RootTrait):
        return None
    return "" if isinstance(clause, MemberOf) else clause.group


def _traits(clauses: Iterable[Trait | RootTrait]) -> str:
    """Return required traits, then forbidden ones, each in the order of their names."""
    ordered = sorted(clauses, key=lambda clause: (clause.forbidden, clause.name))
    return ",".join(f"{'!' * clause.forbidden}{clause.name}" for clause in ordered)
