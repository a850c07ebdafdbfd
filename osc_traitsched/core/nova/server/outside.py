"""What networks, volumes and device profiles add to a request."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import Origin, Resource, Trait
from osc_traitsched.core.nova.server import extra_specs, pci, properties
from osc_traitsched.core.nova.server.parts import Port, ProfileGroups
from osc_traitsched.core.nova.server.server import Found, Group, Server, SoFar

# What Cyborg's device profiles ask of Placement.
#
# nova/accelerator/cyborg.py, ``_CyborgClient.get_device_request_groups``.


PROFILE = "accel:device_profile"

#: The first release that looks at it.
_SINCE = 21


def name_in(server: Server) -> str:
    """Return the name of the flavor's profile; empty for none."""
    return server.flavor.specs.get(PROFILE, "") if server.release >= _SINCE else ""


def of_name(name: str, server: Server) -> ProfileGroups:
    """Return the groups of a profile; none if they are not known.

    :raises Refusal: where there is no such profile
    """
    found = server.parts.device_profiles.get(name, ())
    if found is None:
        raise Refusal("DeviceProfileError", "no-such-profile", (name,))
    return found


def check(server: Server) -> None:
    """Refuse a flavor whose profile Cyborg does not have.

    :raises Refusal: where nova-api raises ``DeviceProfileError``
    """
    of_name(name_in(server), server)


def groups(
    found: ProfileGroups, origin: Origin, release: int, owner: str = ""
) -> Iterator[Group]:
    """Yield what each group of a profile asks for.

    A class that is none, an amount that is none and a trait that is neither required
    nor forbidden are left out, as those of a flavor are.

    :param owner: the UUID of the port that the devices are for; empty for none
    """
    for number, each in enumerate(found):
        amounts: dict[str, int] = {}
        traits: dict[str, set[str]] = {"required": set(), "forbidden": set()}
        for key, value in each.items():
            kind, name = extra_specs.named(key, release)
            if kind == "resources" and extra_specs.is_class(name, release):
                amount = properties.integer(value)
                if amount is not None and amount >= 0:
                    amounts[name] = amount
            elif kind == "trait" and value in traits:
                traits[value].add(name)
        yield Group(
            f"device_profile_{number}{owner}",
            amounts,
            origin,
            frozenset(traits["required"]),
            frozenset(traits["forbidden"]),
        )


def devices(found: ProfileGroups, release: int) -> int:
    """Return how many devices a profile asks for (``get_device_amount_of_dp_groups``).

    A value that is not a number counts as none here.
    """
    amounts = (
        properties.integer(value) or 0
        for each in found
        for key, value in each.items()
        if extra_specs.named(key, release)[0] == "resources"
    )
    return sum(amounts)


# The groups that ports, PCI aliases and device profiles bring into a request.
#
# nova/network/neutron.py, ``API.create_resource_requests``; nova/compute/api.py,
# ``_provision_instances``; nova/scheduler/utils.py,
# ``ResourceRequest._process_requested_resources``.


#: Of ports that Cyborg gives a device; the releases before know none.
_ACCELERATED = ("accelerator-direct", "accelerator-direct-physical")
_ACCELERATED_SINCE = 24

#: The first release whose groups are named by whose they are, and not numbered.
_NAMED_SINCE = 21

RESOURCE_REQUEST = "resource_request"


def of_parts(server: Server) -> Iterator[Group]:
    """Yield all of them, in the order in which Nova comes to them."""
    for port in server.parts.ports:
        yield from _of_device(port, server)
        yield from _of_request(port)
    yield from pci.groups(server)
    found = of_name(name_in(server), server)
    origin = server.flavor.origin(PROFILE)
    yield from groups(found, origin, server.release)


def same_subtree(server: Server) -> tuple[tuple[str, ...], ...]:
    """Return the suffixes of groups that must be served within one subtree."""
    asked = (port.resource_request or {} for port in server.parts.ports)
    return tuple(
        tuple(each["same_subtree"]) for each in asked if each.get("same_subtree")
    )


def requested_resources(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield what the groups ask for.

    :raises Refusal: for one that asks for nothing, or whose suffix the flavor has
    """
    taken = {
        clause.group
        for clause in so_far.clauses
        if isinstance(clause, (Resource, Trait))
        and clause.origins[0].kind != "prefilter"
    }
    for each in of_parts(server):
        if server.release < _NAMED_SINCE:
            number = max(int(suffix or 0) for suffix in (*taken, "")) + 1
            each = dataclasses.replace(each, suffix=str(number))
        if each.is_empty:
            raise Refusal("ValueError", "empty-group", (each.origin.key,))
        if each.suffix in taken:
            keys = (each.origin.key, each.suffix)
            raise Refusal("RequestGroupSuffixConflict", "suffix-twice", keys)
        taken.add(each.suffix)
        yield from each.clauses()


def check_requests(server: Server) -> None:
    """Refuse a port whose request has several groups, which 24 is the first to read.

    :raises Refusal: where nova-api looks for what the older format has
    """
    for port in server.parts.ports:
        if "request_groups" in (port.resource_request or {}):
            raise Refusal("KeyError", "request-of-several-groups", (port.label,))


def check_devices(server: Server) -> None:
    """Refuse a port that is for a device, without a profile of just one device.

    :raises Refusal: where nova-api raises ``DeviceProfileError``
    """
    for port in filter(lambda each: _is_accelerated(each, server), server.parts.ports):
        if not port.device_profile:
            raise Refusal("DeviceProfileError", "port-without-profile", (port.label,))
        found = of_name(port.device_profile, server)
        if devices(found, server.release) > 1:
            keys = (port.label, port.device_profile)
            raise Refusal("DeviceProfileError", "several-devices-for-a-port", keys)


def _is_accelerated(port: Port, server: Server) -> bool:
    return server.release >= _ACCELERATED_SINCE and port.vnic_type in _ACCELERATED


def _of_device(port: Port, server: Server) -> Iterator[Group]:
    if not _is_accelerated(port, server):
        return
    found = of_name(port.device_profile, server)
    origin = Origin("port", "device_profile", name=port.label)
    yield from groups(found, origin, server.release, port.id)


def _of_request(port: Port) -> Iterator[Group]:
    """Yield the groups of a port's own request: one, or those of the newer format."""
    request = port.resource_request
    if not request:
        return
    origin = Origin("port", RESOURCE_REQUEST, name=port.label)
    several = request.get("request_groups")
    for each in [request] if several is None else several:
        suffix = port.id if several is None else str(each["id"])
        required = frozenset(each.get("required", ()))
        yield Group(suffix, each["resources"], origin, required)
