"""Saves a cloud in a file, and opens such a file instead of a cloud."""

from __future__ import annotations

import contextlib
import datetime
import functools
import gzip
import io
import itertools
import json
import os
import pathlib
import re
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from osc_traitsched.app import gc_paused
from osc_traitsched.cloud import lookup
from osc_traitsched.cloud import read as cloud_read
from osc_traitsched.cloud.saved import collect as collected
from osc_traitsched.cloud.saved.cloud import SavedCloud
from osc_traitsched.cloud.saved.collect import Progress, collect
from osc_traitsched.cloud.saved.form import FORMAT, wrong
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import document, saved
from osc_traitsched.config.sources import SettingsSources
from osc_traitsched.core.difference import Change, Put, applied
from osc_traitsched.core.errors import (
    BadConfiguration,
    BadUsage,
    NothingMatches,
    NotInCatalog,
)
from osc_traitsched.core.inventory.snapshot import (
    OTHER_RATIOS,
    Nova,
    Selectors,
    select,
)
from osc_traitsched.core.nova.options import ClaimAnswers
from osc_traitsched.core.servers.state import moment
from osc_traitsched.text import near_names

_MAP = ".map.json"
#: Of bytes, unpacked: many times what ten thousand hosts take.
MOST = 500_000_000
#: A packed file of equal hosts is 30 times larger unpacked.
MOST_RATIO, _SMALL = 100, 20_000_000
_CUT = "the file is cut or damaged"
_NOT_OURS = "not a snapshot of trait-sched"


class Snapshot(NamedTuple):
    """An opened file.

    :ivar document: what was read of the cloud, with ``time`` and ``tool``
    :ivar claims: answers of Nova from the file's records; None if it is not asked
    """

    path: str
    document: Mapping[str, Any]
    claims: ClaimAnswers | None = None

    @property
    def cloud(self) -> SavedCloud:
        """The cloud of that time."""
        return SavedCloud(self.document)

    @property
    def sources(self) -> SettingsSources:
        """The settings of that time."""
        try:
            sources = saved.from_json(self.document["settings"])
        except (LookupError, TypeError, ValueError, AttributeError) as exc:
            reason = "its settings can't be read"
            raise BadConfiguration(self.path, None, reason) from exc
        # Its place may be a path of another machine.
        sources.place = sources.place and "options saved with the snapshot"
        sources.claims = self.claims
        return sources

    @property
    def records(self) -> Mapping[str, Any]:
        """Nova's records of its hosts, by node UUID; empty if it was saved without."""
        records: Mapping[str, Any] = self.document.get("facts", {}).get("hosts", {})
        return records

    def with_settings(self, sources: SettingsSources) -> Snapshot:
        """The same cloud with other settings."""
        document = {**self.document, "settings": saved.to_json(sources)}
        return self._replace(document=document)

    def settled(self, sources: SettingsSources) -> Snapshot:
        """The same cloud; with these settings, if it was saved without any."""
        return self if self.sources.place else self.with_settings(sources)

    @property
    def time(self) -> datetime.datetime:
        """When its reading ended, in UTC."""
        found = moment(self.document["time"])
        if found is None:
            raise BadConfiguration(self.path, None, "its time can't be read")
        return found

    def check_comparable(self, other: Snapshot | None) -> None:
        """Reject a comparison of other names, or of a light snapshot with a full one.

        :param other: None for a live cloud, which is read as this one was
        :raises BadUsage: for what can't be compared
        """
        document = other.document if other else {"light": self.document["light"]}
        for key, reason in (
            ("masked", "masked names can't be compared: save it without --mask"),
            ("light", "it is light: save both in the same way"),
        ):
            if self.document.get(key) != document.get(key):
                odd = other if other and document.get(key) else self
                raise BadUsage(f"{odd.path}: {reason}")


class Ratio(NamedTuple):
    """Another allocation ratio of a resource class.

    :ivar where: a host or an aggregate; empty for all providers with the class
    """

    where: str
    resource_class: str
    value: float

    def __str__(self) -> str:
        where = f"{self.where}:" * bool(self.where)
        return f"ratio {where}{self.resource_class}={self.value:g}"


def with_ratios(old: Snapshot, ratios: Iterable[Ratio]) -> Snapshot:
    """The same cloud with other allocation ratios; a later one overrides.

    :raises BadUsage: for a light snapshot, which lacks ratios
    :raises NothingMatches: for an unknown host or aggregate, or a class that its
        providers do not have
    """
    if old.document["light"]:
        raise BadUsage("--ratio needs a snapshot that was saved without --light")
    puts, nodes = [], {each.uuid for each in lookup.computes(old.cloud)}
    for ratio in ratios:
        name, roots = ratio.resource_class, _roots(old.cloud, ratio.where)
        uuids = [
            each["uuid"]
            for each in old.document["placement"]["providers"]
            if name in each["inventories"] and (roots is None or each["root"] in roots)
        ]
        if not uuids:
            near = near_names(name, old.document["placement"]["resource_classes"])
            raise NothingMatches("inventory", name, near)
        for uuid in uuids:
            path = ("placement", "providers", uuid, "inventories", name)
            puts.append(Put((*path, "allocation_ratio"), None, ratio.value))
            if uuid in nodes:
                # nova-compute reports it, too, and Nova limits NUMA cells by it.
                path = ("compute", "hypervisors", uuid, OTHER_RATIOS, name)
                puts.append(Put(path, None, ratio.value))
    change = Change("provider", "", "", tuple(puts))
    return old._replace(document=applied(old.document, [change]))


def _roots(cloud: Cloud, where: str) -> frozenset[str] | None:
    """UUIDs of a host, or else of the hosts of an aggregate; None for all."""
    if not where:
        return None
    nova = Nova(lookup.computes(cloud), cloud_read.aggregates(cloud.compute))
    every = cloud_read.providers(cloud.placement).with_nova(nova)
    try:
        found = select(Selectors(hosts=(where,)), every)
    except NothingMatches:
        if all(where != each.name for each in nova.aggregates):
            raise
        found = select(Selectors(aggregates=(where,)), every)
    return frozenset(each.uuid for each in found.providers)


def save(
    cloud: Cloud,
    sources: SettingsSources,
    light: bool = False,
    progress: Progress = iter,
) -> dict[str, Any]:
    """The cloud as the document of a snapshot; see :func:`collect`.

    It lacks the name and version of this program.
    """
    start = time.monotonic()
    found = collect(cloud, light, progress)
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "format": FORMAT,
        "tool": "",
        "time": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "seconds": round(time.monotonic() - start, 1),
        "settings": saved.to_json(sources),
        **found,
    }


def failed(found: Mapping[str, Any]) -> list[str]:
    """IDs of the servers of a document that failed, or failed to move; newest first."""
    return collected.failed(found["compute"])


def write(path: str, found: Mapping[str, Any]) -> None:
    """Write a document; it is packed if the name ends in ``.gz``. A link is replaced.

    :raises BadConfiguration: if the file can't be written
    """
    document.write(path, _packed(path, found), follows=False)


def _packed(path: str, found: Mapping[str, Any]) -> bytes:
    data = "".join(text(found)).encode()
    # Equal clouds make equal files.
    return gzip.compress(data, mtime=0) if path.endswith(".gz") else data


_END = ".json.gz"
#: Names of the files in a folder; only these are ever removed from it.
_DATED = re.compile(r"\d{8}T\d{6}Z(-\d+)?\.json\.gz")
#: What runs that were killed have left, if it is a day old.
_UNFINISHED = re.compile(rf"\.{_DATED.pattern}({re.escape(_MAP)})?\.\w+")
_DAY = 24 * 60 * 60


def write_map(path: str, originals: Mapping[str, str]) -> None:
    """Write what the words of a masked snapshot stand for beside it.

    A link of that name is replaced, not followed.

    :raises BadConfiguration: if the file can't be written
    """
    text = json.dumps(originals, indent=1)
    document.write(f"{path}{_MAP}", text, follows=False)


def write_into(folder: str, found: Mapping[str, Any], most: int) -> str:
    """Write a document into a folder, and remove old snapshots there.

    The newest by name stay, and the new one, whatever the clock has said before.

    :return: the path of the file
    :raises BadConfiguration: if the file can't be written
    """
    stem, place = re.sub(r"[-:]", "", str(found["time"])), document.located(folder)
    name = f"{stem}{_END}"
    try:
        with document.temporary(place / name, _packed(name, found)) as written:
            for number in itertools.count(2):
                try:
                    os.link(written, place / name)
                    break
                except FileExistsError:
                    # Of another run in the same second.
                    name = f"{stem}-{number}{_END}"
                except OSError:
                    # Not all file systems have hard links.
                    os.replace(written, place / name)
                    break
        there = sorted(each.name for each in place.iterdir())
        dated = [each for each in there if _DATED.fullmatch(each)]
        for old in (each for each in dated[:-most] if each != name):
            for end in ("", _MAP):
                (place / f"{old}{end}").unlink(missing_ok=True)
        for left in filter(_UNFINISHED.fullmatch, there):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - (place / left).stat().st_mtime > _DAY:
                    (place / left).unlink()
    except OSError as exc:
        raise document.unreadable(folder, exc) from exc
    return os.path.join(folder, name)


def within(path: str, end: datetime.datetime) -> tuple[str, ...]:
    """The snapshots in a folder of :func:`write_into`, the oldest first; or the file.

    :param end: later ones are left out
    :raises BadConfiguration: if the folder can't be read, or has none
    """
    place = document.located(path)
    if not place.is_dir():
        return (path,)
    try:
        dated = [e.name for e in place.iterdir() if _DATED.fullmatch(e.name)]
    except OSError as exc:
        raise document.unreadable(path, exc) from exc
    # Of one second, the first has no number.
    stems = sorted(name.removesuffix(_END) for name in dated)
    found = [e for e in stems if e.partition("-")[0] < f"{end:%Y%m%dT%H%M%SZ}"]
    if not found:
        reason = (
            f"no snapshot from before {end:%Y-%m-%d %H:%M} UTC is in this folder; only "
            f"names such as 20261126T020004Z{_END} count, as --keep writes them"
        )
        raise BadConfiguration(path, None, reason)
    return tuple(os.path.join(path, f"{stem}{_END}") for stem in found)


def summary(found: Mapping[str, Any], path: str) -> str:
    """What was saved, as one line."""
    hosts = len(found.get("compute", {}).get("hypervisors", ()))
    servers = len(found.get("compute", {}).get("servers", ()))
    lacking = NotInCatalog.__name__
    reasons = found["missing"].items()
    missing = ", ".join(sorted(k for k, why in reasons if why["error"] != lacking))
    unread = f"; not read: {missing}" if missing else ""
    return f"Saved {hosts} hosts and {servers} servers to {path}{unread}"


def text(found: Mapping[str, Any], levels: int = 2) -> Iterator[str]:
    """JSON with a line for each object of a list; extra specs keep their order."""
    for number, (key, value) in enumerate(sorted(found.items())):
        yield f"{',' if number else '{'}\n{json.dumps(key)}: "
        if levels > 1 and isinstance(value, dict) and value:
            yield from text(value, levels - 1)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield "[\n" + ",\n".join(map(_line, value)) + "\n]"
        else:
            yield _line(value)
    yield "\n}"


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def read(path: str) -> Snapshot:
    """Open a snapshot; it is read again only if the file has changed.

    :raises BadConfiguration: for a file that can't be read, is not a snapshot, or is
        of another format
    """
    place = document.located(path).absolute()
    try:
        state = place.stat()
    except OSError as exc:
        raise document.unreadable(path, exc) from exc
    return _read(path, place, (state.st_mtime_ns, state.st_size))


def _unpacked(path: str, packed: bytes) -> bytearray:
    """:raises BadConfiguration: for much more than a snapshot has; that is not read"""
    found, most = bytearray(), min(MOST, max(_SMALL, MOST_RATIO * len(packed)))
    with gzip.open(io.BytesIO(packed)) as stream:
        while part := stream.read(1_000_000):
            found += part
            if len(found) > most:
                reason = f"unpacked larger than {most // 1_000_000} MB"
                raise BadConfiguration(path, None, reason)
    return found


@functools.lru_cache(maxsize=2)
@gc_paused()
def _read(path: str, place: pathlib.Path, _: tuple[int, int]) -> Snapshot:
    try:
        with place.open("rb") as stream:
            packed = stream.read(MOST + 1)
        data = _unpacked(path, packed) if packed[:2] == b"\x1f\x8b" else packed
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise BadConfiguration(path, None, _CUT) from exc
    except OSError as exc:
        raise document.unreadable(path, exc) from exc
    if len(data) > MOST:
        raise BadConfiguration(path, None, f"larger than {MOST // 1_000_000} MB")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as exc:
        reason = _CUT if data.lstrip()[:1] == b"{" else _NOT_OURS
        raise BadConfiguration(path, None, reason) from exc
    if not isinstance(found, dict) or not {"format", "placement"} <= found.keys():
        raise BadConfiguration(path, None, _NOT_OURS)
    if found["format"] != FORMAT:
        reason = f"of format {found['format']}; this version reads {FORMAT}"
        raise BadConfiguration(path, None, reason)
    if key := wrong(found):
        raise BadConfiguration(path, None, f"not a whole snapshot: wrong at {key}")
    return Snapshot(path, found)
