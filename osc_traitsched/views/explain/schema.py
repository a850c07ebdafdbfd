"""The document of ``explain``: the hosts that could take a server, and the others."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal, Optional, Union

from osc_traitsched.core.explain.reasons import RejectionCause
from osc_traitsched.documents import OMIT_NONE

SureAnswer = Annotated[str, ("yes", "no", "exception")]


@dataclass
class Share:
    """Hosts that are out for one cause."""

    cause: RejectionCause
    """``clause``: they fail a condition. ``together``: they meet each condition, but
    not all of them together. ``placement``: they match by what was read, and Placement
    leaves them out. ``no provider``: Placement has no provider for them. ``not
    listed``: Nova does not list them."""
    clause: Optional[str]
    """The id of the condition that all of them fail; null for any other cause."""
    hosts: Iterable[str]
    """Their names."""


@dataclass
class Flavor:
    """A flavor."""

    id: Optional[str]
    """The flavor's ID."""
    name: str
    """The flavor's name."""


@dataclass
class Image:
    """An image."""

    id: Optional[str]
    """The image's ID."""
    name: Optional[str]
    """The image's name; null if it has none."""


@dataclass
class Hint:
    """A scheduler hint."""

    hint: str
    """Its name."""
    values: Iterable[str]
    """Its values, in the order given."""


@dataclass
class Named:
    """A port, a network or a volume."""

    id: str
    """Its ID."""
    name: str
    """Its name; empty if it has none."""


@dataclass
class Request:
    """The server that is requested."""

    flavor: Flavor
    """The flavor."""
    image: Optional[Image]
    """The image; null for none."""
    availability_zone: Optional[str]
    """The requested availability zone; null for none."""
    host: Optional[str]
    """The requested service host; null for none."""
    hypervisor_hostname: Optional[str]
    """The requested compute node; null for none."""
    project_id: Optional[str]
    """The ID of the project that the server is for."""
    boot_from_volume: bool
    """The root disk is a volume."""
    count: int
    """How many such servers."""
    hints: Iterable[Hint]
    """The scheduler hints, by name."""
    server_group: Optional[str]
    """The name of the server group; null for none."""
    ports: Iterable[Named]
    """The ports of the request that exist already."""
    networks: Iterable[Named]
    """The networks on which Nova would create ports."""
    volumes: Iterable[Named]
    """The volumes of the request."""


@dataclass
class Impact:
    """What would change with another value of an option, or in another release."""

    gained: int
    """How many more hosts could take the server."""
    lost: int
    """How many hosts could not take it any more."""
    refused: bool
    """Nova would refuse the request."""


@dataclass
class OtherRelease:
    """Another release that the cloud may run: it has the same compute API."""

    major: int
    """Nova's major version."""
    name: str
    """OpenStack's name for the release."""
    impact: Optional[Impact]
    """What that release would change; null if nothing. If Nova refuses the request
    before any host is judged, it is not null for a release that would not refuse it."""


@dataclass
class Release:
    """The release of Nova whose rules apply."""

    major: int
    """Nova's major version."""
    name: str
    """OpenStack's name for the release."""
    source: str
    """How the release is known."""
    others: Iterable[OtherRelease]
    """The other releases that the cloud may run; empty if the release was named."""


@dataclass
class Assumption:
    """An option of nova.conf that the release has, or the database's collation."""

    option: str
    """``section.option``; ``database_collation`` has no section."""
    value: Union[bool, int, float, str, Iterable[str], None]
    """Its value; a list if the option has several."""
    source: str
    """Where the value comes from: a file and line, a parameter, ``--set``, or the
    default of a release or a distribution."""
    given: bool
    """It was given; false for a default that is only assumed."""
    impact: Optional[Impact]
    """What switching the option would change; null if nothing, if there is nothing to
    switch, or if filters or weighers read it."""


@dataclass
class Dependence:
    """An unknown option or host filter whose other value changes the candidates."""

    option: str
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
    decides: bool
    """Whether the other value turns the verdict."""


@dataclass
class RefusedRequest:
    """Why the request as a whole is refused."""

    by: Annotated[str, ("nova", "placement")]
    """Who refuses it."""
    exception: Optional[str]
    """Nova's exception; null for Placement, and for a flavor or an image that the
    project may not use."""
    keys: Iterable[str]
    """The keys of the flavor and the image that it concerns, or the availability
    zone."""
    stage: Optional[Annotated[str, ("api", "scheduler", "no valid host")]]
    """``api``: Nova refuses it at once. ``scheduler``: the server goes to ERROR with
    that exception. ``no valid host``: it goes to ERROR as if no host matched. Null for
    Placement."""
    text: str
    """The refusal in one line, for a person."""


@dataclass
class WeightAssumption:
    """An assumption behind weights and ``picks``, since no API shows it."""

    weigher: Optional[str]
    """The weigher that reads it; null for all of them."""
    missing: Optional[str]
    """What is not shown, under Nova's name; null for an unknown weigher."""
    hosts: Iterable[str]
    """The hosts that it concerns, sorted; empty for all candidates."""
    text: str
    """What is assumed, in words."""


@dataclass
class Origin:
    """Where a condition of the request comes from."""

    kind: Annotated[
        str,
        (
            "flavor",
            "image",
            "prefilter",
            "aggregate",
            "option",
            "hint",
            "group",
            "port",
            "network",
            "volume",
            "move",
        ),
    ]
    """What it comes from."""
    key: str
    """The key of the flavor, the image or the aggregate's metadata; of a prefilter,
    Nova's name for it."""
    aggregate: Optional[str]
    """The aggregate's name; null for other origins."""
    name: Optional[str]
    """The name of the aggregate, port, network, volume or server group; else null."""
    option: Optional[str]
    """The option of nova.conf that enables the prefilter, as ``section.option``; or
    null."""


@dataclass
class Clause:
    """A condition of the request. Which fields it has depends on its ``kind``."""

    id: str
    """The condition's name in this document."""
    kind: Annotated[
        str, ("resource", "trait", "root trait", "member of", "host filter", "move")
    ]
    """``root trait``: a trait of the root provider. ``member of``: the aggregates of a
    host. ``move``: what a move requires of hosts, only in ``server destinations``. A
    host filter that passes all hosts is left out."""
    group: Optional[str] = field(metadata=OMIT_NONE)
    """Of a resource and a trait: the suffix of its group; empty for the unsuffixed
    one."""
    resource_class: Optional[str] = field(metadata=OMIT_NONE)
    """Of a resource: the resource class."""
    amount: Optional[int] = field(metadata=OMIT_NONE)
    """Of a resource: how much is required, in the unit of the class."""
    aggregates: Optional[Iterable[str]] = field(metadata=OMIT_NONE)
    """Of a member of: the UUIDs of aggregates. A host must be in one of them, or in
    none."""
    trait: Optional[str] = field(metadata=OMIT_NONE)
    """Of a trait and a root trait: the trait."""
    forbidden: Optional[bool] = field(metadata=OMIT_NONE)
    """Of a trait, a root trait and a member of: a host must not have the trait, or must
    be in none of the aggregates."""
    filter: Optional[str] = field(metadata=OMIT_NONE)
    """Of a host filter: its name."""
    rule: Optional[Annotated[str, ("move:source", "move:hypervisor")]] = field(
        metadata=OMIT_NONE
    )
    """Of a move: ``move:source`` is the host that the server is on, which most moves
    leave out. ``move:hypervisor`` is the type and version of the hypervisor, which
    nova-conductor compares for a live migration."""
    text: str
    """The condition in words."""
    origins: Iterable[Origin]
    """Where it comes from, one or more."""
    alone: Optional[int]
    """How many hosts meet the condition by itself; null if no host was judged."""
    only: Optional[int]
    """How many hosts fail nothing but this condition; null if no host was judged."""
    left: Optional[int]
    """How many hosts meet it and all conditions above it; null if no host was
    judged."""


@dataclass
class FilterCounts:
    """A host filter of nova-scheduler, run on all compute nodes."""

    filter: str
    """Its name."""
    own: bool
    """It is not one of Nova's. Without ``--nova-python`` all its answers are
    unknown."""
    yes: int
    """How many hosts it passes."""
    no: int
    """How many hosts it keeps out."""
    unknown: int
    """For how many hosts it reads what no API shows."""
    exception: int
    """On how many hosts it fails, which ends the whole request if it comes to them."""


@dataclass
class FilterAssumedOff:
    """A host filter that may be on, and that could keep candidates out."""

    filter: str
    """Its name."""
    hosts: Iterable[str]
    """The candidates that it could keep out, by name."""


@dataclass
class Difference:
    """A host on which a filter of Nova and its copy here disagree. Nova is believed."""

    filter: str
    """The filter's name."""
    host: str
    """The host's name."""
    here: SureAnswer
    """The answer of the copy here."""
    nova: SureAnswer
    """The answer of Nova's filter."""


@dataclass
class InNova:
    """What ran in the Nova of ``--nova-python``."""

    nova: str
    """Its version."""
    compared: Iterable[str]
    """Nova's own filters that ran there too, with ``--with-nova``."""
    differences: Iterable[Difference]
    """The hosts on which they disagree with the filters here, if both are sure."""


@dataclass
class FilterAnswer:
    """A host filter that does not surely pass a host."""

    filter: str
    """Its name."""
    answer: Annotated[str, ("no", "unknown", "exception")]
    """``no``: it keeps the host out. ``unknown``: it reads what no API shows.
    ``exception``: it fails."""
    text: str
    """Why, in words."""


@dataclass
class WeightTerm:
    """What a weigher adds to a host's weight: multiplier times normalized."""

    weigher: str
    """Its name."""
    raw: float
    """The weight that it gives the host."""
    normalized: float
    """The same among all candidates, from 0 to 1."""
    multiplier: float
    """The multiplier of the option, or of the host's aggregates."""


@dataclass
class Weight:
    """What nova-scheduler's weighers give a candidate."""

    total: float
    """The sum of the terms."""
    place: int
    """Its place in the order of hosts, from 1; hosts of equal weight share a place."""
    terms: Iterable[WeightTerm]
    """What each weigher adds; empty for a single candidate."""


@dataclass
class Inventory:
    """What a provider of a host has of a requested resource class."""

    provider_name: str
    """The name of the provider."""
    resource_class: str
    """The resource class."""
    asked: int
    """How much is requested."""
    free: int
    """How much is left: capacity - used, and not below zero."""
    capacity: int
    """How much can be allocated: (total - reserved) * allocation_ratio."""
    used: int
    """How much is allocated."""
    total: Optional[int]
    """The inventory's total; this and all below are null if it was not read."""
    reserved: Optional[int]
    """How much of the total is reserved."""
    allocation_ratio: Optional[float]
    """The overcommit ratio."""
    min_unit: Optional[int]
    """The least that one request can ask for."""
    max_unit: Optional[int]
    """The most that one request can ask for."""
    step_size: Optional[int]
    """An amount must be a multiple of it."""


@dataclass
class Service:
    """The nova-compute of a host."""

    host: str
    """The name of the service host."""
    up: bool
    """It reports to Nova."""
    enabled: bool
    """It is enabled."""
    disabled_reason: Optional[str]
    """Why it is disabled, in the words of whoever did it; null for no reason."""


@dataclass
class OutOfSyncAggregate:
    """An aggregate that only Nova, or only Placement, has the host in."""

    aggregate: str
    """Its name."""
    in_nova: bool
    """Nova has the host in it."""
    in_placement: bool
    """Placement has the host in it."""


@dataclass
class Host:
    """A host, and why it can take the server or not."""

    host: str
    """The name of its root provider."""
    provider_uuid: str
    """The UUID of its root provider."""
    candidate: bool
    """Placement returns it, and no host filter keeps it out."""
    given_by_placement: bool
    """Placement returns it."""
    failing: Iterable[str]
    """The ids of the conditions that it fails, each by itself."""
    correction_sets: Iterable[Iterable[str]]
    """The minimal sets of conditions, by id, without which it could take the server.
    One set is ``failing``, with more conditions if the rest can't be met together."""
    filters: Iterable[FilterAnswer]
    """The host filters that do not surely pass it."""
    weight: Optional[Weight]
    """Its weight; null for a host that can't take the server."""
    inventories: Iterable[Inventory]
    """What its providers have of the requested resource classes. It is read for the
    hosts of ``--host``, for a few that represent others, and for all that lack room if
    they are at most 25. With ``--long``: for all that lack room. Other hosts may have
    none."""
    service: Optional[Service]
    """Its nova-compute; null if Nova has none for this provider."""
    out_of_sync_aggregates: Iterable[OutOfSyncAggregate]
    """The request's aggregates that are not in sync for this host."""


@dataclass
class OtherSetting:
    """An option that ``--set`` changes."""

    option: str
    """``section.option``"""
    value: Union[bool, int, float, str, Iterable[str], None]
    """Its value without ``--set``."""
    source: str
    """Where that value comes from, for a person."""


@dataclass
class ChangedHost:
    """A candidate only with ``--set``, or only without."""

    host: str
    """Its name."""
    filters: Iterable[str]
    """The host filters that keep it out otherwise; empty if Placement does."""


@dataclass
class WithoutSet:
    """The answer without ``--set``."""

    settings_from: Optional[str]
    """Where those settings are from, for a person."""
    options: Iterable[OtherSetting]
    """The options that ``--set`` changes."""
    summary: str
    """The verdict without ``--set``, in one line."""
    refusal: Optional[RefusedRequest]
    """Why the request would be refused without ``--set``; null if it would not."""
    candidates: Iterable[str]
    """The names of the candidates without ``--set``."""
    uncertain_candidates: Iterable[str]
    """Those of them that a host filter may keep out."""
    picks: Iterable[str]
    """nova-scheduler would pick one of these; empty if that is not known, or if Nova's
    query would differ."""
    let_in: Iterable[ChangedHost]
    """The candidates only with ``--set``."""
    kept_out: Iterable[ChangedHost]
    """The candidates only without ``--set``."""


@dataclass
class Advice:
    """Where to look, or a name to correct. It was not tried."""

    text: str
    """What is wrong, and what to do."""
    commands: Iterable[str]
    """The commands that correct a name, to paste into a shell; else empty."""


@dataclass
class Fix:
    """A change that would help. It was tried."""

    target: Annotated[str, ("hosts", "request")]
    """What to change."""
    text: str
    """The change in words."""
    caution: Optional[str]
    """What to consider first; null if nothing is at risk."""
    deciding_filters: Iterable[str]
    """The host filters that decide on the gained hosts, since their answers can't be
    known; empty if the gain is certain."""
    gained_hosts: Iterable[str]
    """The names of hosts that can't take the server now and could then; or might, if
    filters decide."""
    is_cut: bool
    """There may be more such hosts: Placement was asked for a limited number."""
    lost_hosts: Iterable[str]
    """The names of the hosts that can take the server now, and could not then."""
    min_servers: Optional[int]
    """How many of the requested servers surely find a host then; null for one server.
    If no fix reaches all of them, the fixes are those that come nearest."""
    max_servers: Optional[int]
    """How many find a host then, at most; null for one server."""
    commands: Iterable[str]
    """Commands to run, with the global options that chose this cloud; empty if no
    command does all of it, if somebody has to decide first, or if a name in one can't
    be printed."""


@dataclass
class Disagreement:
    """Hosts on which the matcher here and Placement disagree. Placement is believed.

    All three lists are usually empty. On a busy cloud they may have single hosts: the
    verdict stands while both find a host, or both find none.
    """

    unjudged_roots: Iterable[str]
    """The names of root providers that Placement returns, and that neither Nova lists
    as hosts nor others share. They are not judged."""
    wrongly_admitted: Iterable[str]
    """The names of hosts that match by what was read, and that Placement leaves out."""
    wrongly_rejected: Iterable[str]
    """The names of hosts that do not match by what was read, and that Placement
    returns."""


@dataclass
class NotEvaluated:
    """Something that the answer does not cover."""

    kind: str
    """What it is, for a program."""
    text: str
    """What it is, in one line for a person."""


@dataclass
class ExplainDocument:
    """What ``explain`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    verdict: Annotated[
        str,
        ("candidates", "no host", "no room", "unknown", "refused", "disagreement"),
    ]
    """The answer in a word or two."""
    summary: str
    """The verdict in one line, for a person."""
    why: str
    """Why the other hosts are out, in one sentence; empty if none is, or if they were
    not judged."""
    shares: Iterable[Share]
    """Why the other hosts are out. Each host is counted once: with the candidates they
    add up to ``total_hosts``."""
    request: Request
    """The request."""
    release: Release
    """The release of Nova whose rules apply."""
    settings_from: Optional[str]
    """Where the scheduler's settings are from, in words; null if none were named or
    found."""
    assumptions: Iterable[Assumption]
    """The options of nova.conf that the request depends on, and the collation of Nova's
    database. No API shows them."""
    refusal: Optional[RefusedRequest]
    """Why the request as a whole is refused; null if it is not."""
    query: Optional[str]
    """The query of ``GET /allocation_candidates``, byte for byte as Nova sends it; null
    if Nova refuses the request before."""
    fallback_query: Optional[str]
    """The second query that Nova sends for a server with dedicated CPUs: it requests
    VCPU in place of PCPU. Null for none."""
    total_hosts: int
    """How many hosts Nova or Placement have."""
    candidates: Iterable[str]
    """The names of the hosts that Placement returns and that no host filter keeps out,
    sorted."""
    depends: bool
    """Whether options that nobody gave decide the verdict."""
    dependences: Iterable[Dependence]
    """Options and host filters that nobody gave, and whose other value changes the
    candidates."""
    sure_candidates: Iterable[str]
    """The candidates that stay candidates with the other value of each of these options
    alone, and that no host filter may keep out; sorted."""
    uncertain_candidates: Iterable[str]
    """The candidates that a host filter may keep out, since it reads what no API shows,
    sorted; all of them, if one host may end the request."""
    picks: Iterable[str]
    """The candidates that nova-scheduler may try first, sorted; several if their
    weights are equal or ``host_subset_size`` leaves it to chance. It is assumed that
    all filters pass all candidates. Empty if Nova may not see all candidates, or if it
    depends on earlier requests."""
    weight_assumptions: Iterable[WeightAssumption]
    """What weights and ``picks`` assume. Empty if fewer than two candidates are
    weighed."""
    fallback_candidates: Iterable[str]
    """The candidates that only the fallback query returns."""
    cut_off_candidates: Iterable[str]
    """The candidates that Placement returns only if asked for them alone, since it
    truncates its answers at its own maximum."""
    min_servers: int
    """How many such servers surely find a host, in whatever order hosts are tried."""
    max_servers: int
    """How many such servers find a host, at most."""
    allocation_request_count: int
    """How many allocation requests Placement's answers have. Nova takes at most
    ``scheduler.max_placement_results`` of each answer."""
    clauses: Iterable[Clause]
    """The conditions of the request, in Nova's order. Host filters come last."""
    filters: Iterable[FilterCounts]
    """The host filters that are on, in Nova's order; none if a host is forced."""
    filters_assumed_off: Iterable[FilterAssumedOff]
    """Filters of the release that are off, and that might keep candidates out if they
    were on. Empty if it is known which filters are on."""
    in_nova: Optional[InNova]
    """What ran in the Nova of ``--nova-python``; null if nothing did."""
    hosts: Iterable[Host]
    """The hosts, by name: all of them, or those of ``--host``. Empty if the request is
    refused, except for an availability zone that has hosts."""
    computes_without_provider: Iterable[str]
    """The names of Nova's compute nodes without a provider in Placement: no server can
    go there."""
    unmanaged_roots: Iterable[str]
    """The names of Placement's root providers that Nova does not use as compute nodes.
    They are not judged."""
    unlisted_computes: Iterable[str]
    """The names of root providers that a nova-compute created, but whose compute nodes
    Nova does not list: its list may be incomplete. They are not judged."""
    conflicts: Iterable[Iterable[str]]
    """The minimal sets of conditions, by id, that no host meets together; empty if
    there are candidates."""
    without_set: Optional[WithoutSet]
    """The answer without ``--set``; null if it changes no known setting, or if Nova
    refuses the request before any host is considered."""
    advice: Iterable[Advice]
    """Where to look if no change can be tried: what no host reports, a trait that does
    not exist and its near name, a full server group."""
    fixes: Iterable[Fix]
    """What would help, safest first: sync an aggregate, change hosts, use another zone,
    image or size, change an image, enable a host. What somebody has to decide is last.
    Empty with ``--no-fixes``, and if there is room unless ``--fixes`` is given."""
    disagreement: Disagreement
    """The hosts on which the matcher here and Placement disagree."""
    not_evaluated: Iterable[NotEvaluated]
    """What the answer does not cover."""


@dataclass
class FlavorHosts:
    """A flavor with the image."""

    flavor: Flavor
    """The flavor."""
    candidates: Iterable[str]
    """The hosts that could take a server now, by name."""
    uncertain: Iterable[str]
    """Those of them that a host filter may reject, since it reads what no API shows."""
    total_hosts: int
    """How many hosts were judged; 0 if the request is refused."""
    refusal: Optional[str]
    """Why Nova or Placement refuses the flavor with the image; null if neither does."""
    reasons: Iterable[str]
    """Why the other hosts are out, each counted once."""


@dataclass
class FlavorsDocument:
    """The flavors that can boot an image."""

    schema: Literal[1]
    """The version of the document."""
    image: Image
    """The image."""
    flavors: Iterable[FlavorHosts]
    """All flavors that are enabled and that the project may use, by name."""
