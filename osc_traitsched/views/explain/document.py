"""The documents of ``explain``."""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, Optional, Union

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import (
    NotForProject,
    PlacementRefuses,
    Refusal,
    TraitSchedError,
)
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.explanation import Explanation, differing, kept_out_by
from osc_traitsched.core.judge.fix import HostFix, RequestFix
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import breakdown, picks
from osc_traitsched.core.nova.filter.table import FILTERS, is_list_known
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.request import Request as NovaRequest
from osc_traitsched.core.nova.weigher.weighing import Assumption as WeighingAssumption
from osc_traitsched.documents import JsonObject, Whole, field, serialized
from osc_traitsched.paste import Option, line
from osc_traitsched.views.difference import SinceDocument
from osc_traitsched.views.drain.document import DrainStep
from osc_traitsched.views.explain import by_flavor, fixes, headline, words
from osc_traitsched.views.explain import filters as weights
from osc_traitsched.views.explain.schema import (
    Assumption,
    Clause,
    FilterCounts,
    Flavor,
    Host,
    Image,
    Release,
    Request,
    Share,
    conflicts,
    rows,
)
from osc_traitsched.views.own_filters import ANSWERS

SureAnswer = Annotated[str, ("yes", "no", "exception")]


def names(providers: Iterable[Provider]) -> list[str]:
    """The names of providers, in their order."""
    return [provider.name for provider in providers]


def named(attribute: str) -> Any:
    """A field with the names of providers, which an attribute has."""
    providers = operator.attrgetter(attribute)
    return field(lambda value: names(providers(value)))


def of_judgement(get: Callable[[Judgement], Any]) -> Any:
    """A field of an explanation whose value is taken from its judgement."""
    return field(lambda explanation: get(explanation.judgement))


def verdict(judgement: Judgement) -> str:
    """The answer in a word or two."""
    if judgement.refusal is not None:
        return "rejected"
    if judgement.is_in_doubt:
        return "disagreement"
    if judgement.answer.is_open:
        return "unknown"
    if judgement.answer is Answer.YES:
        return "candidates"
    return "no room" if judgement.candidates else "no host"


def _before(attribute: str) -> Any:
    def get(name: str, whole: Whole) -> Any:
        settings = whole.value.without_set.question.assumptions
        return getattr(settings.setting(name), attribute)

    return field(get)


def _query(request: Optional[NovaRequest]) -> Optional[str]:
    return request.query() if request else None


def _changed(
    judgement: Judgement, hosts: Sequence[Provider]
) -> Iterator[tuple[Provider, tuple[str, ...]]]:
    for filters, kept_out in kept_out_by(judgement, hosts).items():
        yield from ((host, filters) for host in kept_out)


def _differing(whole: Whole) -> tuple[tuple[Provider, ...], tuple[Provider, ...]]:
    return differing(whole.value.judgement, whole.value.without_set)


def _commands(change: Any, whole: Whole) -> list[Optional[str]]:
    commands = fixes.commands(change, whole.value.judgement)
    return [line(command, whole.options) for command in commands]


def _stage(refusal: TraitSchedError) -> Optional[str]:
    if isinstance(refusal, Refusal):
        return refusal.stage
    # nova-api does not find what the project may not use.
    return "api" if isinstance(refusal, NotForProject) else None


def _assumed_off(judgement: Judgement) -> Iterator[tuple[str, list[str]]]:
    filtering = judgement.filtering
    if not is_list_known(judgement.question.assumptions):
        for name in filter(FILTERS.__contains__, filtering.unsettled):
            roots = filtering.unknown_hosts[name]
            hosts = [h.name for h in judgement.candidates if h.uuid in roots]
            if hosts:
                yield name, hosts


def _host_names(judgement: Judgement) -> dict[str, str]:
    return {host.uuid: host.name for host in judgement.hosts}


def _concerned(assumption: WeighingAssumption, whole: Whole) -> list[str]:
    names = _host_names(whole.value.judgement)
    return sorted(names.get(uuid, uuid) for uuid in assumption.hosts)


def _differences(own: Any, whole: Whole) -> Iterator[tuple[Any, str]]:
    names = _host_names(whole.value.judgement)
    for difference in whole.value.judgement.filtering.differences:
        yield difference, names.get(difference.host, difference.host)


class Dependence(JsonObject):
    """An unknown option or host filter whose other value changes the candidates."""

    option: str = field("name")
    """``section.option``, or the name of a host filter."""
    assumed: Union[bool, int, float, str, Iterable[str], None]
    """The value that the answer assumes."""
    source: str
    """Why it is assumed: a default, or what the cloud shows."""
    hosts: int
    """How many candidates there are with that value."""
    otherwise: int
    """How many there would be with the other value."""
    more: Iterable[str]
    """Options and filters that have to have their other value, too."""
    decides: bool = field(
        lambda dependence, whole: dependence in whole.value.judgement.turning
    )
    """Whether the other value turns the verdict."""


class RejectedRequest(JsonObject):
    """Why the request as a whole is rejected."""

    by: Annotated[str, ("nova", "placement")] = field(
        lambda refusal: "placement" if isinstance(refusal, PlacementRefuses) else "nova"
    )
    """Who rejects it."""
    exception: Optional[str] = field(
        lambda refusal: refusal.exception if isinstance(refusal, Refusal) else None
    )
    """Nova's exception; null for Placement, and for a flavor or an image that the
    project may not use."""
    keys: Iterable[str] = field(
        lambda refusal: refusal.keys if isinstance(refusal, Refusal) else ()
    )
    """The keys of the flavor and the image that it concerns, or the availability
    zone."""
    stage: Optional[Annotated[str, ("api", "scheduler", "no valid host")]] = field(
        _stage
    )
    """``api``: Nova rejects it at once. ``scheduler``: the server goes to ERROR with
    that exception. ``no valid host``: it goes to ERROR as if no host matched. Null for
    Placement."""
    text: str = field(
        lambda refusal, whole: words.text(
            refusal, whole.value.judgement.question.move is not None
        )
    )
    """The rejection in one line, for a person."""


class WeightAssumption(JsonObject):
    """An assumption behind weights and ``picks``, since no API shows it."""

    weigher: Optional[str] = field(lambda assumption: assumption.weigher or None)
    """The weigher that reads it; null for all of them."""
    missing: Optional[str] = field(lambda assumption: assumption.missing or None)
    """What is not shown, under Nova's name; null for an unknown weigher."""
    hosts: Iterable[str] = field(_concerned)
    """The hosts that it concerns, sorted; empty for all candidates."""
    text: str = field(weights.assumption)
    """What is assumed, in words."""


class FilterAssumedOff(JsonObject):
    """A host filter that may be on, and that could keep candidates out."""

    filter: str = field(lambda row: row[0])
    """Its name."""
    hosts: Iterable[str] = field(lambda row: row[1])
    """The candidates that it could keep out, by name."""


class Difference(JsonObject):
    """A host on which a filter of Nova and its copy here disagree. Nova is believed."""

    filter: str = field(lambda row: row[0].filter)
    """The filter's name."""
    host: str = field(lambda row: row[1])
    """The host's name."""
    here: SureAnswer = field(lambda row: ANSWERS[type(row[0].ours)])
    """The answer of the copy here."""
    nova: SureAnswer = field(lambda row: ANSWERS[type(row[0].novas)])
    """The answer of Nova's filter."""


class InNova(JsonObject):
    """What ran in the Nova of ``--nova-python``."""

    nova: str = field("version")
    """Its version."""
    compared: Iterable[str] = field(lambda own: sorted(own.novas))
    """Nova's own filters that ran there too, with ``--with-nova``."""
    differences: Iterable[Difference] = field(_differences)
    """The hosts on which they disagree with the filters here, if both are sure."""


class OtherSetting(JsonObject):
    """An option that ``--set`` changes."""

    option: str = field(lambda name: name)
    """``section.option``"""
    value: Union[bool, int, float, str, Iterable[str], None] = _before("value")
    """Its value without ``--set``."""
    source: str = _before("source")
    """Where that value comes from, for a person."""


class ChangedHost(JsonObject):
    """A candidate only with ``--set``, or only without."""

    host: str = field(lambda row: row[0].name)
    """Its name."""
    filters: Iterable[str] = field(lambda row: row[1])
    """The host filters that keep it out otherwise; empty if Placement does."""


class WithoutSet(JsonObject):
    """The answer without ``--set``."""

    settings_from: Optional[str] = field("question.assumptions.place")
    """Where those settings are from, for a person."""
    options: Iterable[OtherSetting] = field(
        lambda before, whole: whole.value.judgement.question.assumptions.set_otherwise
    )
    """The options that ``--set`` changes."""
    summary: str = field(words.verdict)
    """The verdict without ``--set``, in one line."""
    rejection: Optional[RejectedRequest] = field("refusal")
    """Why the request would be rejected without ``--set``; null if it would not."""
    candidates: Iterable[str] = field(lambda before: names(before.candidates))
    """The names of the candidates without ``--set``."""
    uncertain_candidates: Iterable[str] = field(lambda before: names(before.uncertain))
    """Those of them that a host filter may keep out."""
    picks: Iterable[str] = field(lambda before: names(picks(before)))
    """nova-scheduler would pick one of these; empty if that is not known, or if Nova's
    query would differ."""
    let_in: Iterable[ChangedHost] = field(
        lambda before, whole: _changed(before, _differing(whole)[0])
    )
    """The candidates only with ``--set``."""
    kept_out: Iterable[ChangedHost] = field(
        lambda before, whole: _changed(whole.value.judgement, _differing(whole)[1])
    )
    """The candidates only without ``--set``."""


class Advice(JsonObject):
    """Where to look, or a name to correct. It was not tried."""

    text: str = field(lambda advice, whole: fixes.advice(advice, whole.value.judgement))
    """What is wrong, and what to do."""
    commands: Iterable[str] = field(_commands)
    """The commands that correct a name, to paste into a shell; else empty."""


class Fix(JsonObject):
    """A change that would help. It was tried."""

    target: Annotated[str, ("hosts", "request")] = field(
        lambda fix: "hosts" if isinstance(fix, HostFix) else "request"
    )
    """What to change."""
    text: str = field(lambda fix, whole: fixes.word(fix, whole.value.judgement))
    """The change in words."""
    caution: Optional[str] = field(fixes.caution)
    """What to consider first; null if nothing is at risk."""
    deciding_filters: Iterable[str] = field("deciding")
    """The host filters that decide on the gained hosts, since their answers can't be
    known; empty if the gain is certain."""
    gained_hosts: Iterable[str] = field(
        lambda fix, whole: fixes.hosts(fix, whole.value.judgement)
    )
    """The names of hosts that can't take the server now and could then; or might, if
    filters decide."""
    is_cut: bool = field(lambda fix: isinstance(fix, RequestFix) and fix.is_cut)
    """There may be more such hosts: Placement was asked for a limited number."""
    lost_hosts: Iterable[str] = field(
        lambda fix, whole: fixes.lost(fix, whole.value.judgement)
    )
    """The names of the hosts that can take the server now, and could not then."""
    min_servers: Optional[int] = field(lambda fix: fix.room.least if fix.room else None)
    """How many of the requested servers surely find a host then; null for one server.
    If no fix reaches all of them, the fixes are those that come nearest."""
    max_servers: Optional[int] = field(lambda fix: fix.room.most if fix.room else None)
    """How many find a host then, at most; null for one server."""
    commands: Iterable[str] = field(_commands)
    """Commands to run, with the global options that chose this cloud. Empty if no
    command does all of it, if an operator must decide first, or if a name in one can't
    be printed."""


class MakeRoom(JsonObject):
    """Moves of running servers that make room for all requested servers."""

    tried: Iterable[str]
    """The hosts whose servers were tried, nearest first."""
    hosts: Iterable[str]
    """The hosts with room after the moves, by name; empty if no moves make room."""
    moves: Iterable[DrainStep] = field("steps")
    """The moves, in order; empty if none make room."""
    deciding_filters: Iterable[str] = field("deciding")
    """Host filters that decide on these hosts, since their answers can't be known."""


class Disagreement(JsonObject):
    """Hosts on which the matcher here and Placement disagree. Placement is believed.

    All three lists are usually empty. On a busy cloud they may have single hosts: the
    verdict stands while both find a host, or both find none.
    """

    unjudged_roots: Iterable[str] = named("unjudged_roots")
    """The names of root providers that Placement returns, and that neither Nova lists
    as hosts nor others share. They are not judged."""
    wrongly_admitted: Iterable[str] = named("wrongly_admitted")
    """The names of hosts that match by what was read, and that Placement leaves out."""
    wrongly_rejected: Iterable[str] = named("wrongly_rejected")
    """The names of hosts that do not match by what was read, and that Placement
    returns."""


class NotEvaluated(JsonObject):
    """Something that the answer does not cover."""

    kind: str
    """What it is, for a program."""
    text: str
    """What it is, in one line for a person."""


class ExplainDocument(JsonObject):
    """What ``explain`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    verdict: Annotated[
        str,
        ("candidates", "no host", "no room", "unknown", "rejected", "disagreement"),
    ] = of_judgement(verdict)
    """The answer in a word or two."""
    reason: Reason = field("judgement.reason")
    """Why, in one word of :ref:`reasons`."""
    summary: str = of_judgement(words.verdict)
    """The verdict in one line, for a person."""
    why: str = of_judgement(headline.sentence)
    """Why the other hosts are out, in one sentence; empty if none is, or if they were
    not judged."""
    shares: Iterable[Share] = of_judgement(breakdown)
    """Why the other hosts are out. Each host is counted once: with the candidates they
    add up to ``total_hosts``."""
    request: Request = field("judgement.question")
    """The request."""
    release: Release = field("judgement.question.assumptions")
    """The release of Nova whose rules apply."""
    settings_from: Optional[str] = field("judgement.question.assumptions.place")
    """Where the scheduler's settings are from, in words; null if none were named or
    found."""
    assumptions: Iterable[Assumption] = of_judgement(
        lambda judgement: options_in(judgement.question.assumptions.release)
    )
    """The options of nova.conf that the request depends on, and the collation of Nova's
    database. No API shows them."""
    rejection: Optional[RejectedRequest] = field("judgement.refusal")
    """Why the request as a whole is rejected; null if it is not."""
    query: Optional[str] = of_judgement(lambda judgement: _query(judgement.request))
    """The query of ``GET /allocation_candidates``, byte for byte as Nova sends it; null
    if Nova rejects the request before."""
    fallback_query: Optional[str] = of_judgement(
        lambda judgement: _query(judgement.request and judgement.request.fallback)
    )
    """The second query that Nova sends for a server with dedicated CPUs: it requests
    VCPU in place of PCPU. Null for none."""
    since: Optional[SinceDocument] = field("since", can_be_omitted=True)
    """The hosts in an earlier snapshot, and what changed: with ``--since``."""
    total_hosts: int = field("judgement.total_hosts")
    """How many hosts Nova has, without providers that it does not list."""
    candidates: Iterable[str] = named("judgement.candidates")
    """The names of the hosts that Placement returns and that no host filter keeps out,
    sorted."""
    depends: bool = of_judgement(lambda found: found.depends or found.may_be_rejected)
    """Whether options that are not known decide the verdict."""
    dependences: Iterable[Dependence] = field("judgement.dependences")
    """Options and host filters that are not known, and whose other value changes the
    candidates."""
    sure_candidates: Iterable[str] = named("judgement.sure_candidates")
    """The candidates that stay candidates with the other value of each of these options
    alone, and that no host filter may keep out; sorted."""
    uncertain_candidates: Iterable[str] = named("judgement.uncertain")
    """The candidates that a host filter may keep out, since it reads what no API shows,
    sorted; all of them, if one host may end the request."""
    picks: Iterable[str] = of_judgement(lambda judgement: names(picks(judgement)))
    """The candidates that nova-scheduler may try first, sorted; several if their
    weights are equal or ``host_subset_size`` leaves it to chance. It is assumed that
    all filters pass all candidates. Empty if Nova may not see all candidates, or if it
    depends on earlier requests."""
    weight_assumptions: Iterable[WeightAssumption] = of_judgement(weights.assumptions)
    """What weights and ``picks`` assume. Empty if fewer than two candidates are
    weighed."""
    fallback_candidates: Iterable[str] = named("judgement.fallback_candidates")
    """The candidates that only the fallback query returns."""
    cut_off_candidates: Iterable[str] = named("judgement.cut_off_candidates")
    """The candidates that Placement returns only if asked for them alone, since it
    truncates its answers at its own maximum."""
    min_servers: int = field("judgement.room.least")
    """How many such servers surely find a host, in whatever order hosts are tried."""
    max_servers: int = field("judgement.room.most")
    """How many such servers find a host, at most."""
    allocation_request_count: int = of_judgement(
        lambda judgement: sum(judgement.allocation_request_counts)
    )
    """How many allocation requests Placement's answers have. Nova takes at most
    ``scheduler.max_placement_results`` of each answer."""
    clauses: Iterable[Clause] = of_judgement(rows)
    """The conditions of the request, in Nova's order. Host filters come last."""
    filters: Iterable[FilterCounts] = field("judgement.filtering.filters")
    """The host filters that are on, in Nova's order; none if a host is forced."""
    filters_assumed_off: Iterable[FilterAssumedOff] = of_judgement(_assumed_off)
    """Filters of the release that are off, and that might keep candidates out if they
    were on. Empty if it is known which filters are on."""
    in_nova: Optional[InNova] = field("judgement.question.own")
    """What ran in the Nova of ``--nova-python``; null if nothing did."""
    hosts: Iterable[Host] = field(
        lambda explanation: explanation.named or explanation.judgement.hosts
    )
    """The hosts, by name: all of them, or those of ``--host``. Empty if the request is
    rejected, except for an availability zone that has hosts."""
    computes_without_provider: Iterable[str] = of_judgement(
        lambda judgement: [
            compute.node for compute in judgement.computes_without_provider
        ]
    )
    """The names of Nova's compute nodes without a provider in Placement: no server can
    go there."""
    unmanaged_roots: Iterable[str] = named("judgement.unmanaged_roots")
    """The names of Placement's root providers that Nova does not use as compute nodes.
    They are not judged."""
    unlisted_computes: Iterable[str] = named("judgement.unlisted_computes")
    """The names of root providers that a nova-compute created, but whose compute nodes
    Nova does not list: its list may be incomplete. They are not judged."""
    conflicts: Iterable[Iterable[str]] = of_judgement(conflicts)
    """The minimal sets of conditions, by id, that no host meets together; empty if
    there are candidates."""
    without_set: Optional[WithoutSet]
    """The answer without ``--set``; null if it changes no known setting, or if Nova
    rejects the request before any host is considered."""
    advice: Iterable[Advice]
    """Where to look if no change can be tried: what no host reports, a trait that does
    not exist and its near name, a full server group."""
    fixes: Iterable[Fix]
    """Fixes that would work, safest first: sync an aggregate, change hosts, use another
    zone, image or size, change an image, enable a host. Fixes to decide on come last.
    Empty with ``--no-fixes``, and if there is room unless ``--fixes`` is given."""
    make_room: Optional[MakeRoom]
    """The moves that ``--make-room`` found; null without it, and if there is room."""
    disagreement: Disagreement = field("judgement")
    """The hosts on which the matcher here and Placement disagree."""
    not_evaluated: Iterable[NotEvaluated] = of_judgement(words.not_evaluated)
    """What the answer does not cover."""


class FlavorHosts(JsonObject):
    """A flavor with the image."""

    flavor: Flavor = field("question.flavor")
    """The flavor."""
    candidates: Iterable[str] = named("candidates")
    """The hosts that could take a server now, by name."""
    uncertain: Iterable[str] = named("uncertain")
    """Those of them that a host filter may reject, since it reads what no API shows."""
    total_hosts: int
    """How many hosts were judged; 0 if the request is rejected."""
    rejection: Optional[str] = field(
        lambda judgement: str(judgement.refusal) if judgement.refusal else None
    )
    """Why Nova or Placement rejects the flavor with the image; null if neither does."""
    reason: Reason
    """Why, in one word of :ref:`reasons`."""
    reasons: Iterable[str] = field(by_flavor.reasons)
    """Why the other hosts are out, each counted once."""


class FlavorsDocument(JsonObject):
    """The flavors that can boot an image."""

    schema: Literal[1]
    """The version of the document."""
    image: Image = field(
        lambda judgements: judgements[0].question.image or {} if judgements else {}
    )
    """The image."""
    flavors: Iterable[FlavorHosts] = field(lambda judgements: judgements)
    """All flavors that are enabled and that the project may use, by name."""


def document(
    explanation: Explanation, options: Sequence[Option] = ()
) -> dict[str, Any]:
    """All of an explanation as plain lists, mappings, numbers and text."""
    return serialized(ExplainDocument, explanation, options)


def flavors(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """All flavors with their hosts, as plain lists, mappings, numbers and text."""
    return serialized(FlavorsDocument, judgements)
