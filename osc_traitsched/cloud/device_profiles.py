"""Reads Cyborg's device profiles."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova.server.attachments import PROFILE
from osc_traitsched.core.nova.server.parts import Parts, ProfileGroups

_PROFILES: rest.Shape = {"device_profiles": [{"name": str, "groups": [{str: str}]}]}


def with_profiles(cloud: Cloud, parts: Parts, flavor: Mapping[str, Any]) -> Parts:
    """Return the parts with what the profiles of the flavor and the ports ask for.

    One request for each that is not known yet. Where Cyborg is not there or does not
    answer, they stay unknown.
    """
    specs = flavor.get("extra_specs") or {}
    named = [specs.get(PROFILE), *(each.device_profile for each in parts.ports)]
    found = dict(parts.device_profiles)
    for name in filter(None, named):
        try:
            if name not in found:
                found[name] = _groups(cloud, name)
        except CloudBroke as exc:
            return dataclasses.replace(parts, profiles_unread=exc)
    return dataclasses.replace(parts, device_profiles=found)


def _groups(cloud: Cloud, name: str) -> ProfileGroups | None:
    """Return the groups of a profile; None if Cyborg has no such one."""
    body = rest.get(cloud.accelerator, "/device_profiles", _PROFILES, {"name": name})
    found = (each for each in body["device_profiles"] if each["name"] == name)
    return next((tuple(each["groups"]) for each in found), None)
