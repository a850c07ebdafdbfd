"""What would help: each change is tried before it is returned."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator

from osc_traitsched.cloud import allocation_candidates, lookup
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.errors import PlacementRefuses, Refusal
from osc_traitsched.core.explain import fix
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.filtering import Filtering, filtering
from osc_traitsched.core.explain.fix import Fix, HostFix, RequestFix
from osc_traitsched.core.explain.verdict import Verdict
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.candidate import given_roots
from osc_traitsched.core.placement.matcher import Matcher

#: So many other flavors with hosts are enough.
_ENOUGH_FLAVORS = 3

#: So many of Placement's answers show that a change helps. All of them are wanted only
#: where hosts could be lost.
_MOST_ANSWERS = 100


def fixes(cloud: Cloud, explanation: Explanation, matcher: Matcher) -> tuple[Fix, ...]:
    """Return what would help, the safest first.

    Placement tries changes of the request, and the matcher those of hosts.

    :raises CloudBroke: when Nova, Glance or Placement can't be read
    """
    verdict, facts = explanation.verdict, explanation.facts
    if verdict is None or facts is None:
        return ()
    question = explanation.question
    placement = cloud.placement
    if facts.cut_off or question.is_kept:
        # Of answers that are cut it can't be told what a change loses.
        return _on_hosts(explanation, matcher, verdict)
    on_request = fix.on_request(question, facts, verdict)
    flavors = fix.other_flavors(question, lookup.known_flavors(cloud))
    return fix.safest_first(
        [
            *itertools.islice(
                _helping(placement, explanation, flavors), _ENOUGH_FLAVORS
            ),
            *_helping(placement, explanation, _formats(cloud, explanation, on_request)),
            *_helping(placement, explanation, on_request),
            *_on_hosts(explanation, matcher, verdict),
        ]
    )


def _on_hosts(
    explanation: Explanation, matcher: Matcher, verdict: Verdict
) -> tuple[HostFix, ...]:
    may_fail = (each.name for each in explanation.may_fail)
    question, computes = explanation.question, explanation.computes
    return fix.on_hosts(matcher, verdict, question, computes, may_fail)


def _formats(
    cloud: Cloud, explanation: Explanation, on_request: Iterable[RequestFix]
) -> Iterator[RequestFix]:
    """Yield images of the same name to try, where another format would help."""
    image = explanation.question.image
    if image is None or not image.get("name"):
        return
    if any(fix.changes_format(each) for each in on_request):
        images = lookup.images(cloud, {"name": f"eq:{image['name']}"})
        yield from fix.other_formats(explanation.question, images)


def _helping(
    placement: Service, explanation: Explanation, proposals: Iterable[RequestFix]
) -> Iterator[RequestFix]:
    """Yield the changes of the request with which Placement gives more hosts."""
    found = explanation.facts
    if found is None:
        return
    hosts = {host.uuid for host in explanation.hosts}
    now = {host.uuid for host in explanation.candidates}
    most = None if now else _MOST_ANSWERS
    for proposal in proposals:
        question = explanation.question
        for change in proposal.changes:
            question = change.applied(question)
        try:
            answer = allocation_candidates.ask(placement, question.request(), most)
        except (Refusal, PlacementRefuses):
            continue
        roots = given_roots(answer.body, found.snapshot)
        after = _Passing.of(explanation, question, roots)
        gained, lost = (after.sure & hosts) - now, now - after.possible
        is_sure = bool(gained)
        if not is_sure and not lost:
            gained = (after.possible & hosts) - now
        if len(gained) > len(lost):
            yield dataclasses.replace(
                proposal,
                hosts=tuple(sorted(gained)),
                lost=tuple(sorted(lost)),
                is_cut=most is not None and max(answer.counts) >= most,
                deciding=() if is_sure else after.deciding(gained),
            )


@dataclasses.dataclass(frozen=True)
class _Passing:
    """The hosts that the host filters pass for sure, and those that they may pass.

    :ivar may_fail: the filters that may end the request
    """

    sure: frozenset[str]
    possible: frozenset[str]
    found: Filtering
    may_fail: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, explanation: Explanation, question: Question, given: frozenset[str]
    ) -> _Passing:
        """Run the filters over the hosts that Placement gives for a question."""
        computes = explanation.computes
        nodes = [computes[root] for root in given if root in computes]
        found = filtering(question, nodes)
        failures = tuple(found.failures(given))
        if any(each.is_sure for each in failures):
            return cls(frozenset(), frozenset(), found)
        sure = frozenset(root for root in given if not found.doubts(root))
        names = tuple(dict.fromkeys(each.name for each in failures))
        possible = given - found.all_kept_out
        return cls(frozenset() if names else sure, possible, found, names)

    def deciding(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Return the filters that decide about hosts, and can't be seen from here."""
        names = (*self.found.deciding(roots), *self.may_fail)
        return tuple(dict.fromkeys(names))
