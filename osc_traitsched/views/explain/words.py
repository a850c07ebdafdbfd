"""Words that the text and the document of an explanation share."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from osc_traitsched.core import errors
from osc_traitsched.core.answer import Reason
from osc_traitsched.core.errors import Refusal, TraitSchedError
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.judge.doubts import OptionImpact, ReleaseImpact
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.judge.reasons import above_limit
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Clause,
    Condition,
    MemberOf,
    Origin,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.options import Value
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import (
    BAD_AMOUNT,
    BAD_GROUP_POLICY,
    BAD_SUFFIX,
    BAD_TRAIT_VALUE,
    DEVICE_PROFILE,
    FORCED_HOST,
    IMAGE_METADATA,
    IMAGE_TYPE,
    MISREAD_KEY,
    MISSPELLED_KEY,
    PCI_ALIAS,
    PCI_ALIAS_IN_PLACEMENT,
    PROJECT,
    REQUESTED_DESTINATION,
    TENANT,
    UNKNOWN_RESOURCE_CLASS,
    VOLUME_SIZE,
    VOLUME_ZONE,
    ZERO_DISK,
    ZONE,
    Parts,
    Volume,
)
from osc_traitsched.core.nova.server import NotEvaluated as Unread
from osc_traitsched.core.releases import release
from osc_traitsched.text import agreed, between, count, listed, plural, ranges
from osc_traitsched.views.explain import reasons

# The words for clauses, their origins, figures and assumptions.


#: Units of resource classes, and short names.
_MEASURED = {
    "MEMORY_MB": ("MB", "RAM"),
    "DISK_GB": ("GB", "disk"),
    "NET_BW_EGR_KILOBIT_PER_SEC": ("kbit/s", "egress bandwidth"),
    "NET_BW_IGR_KILOBIT_PER_SEC": ("kbit/s", "ingress bandwidth"),
}

#: What traits that Nova's own prefilters ask for mean.
_MEANS = {
    (DISABLED, True): "nova-compute enabled",
    ("OWNER_NOVA", False): "owned by Nova",
}
_IMAGE_TYPE = "COMPUTE_IMAGE_TYPE_"


def clause(each: Condition, judgement: RequestResult) -> str:
    """A condition in words, with Placement's name if it differs."""
    if isinstance(each, Resource):
        name = each.resource_class
        beside = f" ({name})" if name in _MEASURED else ""
        return f"{amount(each.amount, name)}{group(each)}{beside}"
    if isinstance(each, MemberOf):
        where = "outside" if each.forbidden else "in"
        return f"{where} {_place(each, *_named(judgement.question))}"
    if isinstance(each, AFTER_PLACEMENT):
        return reasons.wanted(each)
    suffix = "" if isinstance(each, RootTrait) else group(each)
    named = f"not {each.name}" if each.forbidden else each.name
    means = _MEANS.get((each.name, each.forbidden))
    means = means or image_type(each)
    return f"{means} ({named})" if means else f"trait {named}{suffix}"


def unmet(clause: Clause, judgement: Judgement, number: int = 1) -> reasons.ClauseWords:
    """Why a number of hosts fail a condition: ``lacks trait X``."""
    if isinstance(clause, Resource):
        needed = f"{clause.amount}{unit(clause.resource_class)}"
        where = f", {group(clause).strip(' ()')}" if group(clause) else ""
        what = agreed(f"is short of {noun(clause.resource_class)}", number)
        return reasons.ClauseWords(what, f"need {needed}{where}")
    what = lacked(clause, *_named(judgement.question))
    return reasons.ClauseWords(agreed(what, number))


def lacked(
    clause: Trait | RootTrait | MemberOf,
    aggregates: Mapping[str, str],
    zone: str | None = None,
) -> str:
    """Why a host fails a condition on traits or aggregates (names by UUID)."""
    if isinstance(clause, MemberOf):
        where = "in" if clause.forbidden else "outside"
        return f"is {where} {_place(clause, aggregates, zone)}"
    if clause.forbidden and clause.name == DISABLED:
        return "is disabled"
    suffix = group(clause) if isinstance(clause, Trait) else ""
    if clause.forbidden:
        return f"has trait {clause.name}{suffix}"
    images = image_type(clause)
    return (
        f"lacks {f'support for {images}' if images else f'trait {clause.name}{suffix}'}"
    )


def image_type(each: Trait | RootTrait) -> str:
    """The images that a trait stands for: ``qcow2 images``; empty for other traits."""
    if each.forbidden or not each.name.startswith(_IMAGE_TYPE):
        return ""
    return f"{each.name[len(_IMAGE_TYPE) :].lower()} images"


def clauses(found: Iterable[Condition], judgement: Judgement) -> str:
    """Several conditions in words."""
    return " and ".join(clause(each, judgement) for each in found)


def amount(number: int, resource_class: str) -> str:
    """An amount in words: ``4096 MB of RAM``, ``2 VGPU``."""
    of = " of" if unit(resource_class) else ""
    return f"{number}{unit(resource_class)}{of} {noun(resource_class)}"


def unit(resource_class: str) -> str:
    """The unit of a resource class, after a space; or nothing."""
    name, _ = _MEASURED.get(resource_class, ("", ""))
    return f" {name}" if name else ""


def noun(resource_class: str) -> str:
    """Short name of a resource class: ``RAM``."""
    return _MEASURED.get(resource_class, ("", resource_class))[1]


def _named(question: Question) -> tuple[Mapping[str, str], str | None]:
    names = {each.uuid: each.name for each in question.aggregates}
    return names, question.needed_zone


def _place(asked: MemberOf, aggregates: Mapping[str, str], zone: str | None) -> str:
    names = " or ".join(sorted(aggregates.get(uuid, uuid) for uuid in asked.aggregates))
    row = prefilter.row_of(asked)
    place = row.place if row else "aggregate {names}"
    return place.format(names=names, zone=zone)


def group(each: Resource | Trait) -> str:
    """The group in words; empty for the unsuffixed one."""
    ports = [one.name for one in each.origins if one.kind == "port"]
    if ports and each.group:
        return f" (port {ports[0]})"
    return f" (group {each.group})" if each.group else ""


def for_others(host: Compute | None, question: Question) -> str:
    """The aggregates of a host that are for other projects; empty for none."""
    names = [
        each.name
        for each in question.aggregates
        if host is not None and host.service_host in each.hosts
        if each.project_ids and question.project not in each.project_ids
    ]
    return f" ({listed(names)}: for other projects)" if names else ""


def effect(impact: OptionImpact | ReleaseImpact, is_judged: bool = True) -> str:
    """How an option or another release would change the verdict.

    :param is_judged: Nova does not reject the request at once
    """
    if not is_judged:
        return "Nova does not reject it"
    if impact.rejected:
        return "Nova would reject"
    more, fewer = (
        count(number, f"{word} host") if number else ""
        for number, word in ((impact.gained, "more"), (impact.lost, "fewer"))
    )
    return ", ".join(filter(None, (more, fewer)))


def other_releases(judgement: RequestResult) -> Iterator[str]:
    """Lines on the releases that the cloud may run and that change the verdict."""
    for impact in judgement.doubts.releases:
        yield (
            f"If the cloud runs {release(impact.release)}, which has the same compute "
            f"API: {effect(impact, isinstance(judgement, Judgement))} (see "
            "--nova-release)."
        )


def cut_off(judgement: Judgement) -> Iterator[str]:
    """Lines on the candidates that Placement's answer left out."""
    limited = max(above_limit(judgement), default=0)
    if judgement.is_limited and limited:
        limit = judgement.request.limit
        yield (
            f"Nova reads only {limit} of Placement's {limited} answers. Filters may "
            f"reject all {limit}. Set [scheduler]max_placement_results to {limited}."
        )
    names = ranges(host.name for host in judgement.cut_off_candidates)
    if names:
        yield (
            f"Nova may not see {names}: Placement cuts its answers "
            "([placement]max_allocation_candidates)."
        )


def aggregates(uuids: Iterable[str], question: Question) -> list[str]:
    """The names of aggregates, sorted; a UUID if the name is unknown."""
    names = {each.uuid: each.name for each in question.aggregates}
    return sorted(names.get(uuid, uuid) for uuid in uuids)


def origins(each: Condition) -> str:
    """Where a condition comes from."""
    return ", ".join(origin(one) for one in each.origins)


def short_origin(each: Condition, judgement: Judgement) -> str:
    """The flavor or image that a condition comes from; else empty."""
    kinds = {one.kind for one in each.origins}
    if "flavor" in kinds:
        return f"flavor {judgement.question.flavor['name']}"
    image = judgement.question.image
    if "image" in kinds and image is not None:
        return f"image {image.get('name') or image.get('id')}".rstrip()
    return ""


def origin(each: Origin) -> str:
    """One origin in words."""
    if each.kind == "aggregate":
        required = "=required" if each.key.startswith("trait:") else ""
        return f"aggregate {each.name} {each.key}{required}"
    if each.kind in ("port", "network"):
        return f"{each.kind} {each.name} {each.key}"
    if each.kind != "prefilter" or not each.option:
        return f"{each.kind} {each.key}"
    section, _, name = each.option.partition(".")
    return f"{each.kind} {each.key} ([{section}]{name})"


def request(question: Question, project: str = "") -> str:
    """The request, in one line; ``project`` is the name of its project."""
    flavor, spec = question.flavor, question.spec
    parts = [f"flavor {flavor['name']} ({size(flavor)})"]
    if not question.image:
        parts.append("no image" if question.image is None else "no image named")
    else:
        name = question.image.get("name") or question.image.get("id")
        parts.append(
            f"image {name} ({question.image.get('disk_format') or 'no format'})"
        )
    if spec.boot_from_volume:
        parts.append("booted from a volume")
    if spec.zone:
        parts.append(f"availability zone {spec.zone}")
    if spec.on_host:
        parts.append(f"on host {spec.on_host}")
    if spec.on_node:
        parts.append(f"on node {spec.on_node}")
    if question.project:
        parts.append(f"project {project or spec.project or question.project}")
    given = question.parts
    parts += [f"port {each.label}" for each in given.ports]
    parts += [f"network {each.label}" for each in given.networks]
    parts += [f"volume {each.label}" for each in given.volumes]
    parts += [f"hint {k}={v}" for k, values in spec.hints.items() for v in values]
    if question.group is not None:
        parts.append(f"server group {question.group.name} ({question.group.policy})")
    if spec.count > 1:
        parts.append(f"{spec.count} servers")
    return ", ".join(parts)


def size(flavor: Body) -> str:
    """The size of a flavor."""
    return f"{flavor['vcpus']} VCPU, {flavor['ram']} MB, {flavor['disk']} GB"


def verdict(judgement: RequestResult) -> str:
    """The answer, in one line."""
    if isinstance(judgement, RefusedRequest):
        return "Rejected before scheduling; no host was tried."
    total, found = judgement.total_hosts, len(judgement.candidates)
    if judgement.refusal is not None:
        given = len(judgement.candidates.placement_hosts)
        return (
            f"Rejected; Placement alone would give {given} of {count(total, 'host')}."
        )
    if judgement.open.depends:
        return reasons.headline(judgement)
    may = len(judgement.candidates.uncertain)
    if not found:
        if judgement.is_too_many:
            wanted = judgement.question.spec.count
            more = f"all hosts together can never take {wanted}"
            return f"No host can take one now: 0 of {total}; {more}."
        return f"No host {_when(judgement)}: 0 of {total}."
    if may == found and judgement.has_room:
        return f"It is not known whether a host can take it: {may} of {total} may."
    hosts = f"{found - may} of {count(total, 'host')}"
    down = _down(judgement)
    if down and down == found - may:
        where = "there" if down == 1 else "on all of them"
        return f"Placement gives {hosts}, but nova-compute is down {where}."
    remark = f" ({down} of them with nova-compute down)" if down else ""
    remark += f", {may} more may" if may else ""
    wanted = judgement.question.spec.count
    if wanted == 1:
        return f"{hosts} can take it{remark}."
    if not judgement.has_room:
        return _no_room(judgement)
    least, most = judgement.room.least, judgement.room.most
    number = f"{between(least, most)} {plural('such server', most)}"
    room = f"there is room for {number}"
    if judgement.is_room_sure:
        return f"All {wanted} find a host: {hosts} can take one{remark}; {room}."
    return f"Maybe all {wanted} find a host: {hosts} can take one{remark}; {room}."


def _when(judgement: Judgement) -> str:
    """Take it now, or ever; neither if that is not known.

    A server that exists can be unpinned from its zone.
    """
    zone = judgement.question.needed_zone
    if judgement.reason in (Reason.ISOLATED, Reason.MISCONFIGURED):
        is_pinned = zone and judgement.question.move is not None
        return f"in {zone} can ever take it" if is_pinned else "can ever take it"
    now = "" if judgement.reason is Reason.UNKNOWN else " now"
    return f"can take it{now}"


def _no_room(judgement: Judgement) -> str:
    wanted, room = judgement.question.spec.count, judgement.room
    hosts = judgement.room_by_host
    most = sorted(hosts, key=lambda name: -hosts[name])
    by_host = listed(f"{name} {hosts[name]}" for name in most)
    where = f" ({by_host})" if room.least == sum(hosts.values()) else ""
    return (
        f"Room for {between(room.least, room.most)} of {wanted}{where}; Nova would "
        f"fail all {wanted}."
    )


def _down(judgement: Judgement) -> int:
    unsure = frozenset(judgement.candidates.uncertain)
    return sum(
        1
        for host in judgement.candidates
        if host not in unsure
        and (compute := judgement.computes.get(host.uuid))
        and not compute.is_up
    )


def value(found: Value) -> str:
    """An option's value as nova.conf has it."""
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, tuple):
        return ",".join(found)
    return "" if found is None else str(found)


# What an judgement does not cover, named.


class NotEvaluated(NamedTuple):
    """Something that an answer does not cover: a word for programs, and a line."""

    kind: str
    text: str


def not_evaluated(
    judgement: RequestResult, project: str = ""
) -> Iterator[NotEvaluated]:
    """What the answer does not cover; ``project`` is the name of the request's."""
    parts = judgement.question.parts
    if judgement.request is not None and judgement.question.is_forced:
        text = "nova-scheduler skips its filters for a host that is named"
        yield NotEvaluated("host filters", text)
    if not (parts.ports or parts.networks or judgement.question.is_kept):
        text = "networks and ports: none were named (--port, --network)"
        yield NotEvaluated("ports", text)
    for port in parts.ports:
        if not port.is_request_shown:
            text = (
                f"port {port.label}: Neutron shows no resource_request; it does so to "
                "administrators, where it has port-resource-request"
            )
            yield NotEvaluated("resource request", text)
    if parts.profiles_unread is not None:
        text = f"device profiles: {parts.profiles_unread!s}"
        yield NotEvaluated("device profiles", text)
    for volume in _many(parts):
        yield NotEvaluated("multiattach", _shared(volume))
    if judgement.request is not None:
        for each in judgement.request.not_evaluated:
            if project and each.kind == TENANT:
                each = dataclasses.replace(each, key=project)
            yield NotEvaluated(each.kind, _line(each))


#: nova/pci/request.py, ``_translate_alias_to_requests``
_PCI = (
    "PCI devices of {named}: nova-api rejects the server (HTTP 400) unless [pci]alias "
    "of its nova.conf has the alias"
)

#: What nova-api rejects to a user by default, and the policy that allows it.
_POLICIES = {
    ZERO_DISK: (
        "an image on a disk of 0 GB",
        "os_compute_api:servers:create:zero_disk_flavor",
    ),
    FORCED_HOST: (
        "a host that is named",
        "os_compute_api:servers:create:forced_host",
    ),
    REQUESTED_DESTINATION: (
        "a host that is asked for",
        "compute:servers:create:requested_destination",
    ),
}

#: Sentences for what Nova's own code leaves out, or what was not given.
_SENTENCES = {
    PCI_ALIAS: f"{_PCI}; then a filter of nova-scheduler's decides",
    PCI_ALIAS_IN_PLACEMENT: f"{_PCI}, which says what Placement is asked for",
    **{
        kind: f"{{named}}: nova-api rejects {what} (HTTP 403) unless the policy "
        f"{policy} allows it to the user; by default it takes admin"
        for kind, (what, policy) in _POLICIES.items()
    },
    DEVICE_PROFILE: "device profile {named}: Cyborg knows what it asks for; "
    "--device-profile FILE says it, too",
    VOLUME_SIZE: "min_disk={value} of the image: nova-api rejects a new volume that is "
    "smaller (HTTP 400)",
    VOLUME_ZONE: "volume {key} is in the default zone {value}, for which "
    "nova-api asks for no zone; as [cinder]cross_az_attach is off, nova-compute ends "
    "the build on a host of another zone",
    PROJECT: "aggregates for projects: no project is given",
    BAD_GROUP_POLICY: "{named}: ignored by Nova, not a group policy",
    UNKNOWN_RESOURCE_CLASS: "{named}: ignored by Nova, not a resource class",
    BAD_AMOUNT: "{named}: ignored by Nova, not an amount",
    BAD_TRAIT_VALUE: "{named}: ignored by Nova, neither required nor forbidden",
    BAD_SUFFIX: "{named}: ignored by Nova, not a group's suffix",
    MISSPELLED_KEY: "{named}: ignored by Nova; did you mean {meant}?",
    MISREAD_KEY: "{named}: did you mean {meant}?",
    IMAGE_TYPE: "{named}: no trait stands for this format; it restricts nothing",
    IMAGE_METADATA: "{named}: no trait stands for it, and so all of "
    f"{prefilter.IMAGES} adds nothing",
    ZONE: "No aggregate defines zone {named}; Placement ignores it.",
    TENANT: "No aggregate is for project {named}; it is not restricted.",
}


def _many(parts: Parts) -> list[Volume]:
    return [each for each in parts.volumes if each.is_multiattach]


def _shared(volume: Volume) -> str:
    """What nova-compute checks when it attaches a volume to several servers.

    nova/virt/block_device.py, ``DriverVolumeBlockDevice.attach``
    """
    return (
        f"volume {volume.label}: several servers can have it, which only a host with "
        "COMPUTE_VOLUME_MULTI_ATTACH can do; Nova does not ask Placement for that trait"
    )


#: Keys that Nova drops, so that the server gets less than they ask for.
_DROPPED = frozenset(
    [
        BAD_TRAIT_VALUE,
        BAD_AMOUNT,
        BAD_SUFFIX,
        UNKNOWN_RESOURCE_CLASS,
        MISSPELLED_KEY,
        MISREAD_KEY,
    ]
)


def _line(each: Unread) -> str:
    named = f"{each.key}={each.value}" if each.value else each.key
    sentence = _SENTENCES.get(each.kind, f"{each.kind}: {{named}}")
    if each.kind == UNKNOWN_RESOURCE_CLASS and each.meant:
        sentence += "; did you mean {meant}?"
    return sentence.format(
        named=named, key=each.key, value=each.value, meant=each.meant
    )


#: nova/scheduler/request_filter.py, ``require_tenant_aggregate``
AGGREGATE_NEEDED = (
    "Depends on nova.conf: Nova rejects it if placement_aggregate_required_for_tenants "
    "is on."
)


def refusing(request: Request | None, question: Question) -> Iterator[str]:
    """Keys that Nova ignores, and what nova-api may reject.

    A policy counts for a plain user, so if a project is named.
    """
    if request is None or question.is_kept:
        return
    for each in request.not_evaluated:
        if each.kind in _DROPPED:
            yield _line(each) if each.meant else f"{_line(each)}."
        elif each.kind == VOLUME_SIZE:
            yield (
                f"nova-api rejects a new volume of less than {each.value} GB (HTTP "
                "400): min_disk of the image."
            )
        elif each.kind in _POLICIES and question.spec.project is not None:
            what, policy = _POLICIES[each.kind]
            yield (
                f"Only for admins by default: nova-api rejects {what} (HTTP 403) "
                f"unless policy {policy} allows it."
            )


# A refusal of the request as a whole.


def text(refusal: TraitSchedError, is_moved: bool) -> str:
    """Who rejects the request (of a move) and why, in a sentence."""
    if is_moved and isinstance(refusal, Refusal):
        return errors.sentence(refusal, is_moved)
    return str(refusal)
