"""Rules on images, and on resources that flavors ask for."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from osc_traitsched.core import errors
from osc_traitsched.core.check.analysis import Analysis, decisive, titles
from osc_traitsched.core.check.rule import enable, meant, off_by, rule, unset
from osc_traitsched.core.check.survey import (
    ERROR,
    NOTE,
    WARNING,
    Fault,
    Severity,
    StandaloneRequest,
    SubjectKind,
)
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import FORBIDDEN, REQUIRED
from osc_traitsched.core.nova import options, server
from osc_traitsched.core.nova.attachments import PCI_ALIAS, PROFILE
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.extra_specs import GROUP_POLICY
from osc_traitsched.core.nova.filter.special import EXTRA_SPECS
from osc_traitsched.core.nova.image import public_or_own_images
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.server import NotEvaluated
from osc_traitsched.core.placement import facts
from osc_traitsched.paste import Command, Option, Placeholder, openstack
from osc_traitsched.text import did_you_mean, listed, quoted, ranges

# Rules on images that no flavor boots, and on device profiles that are missing.


_GB = 1024**3
_PLAIN: Body = {"disk_format": "raw"}


@rule("images-not-active", SubjectKind.IMAGE)
def not_active(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An image that is queued, deactivated or killed.

    Nova rejects every new server of it. A queued image has no data yet. Images that
    are being uploaded, those of other projects and snapshots of servers are not
    reported.
    """
    survey = analysis.survey
    for body, name in titles(
        public_or_own_images(survey.idle_images, survey.own_project)
    ):
        if "instance_uuid" in body or body.get("image_type") == "snapshot":
            # A shelved server may need it.
            continue
        status, identity = body["status"], body["id"]
        problem = f"{status}: Nova rejects every new server of it"
        if status == "deactivated":
            fix = openstack("image set", Option("--activate"), identity)
            yield WARNING(name, problem, fix, "if it may be used")
        elif status in ("queued", "killed"):
            yield WARNING(name, problem, "upload its data, or delete it")


@rule("images-no-flavor", SubjectKind.IMAGE)
def no_flavor(analysis: Analysis) -> Iterator[Fault]:
    """An image that Nova rejects with every flavor.

    An error; a warning if the cloud has Cinder, and servers boot from a volume of the
    image. ``min_ram`` or ``min_disk`` is above every flavor, or its properties fit the
    CPUs, NUMA nodes or page sizes of none.
    """
    flavors = {
        repr(sorted(flavor.body.items(), key=str)): flavor.body
        for flavor in sorted(analysis.flavors, key=lambda each: each.body["ram"])
        if flavor.refusal is None and _accepts(analysis, flavor.body, _PLAIN)
    }
    largest_first = list(flavors.values())[::-1]
    judged: dict[str, tuple[Severity, Refusal] | None] = {}
    for image in analysis.images if largest_first else ():
        kind = repr((decisive(image.body), *_sizes(image.body)))
        if kind not in judged:
            judged[kind] = _refused(analysis, image, largest_first)
        if verdict := judged[kind]:
            severity, refusal = verdict
            volume = " with its disk on the host" * (severity is Severity.WARNING)
            yield Fault(
                severity,
                image.name,
                f"Nova rejects every server of it{volume}, whatever the flavor: "
                f"{errors.wrong(refusal)}",
                "add a flavor that fits, or correct the image: "
                f"{errors.right(refusal)}",
            )


def _sizes(image: Body) -> tuple[int, int, int]:
    """MB of memory, GB of disk, and GB of the image's data."""
    size = int(image.get("size") or 0)
    return image.get("min_ram") or 0, image.get("min_disk") or 0, -(-size // _GB)


def _refused(
    analysis: Analysis, image: StandaloneRequest, flavors: list[Body]
) -> tuple[Severity, Refusal] | None:
    """None, too, if Nova rejects it without its sizes: traits-rejected reports that."""
    settings = analysis.survey.assumptions
    refusals: list[Refusal] = []
    boots_from_volume = False
    for from_volume, flavor in itertools.product((False, True), flavors):
        spec = ServerSpec(boot_from_volume=from_volume)
        try:
            Question(flavor, image.body, (), settings, spec).request()
        except Refusal as refusal:
            refusals.append(refusal)
        else:
            if not from_volume:
                return None
            boots_from_volume = True
            break
    alone = image.refusal
    if alone and not any(_accepts(analysis, each, image.body) for each in flavors):
        return None
    is_warning = boots_from_volume and analysis.survey.has_volumes
    return (Severity.WARNING if is_warning else Severity.ERROR), refusals[0]


def _accepts(analysis: Analysis, flavor: Body, image: Body) -> bool:
    try:
        analysis.builder.request(flavor, decisive(image))
    except Refusal:
        return False
    return True


@rule("resources-no-profile", SubjectKind.FLAVOR)
def no_profile(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor whose device profile Cyborg does not have.

    nova-api rejects every server of it. Without Cyborg it rejects all device profiles.
    """
    missing = analysis.survey.missing_profiles
    for flavor in analysis.flavors:
        name = flavor.specs.get(PROFILE, "")
        if name in missing:
            yield ERROR(
                flavor.name,
                f"{PROFILE}={name}: {missing[name]}, and Nova rejects every server",
                f"create the profile in Cyborg, or correct {PROFILE}",
            )


RULES = (not_active, no_flavor)
PROFILE_RULES = (no_profile,)


# Rules on disk formats of images, and hosts that support them.


@rule("image-type-no-host", SubjectKind.FORMAT, SubjectKind.IMAGE)
def no_host(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A format of images that no host supports.

    No server of these images finds a host unless it boots from a volume. With disks in
    Ceph, hosts support raw images but not qcow2. Convert the image: nova-compute
    removes such a trait if it is added by hand.
    """
    files = Placeholder("FROM"), Placeholder("TO")
    for image_format in _enforced(analysis):
        if not image_format.hosts:
            formats = Option("-f", image_format.name), Option("-O", "raw")
            yield ERROR(
                image_format.name,
                f"no host has {image_format.trait}, so that none can take a server of "
                f"the {listed(image_format.images, 'image')} with its disk on the host",
                Command("convert", (*formats, *files), program="qemu-img"),
                "convert the image to raw, or any other format that a host supports",
                images=image_format.images,
            )


@rule("image-type-few-hosts", SubjectKind.FORMAT, SubjectKind.IMAGE)
def few_hosts(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* A format that some hosts lack, while the scheduler enforces formats.

    Servers land correctly, but hosts fill unevenly.
    """
    # Formats that leave a flavor without a host have a rule of their own.
    for image_format in _enforced(analysis):
        every = analysis.all_hosts
        partial = image_format.hosts and image_format.hosts != every
        if partial and not _shut_out(analysis, image_format):
            hosts = analysis.host_names(every - image_format.hosts)
            yield NOTE(
                image_format.name,
                f"{len(hosts)} of {len(every)} hosts lack {image_format.trait} "
                f"and are left out for the {listed(image_format.images, 'image')}: "
                f"{ranges(hosts, 'host')}",
                images=image_format.images,
                hosts=hosts,
            )


@rule("image-type-flavor-no-host", SubjectKind.FORMAT, SubjectKind.FLAVOR)
def flavor_no_host(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A format that no host of some flavors supports, but other hosts do.

    Images that can change the flavor's CPUs or amounts are not judged.
    """
    for image_format in _enforced(analysis):
        flavors = _shut_out(analysis, image_format)
        if image_format.hosts and flavors:
            yield WARNING(
                image_format.name,
                f"no host that can take the {listed(flavors, 'flavor')} has "
                f"{image_format.trait}, which the "
                f"{listed(image_format.plain, 'image')} asks for; a server booted from "
                "a volume is not concerned",
                "offer the image in a format of those hosts, or do not combine the two",
                flavors=flavors,
                images=image_format.plain,
            )


@rule("image-type-off", SubjectKind.OPTION, SubjectKind.IMAGE)
def off(analysis: Analysis) -> Iterator[Fault]:
    """Formats that not all hosts support, while the scheduler ignores formats.

    An error if the option was supplied, else a warning. Servers can land on hosts that
    do not support their image. There they fail, or nova-compute converts every disk.
    """
    setting = analysis.setting(options.IMAGE_TYPE)
    if setting.value:
        return
    every = analysis.all_hosts
    partial = [each for each in _formats(analysis) if each.hosts != every]
    if partial:
        images = tuple(name for each in partial for name in each.images)
        supported = ", ".join(f"{each.name} by {len(each.hosts)}" for each in partial)
        yield Fault(
            Severity.ERROR if setting.given else Severity.WARNING,
            options.IMAGE_TYPE,
            f"{off_by(setting)}, and of {len(every)} hosts not all support the formats "
            f"in use: {supported}; servers of the {listed(images, 'image')} can land "
            "on one that does not",
            enable(options.IMAGE_TYPE, setting),
            images=images,
        )


class _Format(NamedTuple):
    """A disk format with a trait that this cloud knows.

    :ivar plain: names of images that change nothing about a flavor's demand but traits
    :ivar hosts: roots of the hosts that have the trait
    """

    name: str
    trait: str
    images: tuple[str, ...]
    plain: tuple[str, ...]
    hosts: frozenset[str]


def _enforced(analysis: Analysis) -> Iterator[_Format]:
    return _formats(analysis) if analysis.is_on(options.IMAGE_TYPE) else iter(())


def _formats(analysis: Analysis) -> Iterator[_Format]:
    known, clauses = analysis.survey.known_traits, {}
    images: dict[str, list[StandaloneRequest]] = {}
    for image in analysis.images:
        if image.format is not None and image.format.name in known:
            name = str(image.body.get("disk_format"))
            clauses[name] = image.format
            images.setdefault(name, []).append(image)
    for name in sorted(images) if analysis.all_hosts else ():
        yield _Format(
            name,
            clauses[name].name,
            tuple(image.name for image in images[name]),
            tuple(i.name for i in images[name] if not i.shifts and not i.refusal),
            analysis.hosts.meeting([clauses[name]]),
        )


def _shut_out(analysis: Analysis, image_format: _Format) -> tuple[str, ...]:
    return tuple(
        flavor.name
        for flavor in (analysis.flavors if image_format.plain else ())
        if flavor.requests
        and (able := analysis.hosts.matching_hosts(flavor.requests[0]))
        and able.isdisjoint(image_format.hosts)
    )


TYPE_RULES = (no_host, few_hosts, flavor_no_host, off)


# Rules on amounts of flavors, and their groups.


#: Input that Nova drops from a flavor's amounts and groups, and why.
_IGNORED = {
    server.UNKNOWN_RESOURCE_CLASS: "no resource class",
    server.BAD_AMOUNT: "no amount",
    server.BAD_SUFFIX: "no suffix of a group",
}

#: Starts of classes that nova-compute creates for its devices.
_OF_COMPUTES = ("CUSTOM_PCI_", "CUSTOM_PMEM_NAMESPACE_")


@rule("resources-unknown", SubjectKind.RESOURCE_CLASS, SubjectKind.FLAVOR)
def unknown(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A resource class of flavors that Placement does not know.

    Placement answers 400 to every such request. nova-compute creates the classes of its
    devices and of ``provider.yaml``; those of PCI devices only with
    ``[pci]report_in_placement``.
    """
    # placement/handlers/allocation_candidate.py, list_allocation_candidates
    known = analysis.survey.known_classes
    asked = [
        (clause.resource_class, flavor.name, {each.key for each in clause.origins})
        for flavor in analysis.flavors
        for request in flavor.requests
        for clause in request.clauses
        if isinstance(clause, Resource) and clause.resource_class not in known
    ]
    for name in sorted({name for name, *_ in asked}):
        flavors = tuple(dict.fromkeys(f for each, f, _ in asked if each == name))
        is_of_alias = any(PCI_ALIAS in keys for each, _, keys in asked if each == name)
        nearest = trait.nearest(name, known)
        fix = "correct the flavor's key, or give providers an inventory of the class"
        if is_of_alias or name.startswith(_OF_COMPUTES):
            correct = "correct the key if that is meant, else " * bool(nearest)
            of_class = _OF_COMPUTES[0] if is_of_alias else name
            fix = f"{correct}{trait.where_to_look(of_class)}"
        yield ERROR(
            name,
            "Placement does not know it, and rejects every request of the "
            f"{listed(flavors, 'flavor')}{did_you_mean(nearest)}",
            fix,
            flavors=flavors,
        )


@rule("resources-ignored", SubjectKind.FLAVOR)
def ignored(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor with keys for amounts or groups that Nova ignores.

    Nova only logs an unknown class, an amount that is not a number, or an invalid
    suffix. Servers land on hosts without the resource.
    """
    # nova/scheduler/utils.py, ResourceRequest._process_extra_specs
    for flavor in analysis.flavors:
        dropped = [each for each in flavor.not_evaluated if each.kind in _IGNORED]
        pairs = (f"{e.key}={e.value} ({_IGNORED[e.kind]})" for e in dropped)
        if dropped:
            near = did_you_mean([each.meant for each in dropped if each.meant])
            yield ERROR(
                flavor.name,
                f"Nova ignores {', '.join(pairs)}{near}",
                unset(SubjectKind.FLAVOR, (each.key for each in dropped), flavor.id),
            )


@rule("resources-near-key", SubjectKind.FLAVOR)
def near_key(analysis: Analysis) -> Iterator[Fault]:
    """A key of a flavor, or a property of an image, that resembles one Nova reads.

    A warning if Nova drops it without an error: servers get hosts, but not what the key
    asks for. An error if no server gets a host: Nova reads ``traits:X`` as a trait
    of a group "s", and AggregateInstanceExtraSpecsFilter looks for a key without a
    colon in aggregates. Glance keeps any property.
    """
    for demand in analysis.demands:
        for each in demand.not_evaluated:
            is_image = demand.kind is SubjectKind.IMAGE
            if each.meant and (is_image or analysis.filtering.misspelled(each.key)):
                severity, problem = _misread(analysis, demand, each)
                is_trait = each.meant.startswith("trait:")
                value = is_trait and meant(each.value, (REQUIRED, FORBIDDEN))
                pair = f"{each.meant}={value or each.value}"
                is_set = each.meant in (demand.specs or demand.body)
                yield Fault(
                    severity,
                    demand.name,
                    f"{problem}{did_you_mean([each.meant])}",
                    unset(demand.kind, [each.key], demand.id),
                    "" if is_set else f"set {pair} first, if that is meant",
                    subject=demand.kind,
                )


def _misread(
    analysis: Analysis, demand: StandaloneRequest, each: NotEvaluated
) -> tuple[Severity, str]:
    """What a misspelled key does."""
    pair, filtering = f"{each.key}={each.value}", analysis.filtering
    rejects = [request.is_malformed for request in demand.requests]
    is_refused = bool(rejects) and all(rejects)
    rejected = ", and Placement rejects every request of it" * is_refused
    severity = Severity.ERROR if is_refused else Severity.WARNING
    if each.kind == server.MISREAD_KEY and ":" in each.key:
        return severity, f'Nova reads {pair} as a key of a group "s"{rejected}'
    if each.kind == server.MISREAD_KEY and filtering.is_on(EXTRA_SPECS):
        return (
            filtering.severity(Severity.ERROR, Severity.WARNING),
            f"{EXTRA_SPECS} looks for {pair} in the aggregates of hosts, and keeps all "
            "hosts out",
        )
    if each.meant == GROUP_POLICY:
        return severity, f"Nova ignores {pair}{rejected}"
    return Severity.WARNING, f"Nova ignores {pair}"


def _is_misread(analysis: Analysis, flavor: StandaloneRequest) -> bool:
    """Whether a misspelled key explains why Placement rejects the flavor."""
    return any(
        each.meant == GROUP_POLICY
        or (each.kind == server.MISREAD_KEY and ":" in each.key)
        for each in flavor.not_evaluated
        if analysis.filtering.misspelled(each.key)
    )


@rule("resources-no-policy", SubjectKind.FLAVOR)
def no_policy(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor with several groups and no policy for sharing providers.

    Placement answers 400 to a request with two groups and no ``group_policy``. Use
    ``isolate`` if each group needs a provider of its own, else ``none``.
    """
    for flavor in analysis.flavors:
        lacking = [request.lacks_group_policy for request in flavor.requests]
        if lacking and all(lacking) and not _is_misread(analysis, flavor):
            groups = tuple(filter(None, flavor.requests[0].groups))
            value = flavor.specs.get(GROUP_POLICY)
            unread = f" (Nova ignores {quoted(value)})" if value else ""
            policy = Option("--property", f"{GROUP_POLICY}=none")
            yield ERROR(
                flavor.name,
                f"{listed(groups, 'group')} and no {GROUP_POLICY}{unread}: Placement "
                "rejects every request of it",
                openstack("flavor set", policy, flavor.id),
                "isolate instead of none gives each group a provider of its own",
                groups=groups,
            )


@rule("resources-none", SubjectKind.FLAVOR)
def none(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor with a group that has no amount.

    Placement answers 400. ``resources:VCPU=0`` and the like remove the flavor's own
    amounts; bare metal flavors need another class instead.
    """
    for flavor in analysis.flavors:
        empty = [request.groups_without_amounts for request in flavor.requests]
        # Some get an amount from a local disk or an image.
        is_fine = not empty or not all(empty) or _is_misread(analysis, flavor)
        if is_fine or _images_add_amounts(analysis, flavor):
            continue
        suffixes = [suffix for suffix in empty[0] if suffix] or [""]
        problem = f"{listed(suffixes, 'group')}: traits and no amount, and"
        if suffixes == [""]:
            problem = "asks for no amount outside of groups:"
        yield ERROR(
            flavor.name,
            f"{problem} Placement rejects every request of it",
            f"ask for an amount of some class by resources{suffixes[0]}:CLASS=AMOUNT",
            groups=tuple(filter(None, empty[0])),
        )


def _images_add_amounts(analysis: Analysis, flavor: StandaloneRequest) -> bool:
    for image in analysis.images:
        with contextlib.suppress(Refusal):
            request = analysis.builder.request(flavor.body, image.body)
            if not request.groups_without_amounts:
                return True
    return False


@rule("resources-leaked", SubjectKind.HOST)
def leaked(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A host without servers that has allocations in Placement.

    Servers that were deleted, or moves that failed, left allocations. They keep the
    host full and block ``openstack compute service delete``. A server that is being
    built looks the same: check again after a minute.
    """
    for node in analysis.survey.nova.computes:
        if used := facts.leaked(node, analysis.survey.stock.get(node.uuid, {})):
            yield WARNING(
                node.node,
                f"Placement counts {used} MB of memory in use, but Nova has no server "
                "there",
                Command("placement audit --verbose", program="nova-manage"),
                "if a second check a minute later says the same, list the allocations",
            )


RESOURCE_RULES = (unknown, ignored, near_key, no_policy, none, leaked)
