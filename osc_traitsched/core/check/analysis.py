"""Facts about a survey for the rules."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from osc_traitsched.core.check.survey import (
    Isolated,
    Severity,
    StandaloneRequest,
    SubjectKind,
    Survey,
    SurveyedHosts,
    is_certain_of_flavor,
    is_lasting,
    isolated,
)
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.judge.filtering import lasting_answers
from osc_traitsched.core.nova import options, properties
from osc_traitsched.core.nova.clause import Clause, Resource, RootTrait
from osc_traitsched.core.nova.extra_specs import near_flavor_key, near_image_key
from osc_traitsched.core.nova.filter.groups import metadata_key
from osc_traitsched.core.nova.filter.special import EXTRA_SPECS
from osc_traitsched.core.nova.filter.state import (
    FilterResult,
    HostState,
    RequestSpec,
    host_states,
)
from osc_traitsched.core.nova.filter.table import FILTERS, AlikeHosts
from osc_traitsched.core.nova.image import public_or_own_images as public_or_own
from osc_traitsched.core.nova.options import SchedulerSettings, Setting, has_filter
from osc_traitsched.core.nova.prefilter import IMAGES, name_of
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import EPHEMERAL
from osc_traitsched.paste import is_printable

# Requests of flavors and images, and their hosts.


# Builds requests by Nova's rules, each only once.


#: Large enough for any image.
ANY_FLAVOR: Body = {"name": "", "vcpus": 1, "ram": 2**40, "disk": 2**40}

#: Fields of a flavor that decide its request.
_OF_FLAVORS = ("vcpus", "ram", "disk", EPHEMERAL, "ephemeral", "swap", "extra_specs")

#: Fields of an image that decide its request, without traits and NUMA nodes.
_OF_IMAGES = frozenset(
    [
        *properties.BY_NAME,
        *properties.OLD_NAMES,
        properties.OLD_ADAPTER,
        "bdm_v2",
        "block_device_mapping",
        "cinder_encryption_key_id",
        "disk_format",
        "mappings",
        "root_device_name",
    ]
)

_NOTHING = Request((), None, None, "")
_NO_OWNERS: Mapping[str, str] = MappingProxyType({})


@dataclasses.dataclass
class Builder:
    """Builds requests, one for all equal inputs."""

    assumptions: SchedulerSettings
    _known: dict[object, Request | Refusal] = dataclasses.field(default_factory=dict)

    def of_flavors(self, bodies: Iterable[Body]) -> tuple[StandaloneRequest, ...]:
        """The demand of each flavor."""
        known: dict[object, StandaloneRequest] = {}
        found, bodies = [], tuple(bodies)
        ids = {str(body["id"]) for body in bodies}
        for body, name in titles(bodies):
            kind = _of_flavor(body)
            if kind not in known:
                known[kind] = self._flavor(body)
            written = str(body["name"])
            alias = written if is_printable(written) and written not in ids else ""
            found.append(
                dataclasses.replace(known[kind], name=name, body=body, alias=alias)
            )
        return tuple(found)

    def of_images(
        self, bodies: Iterable[Body], owners: Mapping[str, str]
    ) -> tuple[StandaloneRequest, ...]:
        """The demand of each image, with all image prefilters on.

        :param owners: of other projects' images, by image ID
        """
        known: dict[object, StandaloneRequest] = {}
        found, release = [], self.assumptions.release
        for body, name in titles(bodies, owners):
            wrong = {k: v for k, v in body.items() if near_image_key(k, release)}
            kind = _frozen({**decisive(body), **wrong})
            if kind not in known:
                known[kind] = self._image(body)
            found.append(dataclasses.replace(known[kind], name=name, body=body))
        return tuple(found)

    def request(
        self, flavor: Body, image: Body | None, from_volume: bool = False
    ) -> Request:
        """The request, independent of aggregates and of the image's size.

        :raises Refusal: as :meth:`Question.request`
        """
        plain = None if image is None else decisive(image)
        key = (_of_flavor(flavor), _frozen(plain or {}), image is None, from_volume)
        if key not in self._known:
            self._known[key] = self._asked(
                Question(
                    flavor,
                    plain,
                    (),
                    self.assumptions,
                    ServerSpec(boot_from_volume=from_volume),
                )
            )
        found = self._known[key]
        if isinstance(found, Refusal):
            raise found
        return found

    def _asked(self, question: Question) -> Request | Refusal:
        try:
            question.check_aliases()
            return _lasting(question.request())
        except Refusal as refusal:
            return refusal

    def _flavor(self, body: Body) -> StandaloneRequest:
        try:
            ways = tuple(self.request(body, None, way) for way in (False, True))
        except Refusal as refusal:
            return StandaloneRequest(SubjectKind.FLAVOR, "", body, refusal=refusal)
        first = ways[0]
        return StandaloneRequest(
            SubjectKind.FLAVOR, "", body, first.clauses, first.not_evaluated, ways
        )

    def _image(self, body: Body) -> StandaloneRequest:
        found = self._with_all_prefilters(body)
        refusal = found if isinstance(found, Refusal) else None
        if isinstance(found, Refusal):
            plain = {k: v for k, v in body.items() if k.startswith("trait:")}
            plain["disk_format"] = body.get("disk_format")
            found = self._with_all_prefilters(plain)
        request = found if isinstance(found, Request) else _NOTHING
        clauses = [c for c in request.clauses if _is_of_image(c)]
        if request.fallback is not None:
            # A host that only the second query finds, without pinned CPUs, is enough.
            lasting = request.fallback.clauses
            clauses = [c for c in clauses if isinstance(c, Resource) or c in lasting]
        devices = [c for c in clauses if name_of(c) == IMAGES]
        if not self.assumptions.value(options.IMAGE_METADATA):
            clauses = [c for c in clauses if c not in devices]
        return StandaloneRequest(
            SubjectKind.IMAGE,
            "",
            body,
            tuple(clauses),
            request.not_evaluated,
            devices=tuple(c for c in devices if isinstance(c, RootTrait)),
            refusal=refusal,
        )

    def _with_all_prefilters(self, image: Body) -> Request | Refusal:
        assumptions = self.assumptions.changed(options.IMAGE_TYPE, True)
        assumptions = assumptions.changed(options.IMAGE_METADATA, True)
        return self._asked(Question(ANY_FLAVOR, image, (), assumptions))


def decisive(image: Body) -> dict[str, object]:
    """The fields of an image that decide its request: format, Nova's properties."""
    return {
        key: value
        for key, value in image.items()
        if key in _OF_IMAGES or key.startswith(("trait:", "hw_numa_"))
    }


def _lasting(request: Request) -> Request:
    clauses = tuple(filter(is_lasting, request.clauses))
    second = _lasting(request.fallback) if request.fallback else None
    return dataclasses.replace(request, clauses=clauses, fallback=second)


def _is_of_image(clause: Clause) -> bool:
    return any(origin.kind == "image" for origin in clause.origins)


def titles(
    bodies: Iterable[Body], owners: Mapping[str, str] = _NO_OWNERS
) -> list[tuple[Body, str]]:
    """Each flavor or image with a unique name.

    :param owners: by image ID, of other projects' images, whose users choose any name
    """
    bodies = tuple(bodies)
    names = [str(body.get("name") or body["id"]) for body in bodies]
    twins = collections.Counter(names)
    found = []
    for body, name in zip(bodies, names):
        identity = str(body["id"])
        marks = [identity] if twins[name] > 1 or identity in owners else []
        if identity in owners:
            marks.append(f"owner {owners[identity]}")
        found.append((body, f"{name} ({', '.join(marks)})" if marks else name))
    return found


def _of_flavor(body: Body) -> object:
    return _frozen({key: body.get(key) for key in _OF_FLAVORS})


def _frozen(found: Mapping[str, object]) -> object:
    return tuple(sorted((key, repr(value)) for key, value in found.items()))


# Hosts for a flavor, with and without images.


#: With this image, a flavor without a CPU policy asks for pinned CPUs.
_PINNING: Body = {"hw_cpu_policy": "dedicated"}


class FlavorHosts:
    """Hosts that could take flavors, isolated hosts included."""

    def __init__(
        self,
        hosts: SurveyedHosts,
        all_hosts: frozenset[str],
        builder: Builder,
        images: Iterable[StandaloneRequest],
    ) -> None:
        self._hosts = hosts
        self._all_hosts = all_hosts
        self._builder = builder
        self._images = (_PINNING, *_one_of_each_kind(images))
        self._tried_with_any_image = functools.cache(self._try_with_any_image)

    def matching(self, flavor: StandaloneRequest) -> frozenset[str]:
        """Roots of hosts for a flavor, with an image that changes no amounts."""
        found = (self._hosts.matching_hosts(request) for request in flavor.requests)
        return frozenset[str]().union(*found)

    def at_most(self, flavor: StandaloneRequest) -> frozenset[str]:
        """Hosts that meet what no image changes: a cheap upper bound."""
        both = set(flavor.clauses).intersection(*(r.clauses for r in flavor.requests))
        met = (self._hosts.meeting([c]) for c in both if is_certain_of_flavor(c))
        return self._all_hosts.intersection(*met)

    def with_any_image(self, flavor: StandaloneRequest) -> frozenset[str]:
        """Hosts that could take a flavor with at least one image.

        An image can ask for more amounts, from other providers of a tree, or for pinned
        CPUs in place of the flavor's.
        """
        return self._tried_with_any_image(flavor)

    def _try_with_any_image(self, flavor: StandaloneRequest) -> frozenset[str]:
        if not self.at_most(flavor):
            return frozenset()
        changed = (
            self._with_image(flavor.body, image, from_volume)
            for image in self._images
            for from_volume in (False, True)
        )
        return self.matching(flavor).union(*changed)

    def _with_image(
        self, flavor: Body, image: Body, from_volume: bool
    ) -> frozenset[str]:
        try:
            request = self._builder.request(flavor, image, from_volume)
        except Refusal:
            return frozenset()
        return self._hosts.matching_hosts(request)


def _one_of_each_kind(images: Iterable[StandaloneRequest]) -> tuple[Body, ...]:
    found = (each.body for each in images if each.shifts)
    return tuple({repr(decisive(body)): body for body in found}.values())


# Facts about a survey for the rules.


# The enabled host filters, and their view of hosts.


@dataclasses.dataclass(frozen=True)
class EnabledFilters:
    """The host filters of the surveyed cloud."""

    survey: Survey

    @property
    def setting(self) -> Setting:
        """The list of enabled filters, and its source."""
        return self.survey.assumptions.setting(options.ENABLED_FILTERS)

    @property
    def names(self) -> tuple[str, ...]:
        """The enabled filters, without duplicates."""
        return tuple(dict.fromkeys(self.setting.items))

    def is_on(self, name: str) -> bool:
        """Whether a filter is enabled and exists in the release."""
        release = self.survey.assumptions.release
        return name in self.names and FILTERS[name].is_in(release)

    @property
    def has_own(self) -> bool:
        """Whether filters that are not Nova's are enabled; they may read any key."""
        return any(name not in FILTERS for name in self.names)

    def severity(self, given: Severity, assumed: Severity) -> Severity:
        """The first severity if the list of filters is known; the second if assumed."""
        is_known = self.survey.assumptions.is_known(options.ENABLED_FILTERS)
        return given if is_known else assumed

    @functools.cached_property
    def states(self) -> AlikeHosts:
        """All compute nodes, by name."""
        found = host_states(self.survey.nova.computes, self.survey.nova.aggregates)
        return AlikeHosts(sorted(found, key=lambda each: (each.host, each.node)))

    def answers(
        self,
        name: str,
        spec: RequestSpec,
        states: Collection[HostState] | None = None,
    ) -> Mapping[str, FilterResult]:
        """What a filter answers for some compute nodes, or all, by provider UUID."""
        states = self.states if states is None else states
        return lasting_answers(name, states, spec, self.survey.assumptions)

    def ask_nova(self, specs: Iterable[RequestSpec]) -> None:
        """Ask Nova at once what empty hosts can't claim, if it is asked at all."""
        settings = self.survey.assumptions
        if settings.claims is not None:
            asked = ((spec, settings) for spec in specs)
            settings.claims.ask(asked, self.states)

    @functools.cached_property
    def keys_of_flavors(self) -> frozenset[str]:
        """Aggregate keys that flavors' extra specs are compared with.

        :raises NotRead: if a flavor that is hidden could have such a key
        """
        return frozenset(self._keys() if self.is_on(EXTRA_SPECS) else ())

    def misspelled(self, key: str) -> str:
        """The key that a flavor's key stands for; empty if right, or an aggregate's."""
        is_read = self.is_on(EXTRA_SPECS) and any(
            key in aggregate.metadata for aggregate in self.survey.nova.aggregates
        )
        return "" if is_read else near_flavor_key(key)

    @functools.cached_property
    def metadata(self) -> tuple[tuple[Aggregate, str, str], ...]:
        """Keys and values of aggregates that no flavor is compared with, sorted."""
        return tuple(
            (aggregate, key, value)
            for aggregate in sorted(self.survey.nova.aggregates, key=lambda a: a.name)
            for key, value in sorted(aggregate.metadata.items())
            if key not in self.keys_of_flavors
        )

    def _keys(self) -> Iterator[str]:
        self.survey.need_all("flavors")
        for flavor in self.survey.flavors:
            for written in flavor.get("extra_specs") or {}:
                key = metadata_key(written)
                if key is not None:
                    yield key


# Facts that rules derive from a survey, each only once.


@dataclasses.dataclass(frozen=True)
class Analysis:
    """A survey, and cached facts about it; rules are functions of it."""

    survey: Survey

    def setting(self, option: str) -> Setting:
        """An option's value and its source."""
        return self.survey.assumptions.setting(option)

    def is_on(self, option: str) -> bool:
        """Whether a boolean option is on."""
        return bool(self.setting(option).value)

    def has_filter(self, name: str) -> bool:
        """Whether a host filter is in the list of enabled ones."""
        return has_filter(self.survey.assumptions, name)

    @functools.cached_property
    def images_without_host(self) -> dict[str, bool]:
        """Whether no host could take the properties of an image, by what they are."""
        return {}

    @functools.cached_property
    def filtering(self) -> EnabledFilters:
        """The host filters, and their view of hosts."""
        return EnabledFilters(self.survey)

    @property
    def collation(self) -> Collation:
        """How Nova's database compares aggregate metadata."""
        return self.survey.assumptions.collation

    @functools.cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Each host aggregate against Placement's of the same UUID, by name."""
        return snapshot.membership_differences(
            self.survey.snapshot, self.survey.members
        )

    @functools.cached_property
    def builder(self) -> Builder:
        """Builds all requests that the rules need."""
        return Builder(self.survey.assumptions)

    @functools.cached_property
    def flavors(self) -> tuple[StandaloneRequest, ...]:
        """The demand of each flavor, by name."""
        demands = self.builder.of_flavors(self.survey.flavors)
        return tuple(sorted(demands, key=lambda each: each.name))

    @functools.cached_property
    def images(self) -> tuple[StandaloneRequest, ...]:
        """The demand of each image, by name; those of :attr:`images_of_others` last."""
        survey, others = self.survey, self.images_of_others
        demands = self.builder.of_images(survey.images, survey.image_owners)
        return tuple(sorted(demands, key=lambda each: (each.name in others, each.name)))

    @functools.cached_property
    def images_of_others(self) -> frozenset[str]:
        """Names of images that are neither public nor the caller's own."""
        titled = titles(self.survey.images, self.survey.image_owners)
        trusted = public_or_own(self.survey.images, self.survey.own_project)
        identities = {each["id"] for each in trusted}
        return frozenset(name for body, name in titled if body["id"] not in identities)

    @property
    def demands(self) -> tuple[StandaloneRequest, ...]:
        """The demands of flavors and images."""
        return (*self.flavors, *self.images)

    @functools.cached_property
    def isolated(self) -> tuple[Isolated, ...]:
        """The aggregates that ``trait:…=required`` isolates if the option is on."""
        return isolated(self.survey.nova.aggregates, self.collation)

    @functools.cached_property
    def hosts(self) -> SurveyedHosts:
        """Finds the hosts for requests."""
        return SurveyedHosts(self.survey)

    @functools.cached_property
    def flavor_hosts(self) -> FlavorHosts:
        """Finds the hosts for a flavor, with and without images."""
        return FlavorHosts(self.hosts, self.all_hosts, self.builder, self.images)

    @functools.cached_property
    def all_hosts(self) -> frozenset[str]:
        """UUIDs of all hosts' roots."""
        return frozenset(host.uuid for host in self.survey.snapshot.hosts)

    def host_names(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Sorted names of hosts, by their roots' UUIDs."""
        by_uuid = self.survey.snapshot.by_uuid
        return tuple(sorted(by_uuid[uuid].name for uuid in roots))

    @functools.cached_property
    def closed_to(self) -> Mapping[frozenset[str], frozenset[str]]:
        """UUIDs of providers that isolation excludes, by the required traits.

        For each set of traits that a flavor and an image can require together.

        :raises NotRead: if a flavor or an image that is hidden could require others
        """
        self.survey.need_all("flavors and images")
        own = {each.opens for each in self.flavors} or {frozenset[str]()}
        more = {frozenset[str](), *(each.opens for each in self.images)}
        isolated = frozenset(name for each in self.isolated for name in each.traits)
        together = {(one | other) & isolated for one in own for other in more}
        return {traits: self._closed(traits) for traits in together}

    def closed_for(self, flavor: StandaloneRequest) -> frozenset[str]:
        """Roots of the hosts that isolation excludes for a flavor with any image.

        :raises NotRead: as :attr:`closed_to`
        """
        isolated = {name for each in self.isolated for name in each.traits}
        images = {frozenset[str](), *(image.opens for image in self.images)}
        together = {frozenset((flavor.opens | more) & isolated) for more in images}
        return self.all_hosts.intersection(*(self.closed_to[e] for e in together))

    def _closed(self, traits: frozenset[str]) -> frozenset[str]:
        left = (each for each in self.isolated if not each.is_open_to(traits))
        return frozenset[str]().union(*(self._mirrored(each.uuid) for each in left))

    def inside(self, aggregate: str) -> frozenset[str]:
        """Roots of the hosts that Nova and Placement both have in an aggregate."""
        nova = self.survey.nova.members.get(aggregate, frozenset())
        return nova & self._mirrored(aggregate) & self.all_hosts

    def _mirrored(self, aggregate: str) -> frozenset[str]:
        return self.survey.members.get(aggregate, frozenset())
