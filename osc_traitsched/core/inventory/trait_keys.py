"""The keys by which flavors, images and aggregates require traits."""

from __future__ import annotations

import re
from collections.abc import Mapping

REQUIRED = "required"

_PREFIX = "trait:"
_KEY = re.compile(r"trait[a-zA-Z0-9_-]{0,64}:(.+)")


def key_of(name: str) -> str:
    """Return the key by which a flavor, image or aggregate requires a trait."""
    return f"{_PREFIX}{name}"


def requires(key: str, value: str) -> str | None:
    """Return the trait that a flavor's pair requires.

    Flavors may number or name the group: ``trait1:X``, ``trait_gpu:X``
    (nova/scheduler/utils.py, ``ResourceRequest.XS_KEYPAT``).
    """
    found = _KEY.fullmatch(key)
    return found.group(1) if found and value == REQUIRED else None


def required_by(specs: Mapping[str, str]) -> frozenset[str]:
    """Return the traits that a flavor's extra specs require, in whichever group."""
    found = (requires(key, value) for key, value in specs.items())
    return frozenset(name for name in found if name)


def names_trait(key: str) -> bool:
    """Tell whether a key of an aggregate's metadata names a trait.

    The letters of ``trait:`` can be of any case: that is the doing of Nova's database
    (nova/scheduler/request_filter.py, ``isolate_aggregates``).
    """
    return key.lower().startswith(_PREFIX)


def isolating_keys(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of an aggregate's metadata that isolate it."""
    return tuple(
        key for key, value in metadata.items() if names_trait(key) and value == REQUIRED
    )


def isolated_by(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the traits that isolate an aggregate, each with its metadata key."""
    return {key[len(_PREFIX) :]: key for key in isolating_keys(metadata)}
