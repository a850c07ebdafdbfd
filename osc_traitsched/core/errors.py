"""All errors, with their messages: first the problem, then the fix, in one line.

A caller can tell three kinds apart: ``BadQuestion`` (the user named something unknown
or impossible), ``AnswerIsNo`` (the request is valid, but refused), and ``CloudBroke``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from osc_traitsched.text import Namesake, did_you_mean, listed, quoted, visible

# The three kinds of errors: a bad question, the answer no, and a cloud that broke.


class TraitSchedError(Exception):
    """The base class of this project's errors."""

    @property
    def reasons(self) -> str:
        """What a refusal is for, without ``Refused`` and ``--force``."""
        message = str(self).removeprefix("Refused: ")
        return message.removesuffix("; --force overrides this")

    @property
    def brief(self) -> str:
        """The reasons in few words."""
        return self.reasons


@dataclasses.dataclass(eq=False)
class Unexpected(TraitSchedError):
    """An error of this project, not of a service or the user."""

    error: Exception

    def __str__(self) -> str:
        return internal(self.error)


class BadQuestion(TraitSchedError):
    """The user named something unknown or impossible."""


class AnswerIsNo(TraitSchedError):
    """The request is valid, but refused.

    :ivar ends_by_enabling: the refusal ends once hosts are enabled
    """

    ends_by_enabling: bool = False


def internal(error: Exception) -> str:
    """A line about an error of this project."""
    if isinstance(error, MemoryError):
        return "out of memory"
    text = ": ".join(filter(None, (type(error).__name__, str(error))))
    line = " ".join(text.split())
    return f"internal error: {visible(line)}; --debug shows where"


# Messages for Nova's refusals: the problem and the fix.
#
# Some of Nova's exceptions are Python's own, and would look like a crash of this
# command.


_MOST_VALUES = 10


@dataclasses.dataclass(frozen=True)
class _Rule:
    """``{}`` stands for the keys."""

    wrong: str
    right: str


_VALUE = _Rule("{} has a value that Nova does not know", "correct {}, or take it off")
_NUMBER = _Rule("{} is no number that Nova takes", "set {} to a number, or take it off")
_NODES = "give each NUMA node its CPUs and its memory, or take the keys of nodes off"

_RULES = {
    "cpu-list-malformed": _Rule(
        "{} is no list of CPUs", "set {} to numbers and ranges, as in 0-3,^2"
    ),
    "cpu-nowhere": _Rule("a CPU is in no NUMA node, by {}", _NODES),
    "cpu-twice": _Rule("a CPU is in two NUMA nodes, by {}", _NODES),
    "cpus-asked-for-twice": _Rule(
        "CPUs are asked for twice, by {}",
        "ask by a policy or by one amount, not by both",
    ),
    "alias-malformed": _Rule(
        "[pci]alias has what is no alias: {}", "correct it in the nova.conf of nova-api"
    ),
    "alias-of-several-devices": _Rule(
        "[pci]alias defines {} with several specs, and pci_in_placement takes one",
        "give the devices one resource_class in [pci]device_spec, and define the alias "
        "once",
    ),
    "alias-twice": _Rule(
        "[pci]alias defines {} twice, with no or another device_type or numa_policy",
        "define it once, or give all its lines one device_type and numa_policy",
    ),
    "alias-without-ids": _Rule(
        "the PCI alias {} has no vendor_id and product_id, and no resource_class that "
        "counts",
        "complete it in the nova.conf of nova-api",
    ),
    "no-such-alias": _Rule(
        "[pci]alias does not define the PCI alias, by {}",
        "name another one, or define it in the nova.conf of nova-api",
    ),
    "empty-group": _Rule(
        "a group of {} asks for nothing that Nova knows",
        "correct the device profile, or take {} off",
    ),
    "network-without-subnets": _Rule(
        "the network {} has no subnet", "add a subnet to it, or name another network"
    ),
    "no-cyborg": _Rule(
        "Cyborg is not in the catalog, and so there is no device profile {}",
        "take it off, or install Cyborg",
    ),
    "no-such-profile": _Rule(
        "Cyborg has no device profile {}", "name another one, or make it"
    ),
    "port-in-use": _Rule("the port {} is in use", "name another port"),
    "port-of-several-servers": _Rule(
        "several servers can't share the port {}", "ask for one server with it"
    ),
    "port-twice": _Rule("the port {} is named twice", "name it once"),
    "port-without-address": _Rule(
        "the port {} has no fixed IP address", "give it one, or name another port"
    ),
    "port-without-profile": _Rule(
        "the port {} is for a device of Cyborg's, and has no device profile",
        "make the port with a device profile",
    ),
    "request-of-several-groups": _Rule(
        "this release can't read the request of the port {}, which has several groups",
        "take the QoS policy off the port, or name another port",
    ),
    "segment-without-aggregate": _Rule(
        "Placement has no aggregate of a segment of {}",
        "make Neutron report its segments again, or name another network",
    ),
    "several-devices-for-a-port": _Rule(
        "one port can have one device, and more are asked for, by {}",
        "make the port with a profile of one device",
    ),
    "suffix-twice": _Rule(
        "two groups of the request have one suffix, by {}",
        "use other suffixes in the flavor, and name each port once",
    ),
    "volume-in-another-zone": _Rule(
        "the server's zone is not that of the volume {}",
        "ask for the volume's zone, or for none",
    ),
    "volume-not-bootable": _Rule(
        "the volume {} is not bootable", "name a volume that is"
    ),
    "volume-not-available": _Rule(
        "Cinder does not let a server have the volume {}",
        "wait until the volume is available, or name another one",
    ),
    "volume-too-small": _Rule(
        "the root volume of the image is smaller than the image needs, by {}",
        "lower min_disk, or use another image",
    ),
    "no-such-snapshot": _Rule(
        "Cinder does not have {} of the image's block_device_mapping",
        "use another image",
    ),
    "port-of-another-project": _Rule(
        "the port {} belongs to another project, so nova-compute rejects it on every "
        "host",
        "name a port of the server's project",
    ),
    "volume-of-several-servers": _Rule(
        "several servers can't share the volume {}", "ask for one server with it"
    ),
    "volumes-in-several-zones": _Rule(
        "the volumes are in several zones: {}", "name volumes of one zone"
    ),
    "dedicated-mask": _Rule(
        "the mask does not pin some of the flavor's CPUs and leave some, by {}",
        "pin some of the flavor's CPUs and leave some, as in ^0",
    ),
    "does-not-divide": _Rule(
        "the NUMA nodes can't share the CPUs and the memory evenly, by {}",
        "choose a number of NUMA nodes that divides both the vcpus and the ram",
    ),
    "flavor-does-not-let-it": _Rule(
        "the flavor does not let the image choose a page size, by {}",
        "set hw:mem_page_size=any in the flavor, or take the image's property off",
    ),
    "group-policy-off": _Rule(
        "the filter or weigher of the server group's policy is off, by {}",
        "turn it on, or use another group",
    ),
    "filter-not-in-release": _Rule(
        "nova-scheduler does not start: the release has no host filter {}",
        "take {} out of [filter_scheduler]enabled_filters",
    ),
    "nothing-from-root": _Rule(
        "the request takes nothing from the compute node itself; nova-scheduler then "
        "drops the host",
        "request VCPU or another resource of the node",
    ),
    "filter-raises": _Rule(
        "a host filter ends the request with an exception, by {}",
        "correct the value, or turn the filter off",
    ),
    "host-named-twice": _Rule(
        "a host is named twice, by {}", "name it with --on-host or with the zone"
    ),
    "flavor-is-disabled": _Rule("the flavor is disabled", "use another flavor"),
    "flavor-too-small": _Rule(
        "the flavor has less than the image needs, by {}", "use a larger flavor"
    ),
    "image-not-active": _Rule("the image is not active", "wait until it is active"),
    "image-of-encrypted-volume": _Rule(
        "the image is that of an encrypted volume, by {}",
        "boot from a volume that is made of it",
    ),
    "image-pins-more": _Rule(
        "the image pins more CPUs than the flavor lets it, by {}",
        "make both say the same, or take the image's property off",
    ),
    "image-property-no-devices": _Rule(
        "{} is no list of block devices", "correct {}, or take it off"
    ),
    "image-property-no-json": _Rule("{} is no JSON", "correct {}, or take it off"),
    "image-property-no-number": _NUMBER,
    "image-property-no-version": _Rule(
        "{} is no comparison with versions", "set {} to one such as >=2.0,<3.0"
    ),
    "image-property-unknown-value": _VALUE,
    "image-wants-more": _Rule(
        "the image wants more than the flavor allows, by {}",
        "raise the flavor's limit, or lower the image's number",
    ),
    "memory-differs": _Rule(
        "the memory of the NUMA nodes does not add up to the flavor's, by {}",
        "share out the whole ram, and no more, among the NUMA nodes",
    ),
    "memory-encryption-needs-q35": _Rule(
        "encrypted memory needs a machine of type q35, by {}",
        "set hw_machine_type=q35 on the image",
    ),
    "memory-encryption-needs-uefi": _Rule(
        "encrypted memory needs UEFI, by {}", "set hw_firmware_type=uefi on the image"
    ),
    "misshapen-hint": _Rule(
        "the hint {} has no value of its kind",
        "give {} UUIDs of servers, an IP address, or a prefix such as /24",
    ),
    "model-needs-no-video": _Rule(
        "this model of encryption takes no video device, by {}",
        "set hw_video_model=none on the image",
    ),
    "model-needs-stateless": _Rule(
        "this model of encryption needs firmware without state, by {}",
        "set hw_firmware_stateless=true on the image",
    ),
    "more-than-two-colons": _Rule(
        "{} has more than two colons", "name ZONE, ZONE:HOST or ZONE:HOST:NODE"
    ),
    "needs-mixed": _Rule(
        "only a mixed policy takes {}", "set hw:cpu_policy=mixed, or take it off"
    ),
    "needs-one-mask": _Rule(
        "a mixed policy takes one mask, of pinned CPUs or of those in real time, by {}",
        "set hw:cpu_dedicated_mask or hw:cpu_realtime_mask, not both",
    ),
    "needs-page-size": _Rule(
        "memory can be locked only with a page size, by {}",
        "set hw:mem_page_size, or take {} off",
    ),
    "needs-pinning": _Rule(
        "only a server with pinned CPUs can have {}",
        "set hw:cpu_policy=dedicated, or take {} off",
    ),
    "no-enabled-nova-compute-in-the-zone": _Rule(
        "no enabled nova-compute is in the zone {}",
        "name another zone, or enable a nova-compute of this one",
    ),
    "no-name-and-count": _Rule("{} is no list of NAME:NUMBER", "correct {}"),
    "no-number": _NUMBER,
    "no-such-cpu": _Rule(
        "a NUMA node has a CPU that the flavor does not have, by {}", _NODES
    ),
    "no-such-host": _Rule(
        "Nova lists no compute node with {}", "name a host and a node that it lists"
    ),
    "nodes-incomplete": _Rule(
        "not every NUMA node has its CPUs and its memory, by {}", _NODES
    ),
    "pinned-cpus-are-not-vcpus": _Rule(
        "the amount of pinned CPUs is not the flavor's number, by {}",
        "make the two equal, or set hw:cpu_policy=dedicated in place of the amount",
    ),
    "realtime-mask": _Rule(
        "the mask does not leave CPUs of the flavor's for both real time and emulator, "
        "by {}",
        "set hw:cpu_realtime_mask to some of the flavor's CPUs, as in ^0",
    ),
    "set-by-both": _Rule(
        "the flavor and the image may not both set it: {}", "take one of the two off"
    ),
    "stateless-firmware-needs-uefi": _Rule(
        "firmware without state needs UEFI, by {}",
        "set hw_firmware_type=uefi on the image",
    ),
    "tenant-without-aggregate": _Rule(
        "the project has no aggregate", "set filter_tenant_id of an aggregate"
    ),
    "threads-asked-for-twice": _Rule(
        "what to do with threads is said twice, by {}", "take one of the two off"
    ),
    "tpm-crb-needs-2.0": _Rule(
        "the TPM model tpm-crb needs version 2.0, by {}",
        "set hw:tpm_version=2.0, or the model tpm-tis",
    ),
    "unknown-value": _VALUE,
    "values-differ": _Rule(
        "{} say different things", "make both say the same, or take one of the two off"
    ),
    "weigher-raises": _Rule(
        "a weigher ends the request with an exception, by {}",
        "correct it, or take it out of [filter_scheduler]weight_classes",
    ),
    "weigher-not-in-release": _Rule(
        "nova-scheduler does not start: the release has no weigher {}",
        "take {} out of [filter_scheduler]weight_classes",
    ),
}


@dataclasses.dataclass(eq=False)
class Refusal(AnswerIsNo):
    """Nova rejects flavor and image together, before or instead of placing.

    :ivar exception: the class of Nova's exception
    :ivar reason: a short ID of the rule
    :ivar keys: flavor keys and image properties
    :ivar stage: ``api`` (rejected at once), ``scheduler`` (the server goes to ERROR) or
        ``no valid host`` (the same, as if no host had room); empty until the request is
        built
    :ivar http: the API's status; None at other stages
    :ivar nearest: existing names similar to an unknown one, best first
    :ivar allowed: possible values, if they are few
    :ivar text: instead of the sentence of the rule
    """

    exception: str
    reason: str
    keys: tuple[str, ...] = ()
    stage: str = ""
    http: int | None = None
    nearest: tuple[str, ...] = ()
    allowed: Sequence[str] = ()
    text: str = ""
    ends_by_enabling: bool = False

    def __str__(self) -> str:
        return self.text or sentence(self)


def wrong(refusal: AnswerIsNo) -> str:
    """The problem, with Nova's exception in brackets."""
    if not isinstance(refusal, Refusal):
        return str(refusal)
    sentence = _RULES[refusal.reason].wrong.replace("{}", listed(refusal.keys))
    return f"{sentence} ({refusal.exception})"


def right(refusal: Refusal) -> str:
    """A change of the keys that Nova would accept."""
    keys = listed(refusal.keys)
    if 0 < len(refusal.allowed) <= _MOST_VALUES:
        *others, last = refusal.allowed
        values = f"{', '.join(others)} or {last}" if others else last
        return f"set {keys} to {values}, or take the key off"
    return _RULES[refusal.reason].right.replace("{}", keys)


def sentence(refusal: Refusal, is_moved: bool = False) -> str:
    """The service that rejects a request, the reason, and the fix.

    :param is_moved: for a move; the server then keeps its state, except in a live
        migration or an evacuation (nova/conductor/manager.py)
    """
    end = "" if is_moved else ", and the server goes to ERROR"
    stage = {
        "api": f"nova-api rejects it (HTTP {refusal.http})",
        "scheduler": f"nova-scheduler rejects it{end}",
    }.get(refusal.stage, "nova-scheduler finds no valid host")
    near = did_you_mean(refusal.nearest)
    return f"{stage}: {wrong(refusal)}; {right(refusal)}{near}"


# All errors, with their messages: first the problem, then the fix, in one line.
#
# A caller can tell three kinds apart: ``BadQuestion`` (the user named something unknown
# or impossible), ``AnswerIsNo`` (the request is valid, but refused), and
# ``CloudBroke``.


class BadUsage(BadQuestion):
    """Options that do not go together, or a missing option."""


@dataclasses.dataclass(eq=False)
class UnknownTrait(BadQuestion):
    """A possible name of a trait that this cloud's Placement does not know.

    :ivar standard: os-traits knows the name
    :ivar nearest: similar existing names, best first
    """

    name: str
    standard: bool
    nearest: tuple[str, ...]
    creatable: bool = False

    def __str__(self) -> str:
        near = did_you_mean(self.nearest)
        if self.standard:
            return (
                f"this cloud's Placement is older than the trait {self.name} and does "
                f"not know it{near}"
            )
        if self.name.startswith("CUSTOM_"):
            way = " (--create creates it)" if self.creatable else ""
            return f"no trait {self.name} in this cloud{way}{near}"
        return (
            f"no trait {self.name} in this cloud{near}; only names that start with "
            "CUSTOM_ can be created"
        )


@dataclasses.dataclass(eq=False)
class NothingMatches(BadQuestion):
    """A selector that matches nothing.

    :ivar selector: ``host``, ``provider``, ``aggregate`` or ``zone``
    :ivar nearest: similar existing names, best first
    :ivar unasked: why Nova could not be asked for more names
    """

    selector: str
    value: str
    nearest: tuple[str, ...]
    unasked: str | None = None

    def __str__(self) -> str:
        unasked = f"; Nova could not be asked: {self.unasked}" if self.unasked else ""
        near = did_you_mean(self.nearest)
        return f"no {self.selector} matches {quoted(self.value)}{near}{unasked}"


class NoServer(NothingMatches):
    """No server with that name or ID is visible to this user."""

    def __init__(self, value: str, nearest: tuple[str, ...] = ()) -> None:
        super().__init__("server", value, nearest)

    def __str__(self) -> str:
        near = did_you_mean(self.nearest) or ": it does not exist, or was deleted"
        return f"no server matches {quoted(self.value)}{near}"


@dataclasses.dataclass(eq=False)
class NoProvider(BadQuestion):
    """A host of Nova's without a provider in Placement."""

    host: str

    def __str__(self) -> str:
        return "Placement has no provider for it, as far as Nova lists it"


class AmbiguousName(BadQuestion):
    """Several objects have this name; the user must give an ID."""

    def __init__(self, kind: str, name: str, namesakes: Iterable[Namesake]) -> None:
        self.kind = kind
        self.name = name
        self.namesakes = tuple(namesakes)

    def __str__(self) -> str:
        return (
            f"{len(self.namesakes)} {self.kind}s are named {quoted(self.name)}; "
            f"name one by its ID: {listed(map(_namesake, self.namesakes))}"
        )


@dataclasses.dataclass(eq=False)
class EmptyAggregate(BadQuestion):
    """An aggregate without hosts, which selects nothing."""

    name: str

    def __str__(self) -> str:
        return f"aggregate {quoted(self.name)} has no hosts"


@dataclasses.dataclass(eq=False)
class BadConfiguration(BadQuestion):
    """A file (or its option) that can't be read, or a wrong value in one.

    :ivar line: from 1; None if unknown
    """

    path: str
    line: int | None
    reason: str
    value: str | None = None

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        value = "" if self.value is None else f": {quoted(self.value)}"
        return visible(f"{where}: {self.reason}{value}")


class Mistakes(BadQuestion):
    """All mistakes in files, in the order of files and lines."""

    def __init__(self, mistakes: Iterable[BadQuestion]) -> None:
        self.mistakes = tuple(mistakes)

    def __str__(self) -> str:
        return "; ".join(map(str, self.mistakes))


def _namesake(found: Namesake) -> str:
    told = (
        found.owner and f"owner {found.owner}",
        found.domain and f"domain {found.domain}",
        found.visibility,
        found.created and f"created {found.created}",
        "hidden" if found.is_hidden else "",
    )
    about = ", ".join(filter(None, told))
    return f"{found.id} ({about})" if about else found.id


@dataclasses.dataclass(eq=False)
class NotForProject(AnswerIsNo):
    """A flavor or an image that the project may not use: Nova does not find it."""

    kind: str
    name: str

    def __str__(self) -> str:
        return (
            f"the project may not use the {self.kind} {quoted(self.name)}, so that "
            "Nova does not find it"
        )


@dataclasses.dataclass(eq=False)
class PlacementRefuses(AnswerIsNo):
    """Placement rejects the request; ``reason`` is Placement's own text."""

    reason: str

    def __str__(self) -> str:
        return f"Placement rejects the request: {self.reason}"


class TraitMissing(PlacementRefuses):
    """A flavor or an image names a trait that does not exist.

    :ivar kind: ``flavor`` or ``image``, or that of another origin
    :ivar nearest: similar existing traits, best first
    """

    def __init__(
        self,
        kind: str,
        name: str,
        trait: str,
        nearest: tuple[str, ...],
        is_forbidden: bool = False,
    ) -> None:
        super().__init__(f"No such trait(s): {trait}.")
        self.kind, self.name, self.trait = kind, name, trait
        self.nearest, self.is_forbidden = nearest, is_forbidden

    @property
    def subject(self) -> str:
        """What names the trait: ``Flavor gold``."""
        who = visible(f"{self.kind} {self.name}")
        return f"{who[:1].upper()}{who[1:]}"

    @property
    def problem(self) -> str:
        """What is wrong with the subject, without a full stop."""
        verb = "forbids" if self.is_forbidden else "requires"
        return f"{verb} trait {visible(self.trait)}, which does not exist"

    @property
    def remedy(self) -> str:
        """The full stop, and what to do if that is known."""
        if self.nearest:
            return f". Did you mean {' or '.join(self.nearest)}?"
        if self.trait.startswith("CUSTOM_") and self.kind in ("flavor", "image"):
            add = f"openstack trait-sched add {self.trait} --create --host <HOST>"
            return f". To create it: {add}"
        return "."

    def __str__(self) -> str:
        return f"{self.subject} {self.problem}{self.remedy}"


@dataclasses.dataclass(eq=False)
class CloudBroke(TraitSchedError):
    """A service did not answer, or answered with an error.

    :ivar service: the service type, such as ``placement``
    :ivar reason: one line, in the service's words if it had any
    :ivar status: the HTTP status; None without an answer
    :ivar passing: a retry may succeed
    """

    service: str
    reason: str
    status: int | None = None
    passing: bool = False

    def __str__(self) -> str:
        status = f" (HTTP {self.status})" if self.status else ""
        return f"{self.service}: {self.reason}{status}"


class Hidden(CloudBroke):
    """Data that the service does not show to this user."""


class Forbidden(Hidden):
    """The service's policy forbids it for this user.

    :ivar scope: of the login: ``project``, ``domain``, ``system`` or empty
    :ivar roles: None if unknown
    """

    def __init__(
        self,
        service: str,
        reason: str,
        scope: str = "",
        roles: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(service, reason, 403)
        self.scope = scope
        self.roles = roles

    def __str__(self) -> str:
        return f"{self.service}: {self.reason} (HTTP {self.status}); {_lacking(self)}"


class ConcurrentUpdate(CloudBroke):
    """A provider changed several times since it was read; nothing was written."""

    def __init__(
        self, service: str, reason: str, status: int | None = None, times: int = 1
    ) -> None:
        super().__init__(service, reason, status)
        self.times = times

    def __str__(self) -> str:
        when = "during every try" if self.times > 1 else "meanwhile"
        return f"others changed this provider {when}; run the command again"


class TooOld(CloudBroke):
    """The service lacks the required microversion."""

    def __str__(self) -> str:
        return (
            f"{self.service} is older than what this command needs "
            f"(placement 1.36, compute 2.61: OpenStack Train): {self.reason}"
        )


class ExtraSpecsHidden(Hidden):
    """The policy ``os-flavor-extra-specs:index`` hides extra specs from this user.

    nova/api/openstack/compute/flavors.py, ``detail``

    :ivar hidden: number of flavors, as ``total``
    :ivar flavor: the requested one
    """

    def __init__(self, hidden: int, total: int, flavor: str | None = None) -> None:
        super().__init__("compute", f"no extra specs of {hidden} of {total} flavors")
        self.hidden = hidden
        self.total = total
        self.flavor = flavor

    def __str__(self) -> str:
        if self.flavor is not None:
            whose = f"the flavor {quoted(self.flavor)}"
        else:
            whose = f"{self.hidden} of {self.total} flavors"
        return (
            f"Nova hides the extra specs of {whose} from this user: it takes a role "
            "that the policy os_compute_api:os-flavor-extra-specs:index names"
        )


class NotInCatalog(CloudBroke):
    """The cloud's catalog lacks the service for this user and region."""

    def __init__(self, service: str) -> None:
        super().__init__(service, "not in the catalog")

    def __str__(self) -> str:
        return (
            f"{self.service} is not in this cloud's catalog, for this user, region "
            "and interface"
        )


def _lacking(error: Forbidden) -> str:
    if error.roles is None:
        return "this user's roles are not enough"
    is_elsewhere = error.scope != "project"
    if is_elsewhere and ("admin" in error.roles or not error.scope):
        to = {"domain": "a domain", "system": "the system"}.get(error.scope, "nothing")
        return f"log in to a project; this login is to {to}"
    where = f" in the {error.scope}" if is_elsewhere else ""
    found = f"this user's roles{where} are not enough: {listed(error.roles) or 'none'}"
    if "admin" in error.roles:
        return found
    return f"{found} (by default it takes admin{' in a project' * is_elsewhere})"
