"""The prefilter that looks at the devices and architectures of an image."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.nova.clause import RootTrait
from osc_traitsched.core.nova.server import not_evaluated, properties
from osc_traitsched.core.nova.server.adding import Found, SoFar
from osc_traitsched.core.nova.server.not_evaluated import NotEvaluated
from osc_traitsched.core.nova.server.server import Server
from osc_traitsched.core.nova.settings import SchedulerSettings


@dataclasses.dataclass(frozen=True)
class _TraitProperty:
    """An image property that this prefilter turns into a trait.

    :ivar without: values that os-traits has no such trait for
    :ivar only: where given, the only values that it has one for
    """

    name: str
    prefix: str
    since: int
    without: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    def has_trait(self, value: str) -> bool:
        known = self.only is None or value in self.only
        return known and value not in self.without


_TRAIT_PROPERTIES = (
    _TraitProperty("hw_cdrom_bus", "COMPUTE_STORAGE_BUS", 21),
    _TraitProperty("hw_disk_bus", "COMPUTE_STORAGE_BUS", 21),
    _TraitProperty("hw_video_model", "COMPUTE_GRAPHICS_MODEL", 21),
    _TraitProperty("hw_vif_model", "COMPUTE_NET_VIF_MODEL", 21),
    _TraitProperty("hw_architecture", "HW_ARCH", 25, without=frozenset({"armv7l"})),
    _TraitProperty(
        "hw_emulation_architecture",
        "COMPUTE_ARCH",
        25,
        only=frozenset({"aarch64", "mipsel", "ppc64le", "s390x", "x86_64"}),
    ),
    # os-traits calls them COMPUTE_VIOMMU_MODEL_*, and Nova looks for COMPUTE_VIOMMU_*.
    _TraitProperty("hw_viommu_model", "COMPUTE_VIOMMU", 26, only=frozenset()),
)

_NAMES = frozenset(told.name for told in _TRAIT_PROPERTIES)

#: The properties under all their names.
KEYS = (
    *sorted(_NAMES),
    *(old for old, name in properties.OLD_NAMES.items() if name in _NAMES),
    properties.OLD_ADAPTER,
)


def transform_image_metadata(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require what the image's devices and architectures ask of a host.

    One value without a trait is enough, and none of them is required
    (nova/scheduler/request_filter.py, ``transform_image_metadata``).
    """
    clauses = []
    for told in _TRAIT_PROPERTIES:
        value = server.image.text(told.name)
        if value is None or server.release < told.since:
            continue
        if not told.has_trait(value):
            key = server.image.key(told.name)
            yield NotEvaluated(not_evaluated.IMAGE_METADATA, key, value)
            return
        trait = f"{told.prefix}_{value.replace('-', '_').upper()}"
        clauses.append(RootTrait(trait, False, (server.image.origin(told.name),)))
    yield from clauses
