"""What a request would depend on and nobody said, or what Nova silently leaves out."""

from __future__ import annotations

import dataclasses

#: The flavor or the image names groups that only another service can spell out.
PCI_ALIAS = "pci alias"
PCI_ALIAS_IN_PLACEMENT = "pci alias in placement"
DEVICE_PROFILE = "device profile"

#: A condition of nova-api that depends on more than the flavor and the image.
ZERO_DISK = "zero disk needs a policy"
VOLUME_SIZE = "volume size"
VOLUME_ZONE = "volume zone"
KERNEL_IMAGE = "kernel image"
MIXED_COMPUTES = "mixed policy needs computes of victoria"
SOUND_COMPUTES = "sound model needs computes of 2025.2"
REQUESTED_HOST = "requested host"
FORCED_HOST = "named host needs a policy"
REQUESTED_DESTINATION = "asked host needs a policy"
PROJECT = "project not given"

#: Something that Nova reads and drops, with no more than a line in its log.
BAD_GROUP_POLICY = "invalid group policy"
UNKNOWN_RESOURCE_CLASS = "unknown resource class"
BAD_AMOUNT = "invalid amount"
BAD_TRAIT_VALUE = "trait value neither required nor forbidden"
BAD_SUFFIX = "suffix of no group"
OVERWRITTEN = "overwritten"
STATELESS_WITHOUT_UEFI = "stateless firmware without uefi"

#: A prefilter that is on and adds nothing.
IMAGE_TYPE = "image type unknown trait"
IMAGE_METADATA = "image metadata prefilter adds nothing"
ZONE = "zone has no aggregate, so no restriction"
TENANT = "tenant has no aggregate, so no restriction"


@dataclasses.dataclass(frozen=True)
class NotEvaluated:
    """One such thing.

    :ivar kind: one of this module's constants
    :ivar key: the flavor's key or the image's property it is about; the zone's
        or the project's name for a prefilter that found no aggregate of it
    :ivar value: the value under that key, as text
    """

    kind: str
    key: str
    value: str = ""
