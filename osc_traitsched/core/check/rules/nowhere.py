"""Rules on flavors and images that no host could ever take: amounts, architectures."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence

from osc_traitsched.core.check.analysis import ANY_FLAVOR, Analysis
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.rules import traits
from osc_traitsched.core.check.survey import (
    ERROR,
    WARNING,
    Fault,
    Severity,
    StandaloneRequest,
    SubjectKind,
    is_certain,
)
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.trait import where_to_look
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter import compute
from osc_traitsched.core.nova.filter import state as filter_state
from osc_traitsched.core.nova.filter.compute import CAPABILITIES_SCOPE
from osc_traitsched.core.nova.filter.special import (
    EXTRA_SPECS,
    IMAGE_PROPERTIES,
    NUMA_TOPOLOGY,
)
from osc_traitsched.core.nova.filter.state import (
    ARCHITECTURE,
    Fails,
    FilterResult,
    HostState,
    RequestSpec,
    Unknown,
    architecture,
    is_of_use,
)
from osc_traitsched.core.nova.filter.table import as_claim
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import SIZES, Stock
from osc_traitsched.paste import Command, Option, Placeholder, openstack
from osc_traitsched.text import listed, ranges

# Rules on amounts that no host could give, even if nothing were in use.


_CPUS = frozenset({"VCPU", "PCPU"})
_UNITS = {"MEMORY_MB": " MB", "DISK_GB": " GB"}


@rule("resources-no-host", SubjectKind.RESOURCE_CLASS, SubjectKind.FLAVOR)
def no_host(analysis: Analysis) -> Iterator[Fault]:
    """More of a resource class than any host has, empty or not.

    An error; a warning if the cloud has Cinder, and the flavor fits with a boot volume.
    Placement gives one server at most ``max_unit`` and at most (total - reserved) *
    allocation ratio. Hosts of unknown size silence the rule.
    """
    if not analysis.all_hosts:
        return
    flavors: dict[tuple[str, bool], dict[str, int]] = {}
    images: dict[tuple[str, bool], list[str]] = {}
    for flavor in analysis.flavors:
        for (name, boots), amount in _too_much(analysis, flavor).items():
            flavors.setdefault((name, boots), {})[flavor.name] = amount
    has_no_fallback = analysis.is_on(options.NO_PCPU_FALLBACK)
    for image in analysis.images:
        for clause in image.clauses:
            if (
                isinstance(clause, Resource)
                and _is_in_no_host(analysis, clause)
                # Nova asks again without pinned CPUs.
                and (clause.resource_class != "PCPU" or has_no_fallback)
                and traits.has_no_host(analysis, image)
            ):
                key = (clause.resource_class, False)
                images.setdefault(key, []).append(image.name)
    has_volumes = analysis.survey.has_volumes
    for name, boots in sorted({*flavors, *images}):
        asked, named = flavors.get((name, boots), {}), images.get((name, boots), ())
        only = "; only servers that boot from a volume fit" * (boots and has_volumes)
        yield Fault(
            Severity.WARNING if boots and has_volumes else Severity.ERROR,
            name,
            f"{_too_much_in_words(analysis, name, asked, named)}{only}",
            *_fix(analysis, name, _largest(analysis, name)),
            flavors=tuple(asked),
            images=tuple(named),
        )


def _too_much_in_words(
    analysis: Analysis, name: str, flavors: Mapping[str, int], images: Sequence[str]
) -> str:
    amounts, largest = flavors.values() or (1,), _largest(analysis, name)
    least, most = min(amounts), max(amounts)
    need = "need" if len(flavors) + len(images) > 1 else "needs"
    named = listed(flavors, "flavor"), listed(images, "image")
    span = str(least) if least == most else f"{least} to {most}"
    amount = "it" if images else f"{span}{_UNITS.get(name, '')}"
    there = f"the largest has {largest}" if largest else _none(analysis, name)
    if largest >= least:
        there = "min_unit and step_size of the hosts do not allow it"
    where = " on one host" * bool(largest)
    return f"{', '.join(filter(None, named))} {need} {amount}{where}; {there}"


def _none(analysis: Analysis, name: str) -> str:
    inventories = _inventories(analysis, name)
    total = sum(each.total or 0 for each in inventories)
    reserved = sum(each.reserved or 0 for each in inventories)
    if not inventories or reserved < total:
        return "no host has any"
    return "all of it is reserved" + f" ({reserved} of {total})" * bool(total)


def _fix(analysis: Analysis, name: str, largest: int) -> tuple[str | Command, str]:
    listing = openstack("resource provider inventory list", Placeholder("HOST_UUID"))
    if largest:
        return (
            listing,
            "use a smaller flavor or add a larger host; max_unit, and total less "
            "reserved times allocation_ratio, are the limits of a host",
        )
    if _inventories(analysis, name):
        return listing, "look at who reserved it, or add hosts that have it"
    return f"{where_to_look(name)}, or add hosts that have it", ""


def _inventories(analysis: Analysis, name: str) -> list[Stock]:
    return [each[name] for each in analysis.survey.stock.values() if name in each]


def _is_in_no_host(analysis: Analysis, clause: Resource) -> bool:
    is_known = clause.resource_class in analysis.survey.known_classes
    return is_known and not analysis.hosts.meeting([clause])


def _too_much(
    analysis: Analysis, flavor: StandaloneRequest
) -> dict[tuple[str, bool], int]:
    """By class, and by whether a server with a boot volume needs less and fits."""
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
    """Nova asks a second time without pinned CPUs, and an image can ask for them."""
    queries = (q for r in flavor.requests for q in (r, r.fallback) if q)
    clauses = (clause for query in queries for clause in query.clauses)
    derived = (c for c in clauses if isinstance(c, (Trait, RootTrait)))
    kept = [clause for clause in derived if not is_certain(clause)]
    return not (
        traits.matching_hosts(analysis, flavor, kept)
        or analysis.flavor_hosts.with_any_image(flavor)
    )


def _requests(analysis: Analysis, flavor: StandaloneRequest) -> tuple[Request, ...]:
    """The requests with the images if Nova rejects the flavor alone."""
    if flavor.requests:
        return flavor.requests
    found = []
    for image in analysis.images:
        for boots in (False, True):
            with contextlib.suppress(Refusal):
                found.append(analysis.builder.request(flavor.body, image.body, boots))
    return tuple(found)


def _unmet(analysis: Analysis, request: Request) -> dict[str, int]:
    unmet = [
        (clause.amount, clause.resource_class)
        for clause in request.clauses
        if isinstance(clause, Resource) and _is_in_no_host(analysis, clause)
    ]
    return {name: amount for amount, name in sorted(unmet)}


def _largest(analysis: Analysis, name: str) -> int:
    return max((each.most for each in _inventories(analysis, name)), default=0)


@rule("resources-not-together", SubjectKind.FLAVOR)
def not_together(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor that finds each of its amounts on some host, and no host has
    all.

    One host has enough CPUs, another enough RAM. Or each group needs a provider of its
    own (``group_policy=isolate``), and no host has that many.
    """
    if not analysis.all_hosts:
        return
    for flavor in analysis.flavors:
        amounts = [clause for clause in flavor.clauses if isinstance(clause, Resource)]
        if (
            flavor.requests
            and not analysis.flavor_hosts.matching(flavor)
            and not traits.matching_hosts(analysis, flavor, ())
            and not analysis.flavor_hosts.with_any_image(flavor)
            and {c.resource_class for c in amounts} <= analysis.survey.known_classes
            and not any(each.is_malformed for each in flavor.requests)
            and not _too_much(analysis, flavor)
        ):
            isolates = flavor.requests[0].group_policy == "isolate"
            apart = ", each group from another provider" * isolates
            all_of = listed(f"{c.amount} {c.resource_class}" for c in amounts)
            problem = f"no host can give all of {all_of}{apart}, even if it is empty"
            fix: str | Command = (
                "use a smaller flavor, or add a host that can give all of them"
            )
            when = ""
            nodes = analysis.hosts.facts.without_sizes(
                amounts, analysis.survey.nova.computes
            )
            if nodes:
                sizes = [e.resource_class for e in amounts if e.resource_class in SIZES]
                zeros = (Option("--property", f"resources:{e}=0") for e in sizes)
                problem += f"; {ranges(nodes)}: bare metal has no {', '.join(sizes)}"
                fix = openstack("flavor set", *zeros, flavor.id)
                when = "if the flavor is for bare metal"
            yield ERROR(flavor.name, problem, fix, when)


@rule("resources-no-pcpu", SubjectKind.RESOURCE_CLASS, SubjectKind.FLAVOR)
def no_pcpu(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* Flavors with pinned CPUs, in a cloud where no host has dedicated CPUs.

    Nova asks a second time with VCPU, so hosts without ``cpu_dedicated_set`` are
    candidates. A host pins such servers if ``cpu_shared_set`` is not set, and rejects
    them if it is. No API shows these options.
    """
    # A host with vcpu_pin_set pins, too (nova/virt/libvirt/driver.py,
    # _get_host_numa_topology).
    if not _is_in_no_host(analysis, Resource("", "PCPU", 1, ())):
        return
    pinned = tuple(
        flavor.name
        for flavor in analysis.flavors
        if any(request.fallback for request in flavor.requests)
        and analysis.flavor_hosts.matching(flavor)
    )
    if pinned:
        yield WARNING(
            "PCPU",
            f"{listed(pinned, 'flavor')}: pinned CPUs, and no host has dedicated CPUs; "
            "hosts with [compute]cpu_shared_set reject such servers",
            "set [compute]cpu_dedicated_set on hosts for pinned servers",
            flavors=pinned,
        )


AMOUNT_RULES = (no_host, no_pcpu, not_together)


# Flavors whose keys the host filters reject everywhere.


_REFUSED = {
    filter_state.NO_METADATA: "no aggregate of them has {key}={wanted}",
    filter_state.METADATA_DIFFERS: "{key}={wanted}, and their aggregates have {found}",
    filter_state.OTHER_FLAVORS: "their aggregates are for the flavors {found}",
    filter_state.NO_CAPABILITY: "{key}={wanted}, which they do not report",
    filter_state.CAPABILITY_DIFFERS: "{key}={wanted}, and they have {found}",
    filter_state.LARGER_THAN_HOST: "{key}: {wanted}, and they have {found} in all",
    filter_state.NO_NUMA_TOPOLOGY: "{key}, and they have no NUMA nodes ({found})",
    filter_state.TOO_FEW_NUMA_NODES: "{key}={wanted}, and they have {found} NUMA nodes",
    filter_state.OWN: "{wanted}; when empty they have {found}",
    filter_state.PAGES_DO_NOT_DIVIDE: "a NUMA node has {found} MB, which pages of "
    "{wanted} ({key}) do not divide",
}


@rule("filters-flavor-no-host", SubjectKind.FLAVOR)
def flavor_no_host(analysis: Analysis) -> Iterator[Fault]:
    """A flavor with keys that host filters reject on every host it fits.

    An error if the filters are known, else a warning. Hosts that are isolated from the
    flavor do not count, with the option on. It counts what the API shows of
    hosts and does not change with their servers: capabilities, aggregates, NUMA nodes.
    nova-compute counts NUMA nodes, and the pages of their RAM, even without
    NUMATopologyFilter. If Nova is asked, it says which hosts have too few or other NUMA
    nodes, pages and dedicated CPUs even when they are empty. PCI devices count only on
    hosts where no server has one.
    """
    specs = {flavor.id: _spec(analysis, flavor) for flavor in analysis.flavors}
    analysis.filtering.ask_nova(filter(None, specs.values()))
    for flavor in analysis.flavors:
        closed = frozenset[str]()
        if analysis.is_on(options.ISOLATION) and analysis.survey.has_private_flavors:
            closed = analysis.closed_for(flavor)
        spec = specs[flavor.id]
        rejected = _rejections(analysis, flavor, spec, closed) if spec else {}
        is_of_one = {name for name, _ in rejected} == {EXTRA_SPECS}
        if rejected and not (is_of_one and not closed):
            yield _rejected(analysis, flavor, rejected, closed)


def _spec(analysis: Analysis, flavor: StandaloneRequest) -> RequestSpec | None:
    with contextlib.suppress(Refusal):
        settings = analysis.survey.assumptions
        return Question(flavor.body, None, (), settings).request_spec()
    return None


def _rejections(
    analysis: Analysis,
    flavor: StandaloneRequest,
    spec: RequestSpec,
    closed: frozenset[str],
) -> Mapping[tuple[str, Fails], list[str]]:
    """Hosts by the filter and its answer; empty if the flavor could be on any host."""
    filtering, hosts = analysis.filtering, analysis.flavor_hosts
    fitting = (hosts.at_most(flavor) or analysis.all_hosts) - closed
    names = dict.fromkeys((*filtering.names, NUMA_TOPOLOGY))
    rejected: dict[tuple[str, Fails], list[str]] = {}
    with contextlib.suppress(Refusal):
        for host in filtering.states:
            uuid = host.compute.uuid
            if uuid not in fitting:
                continue
            answers = (
                (name, filtering.answers(name, spec, [host])[uuid]) for name in names
            )
            fails = (
                (name, answer)
                for name, answer in answers
                if isinstance(answer, Fails)
                and _lasts(answer)
                and not filtering.misspelled(answer.key)
                and (name in filtering.names or _is_claimed(answer))
            )
            first = next(fails, None)
            if first is None:
                able = hosts.matching(flavor)
                if uuid not in able:
                    able = hosts.with_any_image(flavor)
                # Another rule reports that none is large enough.
                if uuid in able or not able:
                    return {}
                continue
            rejected.setdefault(first, []).append(host.node)
        return rejected
    return {}


def _is_claimed(answer: Fails) -> bool:
    """Whether nova-compute rejects it, too; the reason is OWN if Nova says so."""
    claim = as_claim(answer)
    reasons = (*filter_state.CLAIMED, filter_state.OWN)
    return isinstance(claim, Fails) and claim.reason in reasons


def _lasts(answer: Fails) -> bool:
    path = answer.key.removeprefix(f"{CAPABILITIES_SCOPE}:").split(":")
    is_of_servers = answer.reason == filter_state.CAPABILITY_DIFFERS and is_of_use(path)
    return answer.reason in _REFUSED and not is_of_servers


def _rejected(
    analysis: Analysis,
    flavor: StandaloneRequest,
    rejected: Mapping[tuple[str, Fails], list[str]],
    closed: frozenset[str],
) -> Fault:
    is_sure = all(_is_claimed(fails) for _, fails in rejected)
    parts = (
        f"{filter_name} rejects the {ranges(hosts, 'host')}: "
        + _REFUSED[fails.reason].format(
            key=fails.key, wanted=fails.wanted, found=listed(fails.found)
        )
        for (filter_name, fails), hosts in rejected.items()
    )
    away = ranges(analysis.host_names(closed), "host")
    isolated = [f"isolation keeps it off the {away}"] if closed else []
    keys = listed(dict.fromkeys(fails.key for _, fails in rejected if fails.key))
    server = Question(flavor.body, None, (), analysis.survey.assumptions).server
    ram = " or ".join(map(str, compute.nearest_ram(server)))
    fix = f"correct {keys or 'the aggregates'}, or add hosts that match"
    if any(fails.reason == filter_state.OWN for _, fails in rejected):
        fix = "correct the hw: keys or the size, or add hosts that match"
    if any(fails.reason == filter_state.PAGES_DO_NOT_DIVIDE for _, fails in rejected):
        fix = f"use a flavor with {ram} MB of RAM" if ram else f"correct {keys}"
    return Fault(
        Severity.ERROR
        if is_sure
        else analysis.filtering.severity(Severity.ERROR, Severity.WARNING),
        flavor.name,
        f"no host is left: {'; '.join((*parts, *isolated))}",
        fix,
        hosts=tuple(sorted(host for hosts in rejected.values() for host in hosts)),
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


@rule("filters-image-no-host", SubjectKind.IMAGE)
def image_no_host(analysis: Analysis) -> Iterator[Fault]:
    """Images with a property that ImagePropertiesFilter finds on no host.

    An error if the filters were supplied, else a warning; a warning if only CPUs
    differ, because QEMU can emulate others. Add hosts that match, or use another image.
    """
    # nova/scheduler/filters/image_props_filter.py; no API shows whether QEMU emulates.
    if not analysis.filtering.is_on(IMAGE_PROPERTIES):
        return
    states = {_kind(state): state for state in analysis.filtering.states}
    alike: dict[tuple[str, ...], list[StandaloneRequest]] = {}
    for image in analysis.images:
        properties = tuple(str(image.body.get(key, "")) for key in _READ)
        if any(properties) and states:
            alike.setdefault(properties, []).append(image)
    causes: dict[_Cause, list[str]] = {}
    for images in alike.values():
        cause = _cause(analysis, images[0], states.values())
        if cause is not None:
            causes.setdefault(cause, []).extend(image.name for image in images)
    kinds = {own or hypervisor for hypervisor, _, own in states} - {""}
    have = f" (hosts: {listed(sorted(kinds))})" if kinds else ""
    severity = analysis.filtering.severity(Severity.ERROR, Severity.WARNING)
    for (key, value, is_emulated), names in causes.items():
        emulated = "; a server boots only if QEMU emulates it" * is_emulated
        same = (
            f"; the same is true of {listed(names[1:], 'image')}" if names[1:] else ""
        )
        yield Fault(
            Severity.WARNING if is_emulated else severity,
            names[0],
            f"{key}={value}, and no host is of that kind{have}{emulated}{same}",
            f"add hosts that match, or correct {key} if the image is not {value}",
            images=tuple(names),
        )


def _kind(state: HostState) -> tuple[str, int, str]:
    report = state.compute.report
    if report is None:
        return "", 0, ""
    return report.hypervisor_type, report.hypervisor_version, architecture(state)


def _cause(
    analysis: Analysis, image: StandaloneRequest, states: Collection[HostState]
) -> _Cause | None:
    # Its trait says the same.
    missing = traits.missing(analysis, image)
    keys = {origin.key for clause in missing for origin in clause.origins}
    with contextlib.suppress(Refusal):
        assumed = analysis.survey.assumptions
        spec = Question(ANY_FLAVOR, image.body, (), assumed).request_spec()
        fails, is_emulated = None, False
        answers = analysis.filtering.answers(IMAGE_PROPERTIES, spec, states)
        for state in states:
            answer = answers[state.compute.uuid]
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


def _differs(host: HostState, spec: RequestSpec, answer: FilterResult) -> bool:
    """Whether the host's CPU is of another architecture than the image."""
    wanted, own = spec.server.image.text(ARCHITECTURE), architecture(host)
    runs = (own, _ALSO_RUNS.get(own))
    is_doubtful = isinstance(answer, Unknown)
    return bool(is_doubtful and wanted and own) and wanted not in runs


FILTER_RULES = (flavor_no_host, image_no_host)
