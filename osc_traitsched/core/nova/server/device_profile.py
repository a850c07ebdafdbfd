"""What Cyborg's device profiles ask of Placement.

nova/accelerator/cyborg.py, ``_CyborgClient.get_device_request_groups``.
"""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.server import extra_specs, reading
from osc_traitsched.core.nova.server.group import Group
from osc_traitsched.core.nova.server.parts import ProfileGroups
from osc_traitsched.core.nova.server.server import Server

PROFILE = "accel:device_profile"

#: The first release that looks at it.
_SINCE = 21


def name_in(server: Server) -> str:
    """Return the name of the flavor's profile; empty for none."""
    return server.flavor.specs.get(PROFILE, "") if server.release >= _SINCE else ""


def of_name(name: str, server: Server) -> ProfileGroups:
    """Return the groups of a profile; none where they are not known.

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
                amount = reading.integer(value)
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

    A value that is no number counts as none here.
    """
    amounts = (
        reading.integer(value) or 0
        for each in found
        for key, value in each.items()
        if extra_specs.named(key, release)[0] == "resources"
    )
    return sum(amounts)
