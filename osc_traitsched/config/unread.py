"""Lines of nova.conf that no service reads, and what they were meant to set."""

from __future__ import annotations

import functools
import pkgutil
import re
from collections.abc import Mapping

from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import OPTIONS, NoEffect
from osc_traitsched.core.releases import NEWEST, OLDEST
from osc_traitsched.core.releases import release as release_name

#: Sections in which unknown names are reported; others may be read by other code.
_MISSPELLED_IN = ("DEFAULT", "scheduler", "filter_scheduler")

#: Names that guides invent have these words; the first that is in a name decides.
_MEANT_BY_WORD: Mapping[str, str] = {
    "isolated_hosts": options.ISOLATED_HOSTS,
    "isolated_images": options.ISOLATED_IMAGES,
    "image_type": options.IMAGE_TYPE,
    "disk_format": options.IMAGE_TYPE,
    "image_meta": options.IMAGE_METADATA,
    "image_prop": options.IMAGE_METADATA,
    "routed": options.ROUTED_NETWORKS,
    "isolat": options.ISOLATION,
    "tenant": options.TENANT,
    "project": options.TENANT,
    "zone": options.AZ_QUERY,
    "_az": options.AZ_QUERY,
    "pci_alias": options.PCI_ALIAS,
    "filters": options.ENABLED_FILTERS,
    "weigher": options.WEIGHT_CLASSES,
    "shuffle": options.SHUFFLE,
    "subset": options.HOST_SUBSET_SIZE,
}
OF_COMPUTE = re.compile("(cpu|ram|disk)_allocation_ratio|reserved_host_")
_MULTIPLIER, _NEAR = "_weight_multiplier", 0.85


@functools.cache
def _names() -> Mapping[str, tuple[int, int, str]]:
    """Every name that Nova ever read, with its first and last release.

    An old name also has the name that took its place.
    """
    text = pkgutil.get_data(__package__, "option_names.txt") or b""
    found: dict[str, tuple[int, int, str]] = {}
    for line in text.decode().splitlines():
        section, *names = line.split()
        for each in names if section != "#" else ():
            name, _, span = each.partition(":")
            old, _, new = name.partition(">")
            first, _, last = span.partition("-")
            releases = int(first or OLDEST), int(last or NEWEST)
            found[f"{section}.{old}"] = (*releases, new)
    return found


@functools.cache
def _meant(release: int) -> Mapping[str, tuple[str, ...]]:
    """Options of a release by all their names within a section, old ones too."""
    names, found = _names(), dict[str, set[str]]()
    for name, (_, _, new) in names.items():
        first, last, _ = names.get(new or name, (NEWEST, OLDEST, ""))
        if first <= release <= last:
            found.setdefault(name.rpartition(".")[2], set()).add(new or name)
    return {key: tuple(sorted(meant)) for key, meant in found.items()}


def unread(section: str, key: str, release: int, source: str) -> NoEffect | None:
    """Why a release of Nova does not read a line; None if it may read it.

    Unknown names are reported in [scheduler], [filter_scheduler] and, if they are near
    a known one, in [DEFAULT].
    """
    name, meant = f"{section}.{key}", _meant(release)
    first, last, _ = _names().get(name, (NEWEST, OLDEST, ""))
    if name in OPTIONS or first <= release <= last:
        return None
    is_own = section in _MISSPELLED_IN
    if is_own and OF_COMPUTE.search(key):
        return NoEffect(name, source, None, "only nova-compute reads it, in [DEFAULT]")
    one, *others = meant.get(key, ("",))
    if one and not others and "_" in key and (is_own or one in OPTIONS):
        return NoEffect(name, source, one)
    reason = f"{release_name(release)} has no such option"
    if not is_own or first <= last:
        gone = NoEffect(name, source, None, reason, is_gone=True)
        return gone if is_own else None
    stems = {
        each.replace(_MULTIPLIER, ""): option
        for home in (*_MISSPELLED_IN[1:], section)
        for each, of in meant.items()
        for option in of
        if option.startswith(f"{home}.") and "_" in each
    }
    near = near_names(key.replace(_MULTIPLIER, ""), stems, _NEAR)
    if not near and section == "DEFAULT":
        return None
    words = () if key.endswith(_MULTIPLIER) else _MEANT_BY_WORD
    invented = (_MEANT_BY_WORD[word] for word in words if word in key)
    found = stems[near[0]] if near else next(invented, "")
    if found and (near or OPTIONS[found].is_in(release)):
        return NoEffect(name, source, found)
    nearest = tuple(stems[each] for each in near_names(key, stems)[:1])
    return NoEffect(name, source, None, reason, nearest)
