"""The data that check reads, and the demands of flavors and images."""

from __future__ import annotations

import dataclasses
import enum
import functools
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Union

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Aggregate, Nova, Snapshot
from osc_traitsched.core.inventory.trait import (
    Collation,
    isolating_keys,
    key_of,
    trait_in,
)
from osc_traitsched.core.judge.hosts import matching_hosts, short_of_dedicated
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.image import images_of_others as of_others
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import NotEvaluated
from osc_traitsched.core.placement import facts as placement_facts
from osc_traitsched.core.placement.facts import Facts, Stock
from osc_traitsched.paste import Command, Option, line

# A rule's finding about one object of the cloud.


class Severity(enum.Enum):
    """How bad a finding is."""

    #: Some request fails, or lands on a wrong host.
    ERROR = "error"
    #: It works by chance, or will fail after another change.
    WARNING = "warning"
    #: Worth knowing, and perhaps intended.
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class SubjectKind(enum.Enum):
    """The kind of object that a finding is about."""

    FLAVOR = "flavor"
    IMAGE = "image"
    FORMAT = "format"
    AGGREGATE = "aggregate"
    HOST = "host"
    PROVIDER = "provider"
    TRAIT = "trait"
    RESOURCE_CLASS = "resource class"
    ZONE = "zone"
    OPTION = "option"
    SERVERS = "servers"


@dataclasses.dataclass(frozen=True)
class Words:
    """A finding's message.

    :ivar problem: one line
    :ivar fix: a command to paste if one exists, else an instruction; may be empty
    :ivar when: a condition for the command, or its purpose
    """

    problem: str
    fix: str | Command = ""
    when: str = ""

    def fix_line(self, options: Sequence[Option]) -> str:
        """The fix as one line, with these global options in its command."""
        return ": ".join(filter(None, (self.when, self._done(options))))

    def fix_lines(self, options: Sequence[Option]) -> Iterator[str]:
        """The fix as lines; a command has an indented line of its own."""
        done = self._done(options)
        if isinstance(self.fix, str) or not done:
            yield from filter(None, (self.fix_line(options),))
            return
        if self.when:
            yield f"{self.when}:"
        yield f"  {done}"

    def _done(self, options: Sequence[Option]) -> str:
        return self.fix if isinstance(self.fix, str) else line(self.fix, options)


#: Fields with names of objects, by a noun for each.
_AFFECTED = {
    "flavors": "flavor",
    "images": "image",
    "aggregates": "aggregate",
    "hosts": "host",
    "nodes": "node",
    "projects": "project",
    "servers": "server",
    "groups": "group",
    "zones": "zone",
}


class Finding:
    """A fault, as values and in words; rules yield :class:`Fault`.

    Fields named ``flavors``, ``images``, ``aggregates`` or ``hosts`` are tuples of
    names.

    :ivar rule: ID of the rule; it never changes
    """

    rule: str
    severity: Severity
    kind: SubjectKind
    name: str

    def words(self) -> Words:
        """The problem and its fix."""
        raise NotImplementedError

    @property
    def due_to_images(self) -> tuple[str, ...]:
        """Images that cause the finding; empty if flavors or aggregates do, too."""
        if self.kind is SubjectKind.IMAGE:
            return (self.name,)
        is_format = self.kind is SubjectKind.FORMAT
        named = isinstance(self, _NamesFlavors) and self.flavors and not is_format
        if named or (isinstance(self, _NamesAggregates) and self.aggregates):
            return ()
        return self.images if isinstance(self, _NamesImages) else ()

    @property
    def affected(self) -> tuple[str, ...]:
        """All that it is about beside its object, such as ``flavor gold``."""
        return tuple(
            f"{noun} {name}"
            for field, noun in _AFFECTED.items()
            if isinstance(names := getattr(self, field, ()), tuple)
            for name in names
        )

    def is_about(self, kind: SubjectKind, names: Iterable[str]) -> bool:
        """Whether the finding names one of these flavors or images."""
        about = {self.name} if self.kind is kind else set()
        if kind is SubjectKind.FLAVOR and isinstance(self, _NamesFlavors):
            about.update(self.flavors)
        if kind is SubjectKind.IMAGE and isinstance(self, _NamesImages):
            about.update(self.images)
        return not about.isdisjoint(names)


@dataclasses.dataclass(frozen=True)
class Fault(Finding):
    """A finding in words, as rules yield it; the rule adds its ID and its kind.

    :ivar problem: as ``fix`` and ``when``, see :class:`Words`
    :ivar flavors: all that the message is about, even if it names only some; the same
        is true of images, aggregates, hosts, projects, servers, server groups, nodes,
        zones
    :ivar subject: the kind of its object, if it is not that of the rule
    """

    severity: Severity
    name: str
    problem: str
    fix: str | Command = ""
    when: str = ""
    flavors: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    subject: SubjectKind | None = None
    rule: str = ""
    kind: SubjectKind = SubjectKind.OPTION

    def words(self) -> Words:
        """The problem and its fix."""
        return Words(self.problem, self.fix, self.when)


#: Findings of one severity: ``ERROR(name, problem, fix)``.
ERROR, WARNING, NOTE = (functools.partial(Fault, severity) for severity in Severity)


@typing.runtime_checkable
class _NamesFlavors(typing.Protocol):
    @property
    def flavors(self) -> tuple[str, ...]: ...


@typing.runtime_checkable
class _NamesImages(typing.Protocol):
    @property
    def images(self) -> tuple[str, ...]: ...


@typing.runtime_checkable
class _NamesAggregates(typing.Protocol):
    @property
    def aggregates(self) -> tuple[str, ...]: ...


# The data that check reads, and the demands of flavors and images.


# The whole cloud as read for checks.


class NotRead(Exception):
    """A rule needs data that this user may not read; its text names them."""


class PlacedServer(NamedTuple):
    """A server on a service host; its project is an ID."""

    name: str
    project: str
    host: str


@dataclasses.dataclass(frozen=True)
class ServerCounts:
    """Numbers of servers by their placement.

    :ivar looked_at: servers on a host
    :ivar hosts: service hosts of the misplaced servers
    :ivar silent: hosts whose cell does not answer; their servers were not read
    :ivar residents: all servers on a host
    """

    looked_at: int
    misplaced: int
    unknown: int
    hosts: tuple[str, ...]
    silent: tuple[str, ...] = ()
    residents: tuple[PlacedServer, ...] = ()


@dataclasses.dataclass(frozen=True)
class Survey:
    """One cloud as it was read, with its scheduler's assumed settings.

    :ivar snapshot: all providers, with Nova's compute nodes, zones and aggregates
    :ivar flavors: the compute API's bodies with extra specs, private ones too
    :ivar images: the image API's bodies of active images, hidden ones too
    :ivar idle_images: bodies of images that are not active
    :ivar traits: of every provider, nested ones too, by UUID
    :ivar members: UUIDs of the providers that Placement has in an aggregate, by its
        UUID
    :ivar shared: by sharing provider UUID, the UUIDs of providers in a common aggregate
    :ivar stock: capacity and use by provider and class, from answers for many hosts at
        once; full hosts are missing there
    :ivar has_private_flavors: the flavors of all projects were read
    :ivar groups: server groups of all projects; read only if the scheduler does not
        enforce a policy
    :ivar own_project: ID of the user's project; None for none
    :ivar has_volumes: servers can boot from volumes: the cloud has Cinder
    :ivar missing_profiles: device profiles of flavors that Cyborg lacks, with why
    :ivar servers: None if servers were not read: one request per thousand
    :ivar projects: names of all projects by ID; None if they can't be read
    """

    snapshot: Snapshot
    assumptions: SchedulerSettings
    flavors: tuple[Body, ...] = ()
    images: tuple[Body, ...] = ()
    idle_images: tuple[Body, ...] = ()
    traits: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    known_traits: frozenset[str] = frozenset()
    known_classes: frozenset[str] = frozenset()
    members: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    shared: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    stock: Mapping[str, Mapping[str, Stock]] = dataclasses.field(default_factory=dict)
    own_project: str | None = None
    projects: Mapping[str, str] | None = None
    has_private_flavors: bool = True
    groups: tuple[ServerGroup, ...] = ()
    has_volumes: bool = True
    missing_profiles: Mapping[str, str] = dataclasses.field(default_factory=dict)
    servers: ServerCounts | None = None

    @property
    def nova(self) -> Nova:
        """Nova's view of hosts; empty if it was not read."""
        return self.snapshot.nova

    @property
    def project_names(self) -> Mapping[str, str]:
        """Names of all projects by ID; raises NotRead if Keystone hides them."""
        if self.projects is None:
            raise NotRead("the list of projects")
        return self.projects

    def need_all(self, what: str) -> None:
        """Stop a rule that would be wrong without the data of other projects.

        Nova decides by one policy, ``context_is_admin``, who sees the private flavors
        and server groups of other projects. Glance has the same default for images.

        :raises NotRead: if Nova hides the data from this user
        """
        if not self.has_private_flavors:
            raise NotRead(f"the {what} of all projects")

    @functools.cached_property
    def image_owners(self) -> Mapping[str, str]:
        """Owners of other projects' images, by image ID."""
        return of_others(self.images, self.own_project)


# The demand of a flavor or image, and its certain parts.


#: Properties that demand nothing, but change the translation of a flavor's keys.
_CHOOSING = ("hw_cpu_realtime_mask", "hw_mem_encryption_model", "hw_tpm_model")


# Hashed by identity: a body is a mapping.
@dataclasses.dataclass(frozen=True, eq=False)
class StandaloneRequest:
    """The demand of one flavor or image alone.

    :ivar clauses: of a flavor's first request; or from the image, its disk format's
        even if that prefilter is off
    :ivar not_evaluated: input that Nova reads and drops
    :ivar requests: a flavor's, for each way to boot, with a local disk first
    :ivar devices: an image's demands if image_metadata_prefilter is on
    :ivar refusal: Nova's refusal of it alone; then without requests
    :ivar alias: a flavor's name if it is no flavor's ID: a client looks for IDs first
    """

    kind: SubjectKind
    name: str
    body: Body
    clauses: tuple[Clause, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    requests: tuple[Request, ...] = ()
    devices: tuple[RootTrait, ...] = ()
    refusal: Refusal | None = None
    alias: str = ""

    @property
    def id(self) -> str:
        """What a command takes for it: a flavor's name, or an ID."""
        return self.alias or str(self.body["id"])

    @property
    def specs(self) -> Mapping[str, str]:
        """A flavor's extra specs."""
        return self.body.get("extra_specs") or {}

    @functools.cached_property
    def traits(self) -> tuple[Trait | RootTrait, ...]:
        """The traits that it requires or forbids, without the disk format's.

        For an image only traits that no flavor changes.
        """
        return tuple(
            clause
            for clause in self.clauses
            if isinstance(clause, (Trait, RootTrait))
            and not is_of_format(clause)
            and (self.kind is SubjectKind.FLAVOR or is_certain(clause))
        )

    @functools.cached_property
    def needs(self) -> tuple[Trait | RootTrait, ...]:
        """The traits that it requires, without the disk format's."""
        return tuple(clause for clause in self.traits if not clause.forbidden)

    @functools.cached_property
    def format(self) -> RootTrait | Trait | None:
        """The clause of the disk format's prefilter, if any."""
        for clause in self.clauses:
            if isinstance(clause, (Trait, RootTrait)) and is_of_format(clause):
                return clause
        return None

    @functools.cached_property
    def opens(self) -> frozenset[str]:
        """The traits that open isolated aggregates to it, rejected or not."""
        traits = (c for c in self.clauses if isinstance(c, Trait))
        asked = (c.name for c in traits if not c.forbidden)
        spelled = (name for name, value in self.named() if value == "required")
        return frozenset((*asked, *spelled))

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of each key for a trait."""
        keys = (
            self.body
            if self.kind is SubjectKind.IMAGE
            else self.body.get("extra_specs") or {}
        )
        for key, value in keys.items():
            prefix, _, name = key.partition(":")
            if name and prefix.startswith("trait"):
                yield name, str(value)

    @property
    def shifts(self) -> bool:
        """Whether it is an image that may change a flavor's demand, or one unknown."""
        changing = (not is_certain(clause) for clause in self.clauses)
        choosing = any(name in self.body for name in _CHOOSING)
        doubtful = self.refusal is not None or choosing or any(changing)
        return self.kind is SubjectKind.IMAGE and doubtful


def is_of_format(clause: Trait | RootTrait) -> bool:
    """Whether a clause comes from an image's disk format."""
    return prefilter.name_of(clause) == prefilter.IMAGE_TYPES


def is_certain(clause: Clause) -> bool:
    """Whether a key names a trait, which no flavor or image then changes."""
    if isinstance(clause, (Resource, MemberOf)):
        return False
    if prefilter.name_of(clause) in (prefilter.IMAGE_TYPES, prefilter.IMAGES):
        return True
    return any(origin.key.startswith("trait") for origin in clause.origins)


def is_certain_of_flavor(clause: Clause) -> bool:
    """Whether no image changes this demand of a flavor: only CPUs can change."""
    if isinstance(clause, Resource):
        return clause.resource_class not in ("VCPU", "PCPU")
    return is_certain(clause)


def is_lasting(clause: Clause) -> bool:
    """Whether a clause is about hosts themselves, not about their services."""
    row = prefilter.row_of(clause)
    return row is None or not row.is_passing


# Hosts by trait, size and isolated aggregate.


# Hosts that could ever take a request, independent of use.


Condition = Union[Resource, Trait, RootTrait]

_NO_HOSTS: frozenset[str] = frozenset()


class SurveyedHosts:
    """All hosts of a survey, as if they were empty and in no aggregate.

    :ivar facts: of all hosts, without offers
    """

    def __init__(self, survey: Survey) -> None:
        self.facts = Facts(
            snapshot=survey.snapshot,
            traits=survey.traits,
            offers={},
            members={},
            shared=survey.shared,
            stock=survey.stock,
            candidates=_NO_HOSTS,
            limits=placement_facts.limits(survey.stock),
        )
        self._if_empty = dataclasses.replace(self.facts, offers=self.facts.if_empty)
        self._meeting = functools.cache(self._judge)

    def matching_hosts(self, request: Request) -> frozenset[str]:
        """Roots of hosts that could take a request, by either query, if empty."""
        found = self.meeting(request.clauses, request.group_policy)
        if request.fallback is None:
            return found
        second = self.matching_hosts(request.fallback)
        return found | (second - short_of_dedicated(request, self._if_empty))

    def meeting(
        self, clauses: Iterable[Clause], group_policy: str | None = None
    ) -> frozenset[str]:
        """Roots of hosts that could meet all clauses together, aggregates aside."""
        conditions = (c for c in clauses if not isinstance(c, MemberOf))
        plain = tuple(dataclasses.replace(c, origins=()) for c in conditions)
        return self._meeting(plain, group_policy)

    def having(self, name: str) -> frozenset[str]:
        """Roots of hosts with a provider that has the trait."""
        return self.meeting([Trait("", name, False, ())])

    def _judge(
        self, conditions: tuple[Condition, ...], group_policy: str | None
    ) -> frozenset[str]:
        request = Request(conditions, group_policy, None, "")
        return frozenset(matching_hosts(request, self._if_empty))


# Aggregates that isolate their hosts.


@dataclasses.dataclass(frozen=True)
class Isolated:
    """An aggregate that is closed unless a request requires its traits.

    :ivar keys: metadata keys that isolate it
    :ivar collation: how the database compares keys
    """

    uuid: str
    id: str
    name: str
    keys: tuple[str, ...]
    collation: Collation = Collation.CASE_INSENSITIVE

    @property
    def traits(self) -> frozenset[str]:
        """The traits in the keys."""
        return frozenset(trait_in(key, self.collation) for key in self.keys)

    @property
    def folded(self) -> frozenset[str]:
        """The keys in the form that the database compares."""
        return frozenset(map(self.collation.folded, self.keys))

    def is_open_to(self, traits: Iterable[str]) -> bool:
        """Whether a request that requires these traits gets in.

        The database compares whole keys: if it is case-sensitive, no request matches a
        key that does not start with lower-case ``trait:``.
        """
        asked = {self.collation.folded(key_of(name)) for name in traits}
        return asked.issuperset(self.folded)


def isolated(
    aggregates: Iterable[Aggregate], collation: Collation
) -> tuple[Isolated, ...]:
    """Aggregates, by name, that isolation closes to requests without traits."""
    found = (
        Isolated(each.uuid, each.id, each.name, keys, collation)
        for each in aggregates
        if (keys := isolating_keys(each.metadata, collation))
    )
    return tuple(sorted(found, key=lambda each: (each.name, each.uuid)))
