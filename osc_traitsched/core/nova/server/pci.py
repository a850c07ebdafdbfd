"""What a flavor's PCI aliases ask for.

nova/pci/request.py, ``get_pci_requests_from_flavor``; what Placement is asked of it:
nova/objects/request_spec.py, ``RequestSpec.generate_request_groups_from_pci_requests``.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping

import os_traits

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.server import extra_specs, properties
from osc_traitsched.core.nova.server.server import Group, Server

ALIAS = "pci_passthrough:alias"

#: Placement is asked for devices from this release on.
IN_PLACEMENT_SINCE = 27
#: Aliases are looked at as a whole from this release on.
_CHECKED_SINCE = 31
_LEGACY = "legacy"
_ID = re.compile(r"[\da-fA-F]{4}")
_NO_NAME = re.compile("[^0-9A-Z]+")
_NUMA = ("required", "legacy", "preferred", "socket")
_BOOLEANS = frozenset(
    ["1", "t", "true", "on", "y", "yes", "0", "f", "false", "off", "n", "no"]
)
_TYPES = ("type-PCI", "type-PF", "type-VF")
#: The keys of an alias, and the first release that takes each.
_KEYS: Mapping[str, int] = {
    "name": 0,
    "capability_type": 0,
    "product_id": 0,
    "vendor_id": 0,
    "device_type": 0,
    "numa_policy": 0,
    "resource_class": IN_PLACEMENT_SINCE,
    "traits": IN_PLACEMENT_SINCE,
    "live_migratable": _CHECKED_SINCE,
}

Spec = Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Requested:
    """Devices that a flavor asks for.

    :ivar specs: what each has to be, one of them; none if that is not known
    """

    alias: str
    count: int
    specs: tuple[Spec, ...] = ()


def requests(server: Server) -> tuple[Requested, ...]:
    """Return what the aliases of the flavor ask for.

    :raises Refusal: for an alias that is not ``name:count`` or is not defined, and for
        aliases of nova.conf that Nova does not take
    """
    value = server.flavor.specs.get(ALIAS)
    if value is None:
        return ()
    known = None if server.aliases is None else _defined(server, server.aliases)
    found = []
    for item in value.split(","):
        name, *counts = item.split(":")
        if len(counts) != 1:
            raise Refusal("ValueError", "no-name-and-count", (ALIAS,))
        name = name.strip()
        if known is not None and name not in known:
            near = near_names(name, tuple(known))
            keys = (ALIAS, name)
            raise Refusal(
                "PciRequestAliasNotDefined", "no-such-alias", keys, nearest=near
            )
        count = properties.integer(counts[0])
        if count is None:
            raise Refusal("ValueError", "no-name-and-count", (ALIAS,))
        found.append(Requested(name, count, known[name] if known else ()))
    return tuple(found)


def check(server: Server) -> None:
    """Refuse what :func:`requests` refuses."""
    requests(server)


def check_groups(server: Server) -> None:
    """Refuse what :func:`groups` refuses."""
    collections.deque(groups(server), maxlen=0)


def groups(server: Server) -> Iterator[Group]:
    """Yield a group for each device, where Placement is asked for devices.

    Nova draws the first part of the suffix; here it is the place in the flavor.

    :raises Refusal: for an alias of several kinds of devices
    """
    if not server.pci_in_placement or server.release < IN_PLACEMENT_SINCE:
        return
    origin = server.flavor.origin(ALIAS)
    for number, each in enumerate(requests(server)):
        if not each.specs:
            continue
        if len(each.specs) > 1:
            raise Refusal("ValueError", "alias-of-several-devices", (each.alias,))
        spec = each.specs[0]
        traits = frozenset(_traits(spec.get("traits", "")))
        for device in range(each.count):
            amounts = {_resource_class(spec, server.release): 1}
            yield Group(f"pci{number}-{device}", amounts, origin, traits)


def _resource_class(spec: Spec, release: int) -> str:
    """nova/compute/pci_placement_translator.py, ``get_resource_class``."""
    wanted = spec.get("resource_class")
    if not wanted:
        ids = f"{spec.get('vendor_id')}_{spec.get('product_id')}"
        return f"CUSTOM_PCI_{ids}".upper()
    name = wanted.upper()
    return name if extra_specs.is_class(name, release) else _normalized(name)


def _traits(text: str) -> Iterator[str]:
    """nova/compute/pci_placement_translator.py, ``get_traits``."""
    if not text:
        return
    standard, others = os_traits.check_traits(text.split(","))
    yield from standard
    for name in others:
        upper = name.upper()
        yield upper if upper.startswith("CUSTOM_") else _normalized(upper)


def _normalized(name: str) -> str:
    return f"CUSTOM_{_NO_NAME.sub('_', name)}"


def _defined(server: Server, texts: tuple[str, ...]) -> dict[str, tuple[Spec, ...]]:
    """Return the aliases of nova.conf by name.

    :raises Refusal: for what Nova does not take (``get_alias_from_config``)
    """
    found: dict[str, tuple[Spec, ...]] = {}
    policies: dict[str, str] = {}
    for text in texts:
        spec = _read(text, server.release)
        name = spec.pop("name").strip()
        policy = spec.pop("numa_policy", None) or _LEGACY
        before = found.get(name, ())
        if before and policies[name] != policy:
            raise _invalid(text)
        kinds = {each.get("device_type") for each in (*before[:1], spec)}
        if before and (len(kinds) > 1 or None in kinds):
            raise _invalid(text)
        policies[name] = policy
        found[name] = (*before, spec)
    if server.release >= _CHECKED_SINCE:
        _check_whole(server, found)
    return found


def _check_whole(server: Server, found: Mapping[str, tuple[Spec, ...]]) -> None:
    for name, specs in found.items():
        if server.pci_in_placement and len(specs) > 1:
            raise Refusal("PciInvalidAlias", "alias-of-several-devices", (name,))
    for name, specs in found.items():
        for spec in specs:
            has_ids = "vendor_id" in spec and "product_id" in spec
            has_class = server.pci_in_placement and "resource_class" in spec
            if not has_ids and not has_class:
                raise Refusal("PciInvalidAlias", "alias-without-ids", (name,))


def _read(text: str, release: int) -> dict[str, str]:
    """Return one alias, which has to be as its schema says."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise _invalid(text) from None
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise _invalid(text)
    for key, value in found.items():
        if release < _KEYS.get(key, release + 1) or not isinstance(value, str):
            raise _invalid(text)
        if not _is_possible(key, value):
            raise _invalid(text)
    return dict(found)


def _is_possible(key: str, value: str) -> bool:
    if key == "name":
        return 0 < len(value) <= 256
    if key in ("product_id", "vendor_id"):
        return bool(_ID.match(value)) and len(value.rstrip("\n")) == 4
    if key == "device_type":
        return value in _TYPES
    if key == "numa_policy":
        return value in _NUMA
    if key == "live_migratable":
        return value.strip().lower() in _BOOLEANS
    return key != "capability_type" or value == "pci"


def _invalid(text: str) -> Refusal:
    return Refusal("PciInvalidAlias", "alias-malformed", (text,))
