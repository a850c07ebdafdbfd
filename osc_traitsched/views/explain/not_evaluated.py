"""What an explanation does not cover, named."""

from __future__ import annotations

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.nova.server import not_evaluated as kinds
from osc_traitsched.core.nova.server.parts import Parts, Volume


def items(explanation: Explanation) -> list[dict[str, str]]:
    """Return what was not looked at: a kind, and one line about it."""
    parts = explanation.question.parts
    found = []
    if not (parts.ports or parts.networks or explanation.question.is_kept):
        text = "networks and ports: none were named (--port, --network)"
        found.append({"kind": "ports", "text": text})
    for port in parts.ports:
        if not port.is_request_shown:
            text = (
                f"port {port.label}: Neutron shows no resource_request; it does so to "
                "administrators, where it has port-resource-request"
            )
            found.append({"kind": "resource request", "text": text})
    if parts.profiles_unread is not None:
        text = f"device profiles: {parts.profiles_unread!s}"
        found.append({"kind": "device profiles", "text": text})
    found += [{"kind": "multiattach", "text": _shared(each)} for each in _many(parts)]
    if explanation.request is not None and explanation.question.is_forced:
        text = "nova-scheduler skips its filters for a host that is named"
        found.insert(0, {"kind": "host filters", "text": text})
    if explanation.request is not None:
        found.extend(
            {"kind": each.kind, "text": _line(each.kind, each.key, each.value)}
            for each in explanation.request.not_evaluated
        )
    return found


#: nova/pci/request.py, ``_translate_alias_to_requests``
_PCI = (
    "PCI devices of {named}: nova-api refuses the server (HTTP 400) unless [pci]alias "
    "of its nova.conf has the alias"
)

#: Sentences for what Nova's own code leaves out, or what was not given.
_SENTENCES = {
    kinds.PCI_ALIAS: f"{_PCI}; then a filter of nova-scheduler's decides",
    kinds.PCI_ALIAS_IN_PLACEMENT: f"{_PCI}, which says what Placement is asked for",
    kinds.FORCED_HOST: "{named}: nova-api refuses a host that is named (HTTP 403) "
    "unless the policy os_compute_api:servers:create:forced_host allows it to the "
    "user; by default it takes admin",
    kinds.REQUESTED_DESTINATION: "{named}: nova-api refuses a host that is asked for "
    "(HTTP 403) unless the policy compute:servers:create:requested_destination allows "
    "it to the user; by default it takes admin",
    kinds.DEVICE_PROFILE: "device profile {named}: Cyborg knows what it asks for; "
    "--device-profile FILE says it, too",
    kinds.VOLUME_ZONE: "volume {key} is in the default zone {value}, for which "
    "nova-api asks for no zone; as [cinder]cross_az_attach is off, nova-compute ends "
    "the build on a host of another zone",
    kinds.PROJECT: "aggregates for tenants: no project is given",
    kinds.BAD_GROUP_POLICY: "{named}: ignored by Nova, since it is no group policy",
    kinds.UNKNOWN_RESOURCE_CLASS: "{named}: ignored by Nova, no resource class",
    kinds.BAD_AMOUNT: "{named}: ignored by Nova, since it is no amount",
    kinds.BAD_TRAIT_VALUE: "{named}: ignored by Nova, neither required nor forbidden",
    kinds.BAD_SUFFIX: "{named}: ignored by Nova, since it is no group's suffix",
    kinds.IMAGE_TYPE: "{named}: no trait stands for this format; it restricts nothing",
    kinds.IMAGE_METADATA: "{named}: no trait stands for it, and so all of "
    "transform_image_metadata adds nothing",
    kinds.ZONE: "zone {named}: no aggregate has it; it restricts nothing in Placement",
    kinds.TENANT: "project {named}: no aggregate names it; it is not restricted",
}


def _many(parts: Parts) -> list[Volume]:
    return [each for each in parts.volumes if each.is_multiattach]


def _shared(volume: Volume) -> str:
    """Return what nova-compute looks at when it attaches a volume of several servers.

    nova/virt/block_device.py, ``DriverVolumeBlockDevice.attach``
    """
    return (
        f"volume {volume.label}: several servers can have it, which only a host with "
        "COMPUTE_VOLUME_MULTI_ATTACH can do; Nova does not ask Placement for that trait"
    )


def _line(kind: str, key: str, value: str) -> str:
    named = f"{key}={value}" if value else key
    sentence = _SENTENCES.get(kind, f"{kind}: {{named}}")
    return sentence.format(named=named, key=key, value=value)
