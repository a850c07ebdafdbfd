"""Rules on flavors and images that no host could ever take: amounts, architectures."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.analysis import IMAGE_PROPERTIES, Analysis
from osc_traitsched.core.check.builder import ANY_FLAVOR
from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.rules import traits_requests
from osc_traitsched.core.check.survey import StandaloneRequest, is_certain
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.reported import where_to_look
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter.state import (
    ARCHITECTURE,
    Answer,
    Fails,
    HostState,
    RequestSpec,
    Unknown,
    architecture,
)
from osc_traitsched.core.nova.filter.table import judge
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.paste import Command, Placeholder, openstack
from osc_traitsched.text import listed

# Rules on amounts that no host could give, even if nothing were in use.


_CPUS = frozenset({"VCPU", "PCPU"})
_UNITS = {"MEMORY_MB": " MB", "DISK_GB": " GB"}


@dataclasses.dataclass(frozen=True)
class ResourcesNoHost(Finding):
    """More of a resource class than any host has, empty or not.

    An error; a warning if the flavor still fits with a boot volume. Placement gives one
    server at most ``max_unit`` and at most (total - reserved) * allocation ratio. Hosts
    of unknown size silence the rule.

    :ivar flavors: that ask for too much
    :ivar images: that do, by a property, with every flavor
    :ivar least: the smallest amount that is too much
    :ivar most: the largest
    :ivar largest: the most that a host could give at once; 0 if no host has any
    :ivar boots_from_volume: a server that boots from a volume needs less, and fits
    """

    rule = "resources-no-host"
    kind = SubjectKind.RESOURCE_CLASS
    severity: Severity
    name: str
    flavors: tuple[str, ...]
    images: tuple[str, ...]
    least: int
    most: int
    largest: int
    boots_from_volume: bool

    def words(self) -> Words:
        unit = _UNITS.get(self.name, "")
        several = len(self.flavors) + len(self.images) > 1
        need = "need" if several else "needs"
        who = ", ".join(
            filter(None, (listed(self.flavors, "flavor"), listed(self.images, "image")))
        )
        amount = "it" if self.images else f"{_span(self.least, self.most)}{unit}"
        there = f"the largest has {self.largest}" if self.largest else "no host has any"
        if self.largest >= self.least:
            there = "min_unit and step_size of the hosts do not allow it"
        only = "; only servers that boot from a volume fit" * self.boots_from_volume
        where = "on one host" if self.largest else ""
        problem = f"{who} {need} {amount} {where}".rstrip()
        return Words(f"{problem}; {there}{only}", *_fix(self))


def _span(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _fix(finding: ResourcesNoHost) -> tuple[str | Command, str]:
    if finding.largest:
        return (
            openstack("resource provider inventory list", Placeholder("HOST_UUID")),
            "use a smaller flavor or add a larger host; max_unit, and total less "
            "reserved times allocation_ratio, are the limits of a host",
        )
    return f"{where_to_look(finding.name)}, or add hosts that have it", ""


def no_host(analysis: Analysis) -> Iterator[ResourcesNoHost]:
    """Find amounts above what any host could give, even if nothing were in use."""
    if not analysis.all_hosts:
        return
    flavors: dict[tuple[str, bool], dict[str, int]] = {}
    images: dict[tuple[str, bool], list[str]] = {}
    for flavor in analysis.flavors:
        for (name, boots), amount in _too_much(analysis, flavor).items():
            flavors.setdefault((name, boots), {})[flavor.name] = amount
    for image in analysis.images:
        for clause in image.clauses:
            if (
                isinstance(clause, Resource)
                and _is_in_no_host(analysis, clause)
                and not _has_fallback(analysis, clause)
                and traits_requests.has_no_host(analysis, image)
            ):
                key = (clause.resource_class, False)
                images.setdefault(key, []).append(image.name)
    for name, boots in sorted({*flavors, *images}):
        asked, named = flavors.get((name, boots), {}), images.get((name, boots), ())
        amounts = asked.values() or (1,)
        yield ResourcesNoHost(
            Severity.WARNING if boots else Severity.ERROR,
            name,
            tuple(asked),
            tuple(named),
            min(amounts),
            max(amounts),
            _largest(analysis, name),
            boots,
        )


def _is_in_no_host(analysis: Analysis, clause: Resource) -> bool:
    """Whether no host could give an amount of a class that Placement knows."""
    is_known = clause.resource_class in analysis.survey.known_classes
    return is_known and not analysis.hosts.meeting([clause])


def _has_fallback(analysis: Analysis, clause: Resource) -> bool:
    """Whether Nova asks again without pinned CPUs."""
    settings = analysis.survey.assumptions
    return clause.resource_class == "PCPU" and not settings.value(
        options.NO_PCPU_FALLBACK
    )


def _too_much(
    analysis: Analysis, flavor: StandaloneRequest
) -> dict[tuple[str, bool], int]:
    """The largest amounts that no host could give, by class.

    Each with whether a server that boots from a volume asks for less and fits.
    """
    ways = [_unmet(analysis, request) for request in _requests(analysis, flavor)]
    found = {
        (name, not all(name in way for way in ways)): amount
        for way in reversed(ways)
        for name, amount in way.items()
        if name not in _CPUS and (flavor.requests or all(name in w for w in ways))
    }
    cpus = {(n, False): w[n] for w in ways for n in sorted(w.keys() & _CPUS)}
    fits_from_volume = all(boots for _, boots in found)
    if cpus and fits_from_volume and _lacks_cpus(analysis, flavor):
        return {**found, **cpus}
    return found


def _lacks_cpus(analysis: Analysis, flavor: StandaloneRequest) -> bool:
    """Whether no host has the CPUs, pinned or not.

    Nova asks a second time without pinned CPUs, and an image can ask for them.
    """
    queries = (q for r in flavor.requests for q in (r, r.fallback) if q)
    clauses = (clause for query in queries for clause in query.clauses)
    derived = (c for c in clauses if isinstance(c, (Trait, RootTrait)))
    kept = [clause for clause in derived if not is_certain(clause)]
    return not (
        traits_requests.matching_hosts(analysis, flavor, kept)
        or analysis.flavor_hosts.with_any_image(flavor)
    )


def _requests(analysis: Analysis, flavor: StandaloneRequest) -> tuple[Request, ...]:
    """The requests of a flavor; those with the images if Nova rejects it alone."""
    if flavor.requests:
        return flavor.requests
    found = []
    for image in analysis.images:
        for boots in (False, True):
            with contextlib.suppress(Refusal):
                found.append(analysis.builder.request(flavor.body, image.body, boots))
    return tuple(found)


def _unmet(analysis: Analysis, request: Request) -> dict[str, int]:
    found: dict[str, int] = {}
    for clause in request.clauses:
        if isinstance(clause, Resource) and _is_in_no_host(analysis, clause):
            name = clause.resource_class
            found[name] = max(clause.amount, found.get(name, 0))
    return found


def _largest(analysis: Analysis, name: str) -> int:
    stock = analysis.survey.stock.values()
    return max((each[name].most for each in stock if name in each), default=0)


@dataclasses.dataclass(frozen=True)
class ResourcesNotTogether(Finding):
    """A flavor that finds each of its amounts on some host, and no host has all.

    One host has enough CPUs, another enough RAM. Or each group needs a provider of its
    own (``group_policy=isolate``), and no host has that many.

    :ivar amounts: with their classes
    :ivar isolates: each group needs a provider of its own
    """

    rule = "resources-not-together"
    severity = Severity.ERROR
    kind = SubjectKind.FLAVOR
    name: str
    amounts: tuple[tuple[str, int], ...]
    isolates: bool

    def words(self) -> Words:
        amounts = (f"{amount} {name}" for name, amount in self.amounts)
        apart = ", each group from another provider" * self.isolates
        return Words(
            f"no host can give all of {listed(amounts)}{apart}, even if it is empty",
            "use a smaller flavor, or add a host that can give all of them",
        )


def not_together(analysis: Analysis) -> Iterator[ResourcesNotTogether]:
    """Find flavors whose amounts no host has together, whatever traits they need."""
    if not analysis.all_hosts:
        return
    for flavor in analysis.flavors:
        amounts = tuple(
            (clause.resource_class, clause.amount)
            for clause in flavor.clauses
            if isinstance(clause, Resource)
        )
        if (
            flavor.requests
            and not analysis.flavor_hosts.matching(flavor)
            and not traits_requests.matching_hosts(analysis, flavor, ())
            and not analysis.flavor_hosts.with_any_image(flavor)
            and {name for name, _ in amounts} <= analysis.survey.known_classes
            and not any(map(_is_refused, flavor.requests))
            and not _too_much(analysis, flavor)
        ):
            isolates = flavor.requests[0].group_policy == "isolate"
            yield ResourcesNotTogether(flavor.name, amounts, isolates)


def _is_refused(request: Request) -> bool:
    return request.lacks_group_policy or bool(request.groups_without_amounts)


@dataclasses.dataclass(frozen=True)
class ResourcesNoPcpu(Finding):
    """Flavors with pinned CPUs, in a cloud where no host has dedicated CPUs.

    Nova asks a second time with VCPU, so hosts without ``cpu_dedicated_set`` are
    candidates. A host pins such servers if ``cpu_shared_set`` is not set, and rejects
    them if it is. No API shows these options.
    """

    rule = "resources-no-pcpu"
    severity = Severity.WARNING
    kind = SubjectKind.RESOURCE_CLASS
    name: str
    flavors: tuple[str, ...]

    def words(self) -> Words:
        return Words(
            f"{listed(self.flavors, 'flavor')}: pinned CPUs, and no host has dedicated "
            "CPUs; hosts with [compute]cpu_shared_set reject such servers",
            "set [compute]cpu_dedicated_set on hosts for pinned servers",
        )


def no_pcpu(analysis: Analysis) -> Iterator[ResourcesNoPcpu]:
    """Find flavors that only Nova's second query, with VCPU, has hosts for.

    A host without both ``[compute]cpu_dedicated_set`` and ``cpu_shared_set``, or with
    ``vcpu_pin_set``, pins servers to all its CPUs (nova/virt/libvirt/driver.py,
    ``_get_host_numa_topology``). No API shows these options.
    """
    if not _is_in_no_host(analysis, Resource("", "PCPU", 1, ())):
        return
    pinned = tuple(
        flavor.name
        for flavor in analysis.flavors
        if any(request.fallback for request in flavor.requests)
        and analysis.flavor_hosts.matching(flavor)
    )
    if pinned:
        yield ResourcesNoPcpu("PCPU", pinned)


AMOUNT_RULES = (
    Rule(ResourcesNoHost, no_host, SubjectKind.FLAVOR),
    Rule(ResourcesNoPcpu, no_pcpu, SubjectKind.FLAVOR),
    Rule(ResourcesNotTogether, not_together, SubjectKind.FLAVOR),
)


# The rule on images for which no host has a hypervisor.


#: The properties that the filter reads, old names included.
_READ = (
    *("hw_architecture", "img_hv_type", "hw_vm_mode", "img_hv_requested_version"),
    *("architecture", "hypervisor_type", "vm_mode", "hypervisor_version_requires"),
)

#: Architectures that a CPU runs besides its own, without emulation.
_ALSO_RUNS = {"x86_64": "i686", "aarch64": "armv7l", "ppc64le": "ppc64"}


#: A property, its value, and whether QEMU could still emulate it.
_Cause = tuple[str, str, bool]


@dataclasses.dataclass(frozen=True)
class FiltersImageNoHost(Finding):
    """Images with a property that ImagePropertiesFilter finds on no host.

    An error if the filters were supplied, else a warning; a warning if only CPUs
    differ, because QEMU can emulate others. Add hosts that match, or use another image.

    :ivar name: of the first image
    :ivar images: all that set it to this value
    :ivar key: the property, or the option that stands for it
    :ivar hosts_have: what the hosts have instead
    :ivar can_be_emulated: only the CPUs of the hosts differ
    """

    rule = "filters-image-no-host"
    kind = SubjectKind.IMAGE
    severity: Severity
    name: str
    images: tuple[str, ...]
    key: str
    value: str
    hosts_have: tuple[str, ...]
    can_be_emulated: bool

    def words(self) -> Words:
        others = self.images[1:]
        same = f"; the same is true of {listed(others, 'image')}" if others else ""
        have = f" (hosts: {listed(self.hosts_have)})" if self.hosts_have else ""
        emulated = "; a server boots only if QEMU emulates it"
        return Words(
            f"{self.key}={self.value}, and no host is of that kind{have}"
            f"{emulated * self.can_be_emulated}{same}",
            f"add hosts that match, or correct {self.key} if the image is not "
            f"{self.value}",
        )


def image_no_host(analysis: Analysis) -> Iterator[FiltersImageNoHost]:
    """Find images that no host's hypervisor can run, whichever flavor they meet.

    nova/scheduler/filters/image_props_filter.py. A warning if only the host's own
    architecture differs: QEMU can emulate others, and no API shows whether it does.
    """
    if not analysis.filtering.is_on(IMAGE_PROPERTIES):
        return
    states = {_kind(state): state for state in analysis.filtering.states}
    alike: dict[tuple[str, ...], list[StandaloneRequest]] = {}
    for image in analysis.images:
        properties = tuple(str(image.body.get(key, "")) for key in _READ)
        if any(properties) and states:
            alike.setdefault(properties, []).append(image)
    found: dict[_Cause, list[str]] = {}
    for images in alike.values():
        cause = _cause(analysis, images[0], states.values())
        if cause is not None:
            found.setdefault(cause, []).extend(image.name for image in images)
    kinds = {own or hypervisor for hypervisor, _, own in states} - {""}
    severity = analysis.filtering.severity(Severity.ERROR, Severity.WARNING)
    for (key, value, is_emulated), names in found.items():
        yield FiltersImageNoHost(
            Severity.WARNING if is_emulated else severity,
            names[0],
            tuple(names),
            key,
            value,
            tuple(sorted(kinds)),
            is_emulated,
        )


def _kind(state: HostState) -> tuple[str, int, str]:
    """All that the filter reads of a host."""
    report = state.compute.report
    if report is None:
        return "", 0, ""
    return report.hypervisor_type, report.hypervisor_version, architecture(state)


def _cause(
    analysis: Analysis, image: StandaloneRequest, states: Iterable[HostState]
) -> _Cause | None:
    settings = analysis.survey.assumptions
    # Its trait says the same.
    missing = traits_requests.missing(analysis, image)
    keys = {origin.key for clause in missing for origin in clause.origins}
    with contextlib.suppress(Refusal):
        spec = Question(ANY_FLAVOR, image.body, (), settings).request_spec()
        fails, is_emulated = None, False
        for state in states:
            answer = judge(IMAGE_PROPERTIES, state, spec, settings)
            if isinstance(answer, Fails):
                fails = fails or (answer.key, answer.wanted)
            elif _differs(state, spec, answer):
                is_emulated = True
            else:
                return None
        if is_emulated:
            key = spec.server.image.key(ARCHITECTURE)
            fails = (key, str(spec.server.image.text(ARCHITECTURE)))
        if fails and fails[0] not in keys:
            return (*fails, is_emulated)
    return None


def _differs(host: HostState, spec: RequestSpec, answer: Answer) -> bool:
    """Whether the host's CPU is of another architecture than the image."""
    wanted, own = spec.server.image.text(ARCHITECTURE), architecture(host)
    runs = (own, _ALSO_RUNS.get(own))
    is_doubtful = isinstance(answer, Unknown)
    return bool(is_doubtful and wanted and own) and wanted not in runs


IMAGE_RULES = (Rule(FiltersImageNoHost, image_no_host, SubjectKind.IMAGE),)
