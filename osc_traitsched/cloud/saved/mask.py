"""Masks a saved cloud: the same word instead of the same name, wherever it occurs."""

from __future__ import annotations

import collections
import functools
import ipaddress
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud.saved.lists import LISTS

#: UUIDs, IDs of Keystone and LDAP, and hashes.
_ID = r"\b(?:[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}|[\da-fA-F]{32,})\b"
_SECRET = re.compile(rf"{_ID}|\bCUSTOM_\w+|\b\d+\.\d+\.\d+\.\d+\b", re.I)
_WORD = re.compile(r"\w[\w.-]*\w|\w")
#: Words of failures that are told apart by their text.
_OF_NOVA = re.compile(
    "no|valid|host|was|found|there|are|not|enough|hosts|available|exceeded|maximum|"
    "number|of|retries|exhausted|all|for|retrying|build|failures|instance",
    re.I,
)
_FOLDERS = re.compile(r"[^\s:,]*/")
#: What Nova and Neutron put behind the name of a host.
_NESTED = re.compile(r"_(?:NUMA\d+|[\da-f:.]+)")

# What strings are, by the key that they are behind.

#: Mappings of any keys, but those that mean something to Nova.
_FREE = re.compile(
    "extra_specs|(volume_image_)?metadata|(image_)?properties|scheduler_hints|images"
)
_STANDARD = re.compile(
    r"(?:accel|capabilities|hw\w*|os|pci_passthrough|quota|resources\w*|trait\w*):.*|"
    r"(?:hw|img|os|hypervisor)_?\w*|architecture|availability_zone|"
    r"group_policy|hide_hypervisor_id|instance_type|max_\w+_per_host|vm_mode|"
    r"\w+_(?:allocation_ratio|weight_multiplier)|"
    r"\w+_(?:at|format)|checksum|id|min_(?:disk|ram)|name|owner|(?:virtual_)?size|"
    r"status|visibility|build_near_host_ip|cidr|different_host|group|query|same_host"
)
#: Parts of values that are compared: operators, numbers and switches stay.
_KEPT = re.compile(r"<[\w-]+>|s?[<>=!]=?|[-\d.]+|true|false|required|forbidden", re.I)
_KINDS = {
    key: kind
    for kind, keys in {
        "host": "host hosts source_compute dest_compute source_node dest_node "
        "dest_host hypervisor_hostname OS-EXT-SRV-ATTR:host binding:host_id "
        "OS-EXT-SRV-ATTR:hypervisor_hostname",
        "zone": "zone zoneName availability_zone OS-EXT-AZ:availability_zone "
        "pinned_availability_zone",
        "text": "details message query group same_host different_host",
        "address": "host_ip ip_address build_near_host_ip",
        "whole": "description disabled_reason reason traceback user",
    }.items()
    for key in keys.split()
}


def masked(
    document: Mapping[str, Any], keep_traits: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """A document with words instead of names, and what each word stands for.

    Hosts stay in the order of their names, and addresses in the same networks.

    :param keep_traits: keep custom traits, metadata of aggregates and extra specs
    """
    mask = _Mask(document, keep_traits)
    return {**mask.document(document), "masked": mask.mark}, mask.originals


class _Mask:
    def __init__(self, document: Mapping[str, Any], keep_traits: bool) -> None:
        self.originals: dict[str, str] = {}
        self._keeps = keep_traits
        self._classes = frozenset(document["placement"]["resource_classes"])
        self._counts = collections.Counter[str]()
        self._words: dict[str, str] = {}
        self._salt = uuid.uuid4()
        #: Only names of the same mark can be compared.
        self.mark = str(uuid.uuid5(self._salt, "mark"))
        # The same few names are behind many objects.
        self._name = functools.cache(self._new_name)
        self._ids = functools.cache(self._without_ids)
        self._by_kind: Mapping[str | None, Callable[[str], str]] = {
            "host": self._host,
            "zone": self._zones,
            "text": self._text,
            "address": self._address,
            "whole": lambda text: text and "masked",
        }

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The document with other names; texts come last, since names are in them."""
        found = {
            **document,
            "placement": {
                **self._walk(document["placement"]),
                "providers": list(self._providers(document)),
            },
        }
        lists = [e for e in LISTS if e.kind in document.get(e.service, {})]
        for each in lists:
            bodies = document[each.service][each.kind]
            named = [self._named(each.single, body) for body in bodies]
            found[each.service] = {**found[each.service], each.kind: named}
        for each in lists:
            bodies = found[each.service][each.kind]
            found[each.service][each.kind] = self._walk(bodies, each.kind)
        for key in ("answers", "missing", "own_project"):
            found[key] = self._walk(document[key])
        return {**found, "settings": self._settings(document["settings"])}

    def _named(self, single: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        name = body.get("name")
        if not name or single in ("flavor", "device_profile"):
            return body
        return {**body, "name": self._name(single.replace("_", "-"), name)}

    def _providers(self, document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        nodes = {e["id"] for e in document.get("compute", {}).get("hypervisors", ())}
        bodies = document["placement"]["providers"]
        names = {each["uuid"]: each["name"] for each in bodies}
        for body in bodies:
            name, root = body["name"], names[body["root"]]
            is_node = body["root"] in nodes
            word = self._host(root) if is_node else self._name("provider", root)
            end = name[len(root) :] if name.startswith(root) else "?"
            if end and not _NESTED.fullmatch(end):
                end = f"_{self._name('part', name)}"
            yield {**self._walk(body), "name": word + end}

    def _settings(self, found: Mapping[str, Any]) -> dict[str, Any]:
        def row(entry: list[Any]) -> list[Any]:
            section, key, value, path, *others = entry
            return [section, key, self._text(value), _FOLDERS.sub("", path), *others]

        short = functools.partial(_FOLDERS.sub, "")
        return {
            "place": _strings(found["place"], short),
            "named": _strings(found["named"], self._text),
            "options": list(map(row, found["options"])),
            "lines": _strings(found["lines"], short),
            "files": {
                name: [list(map(row, rows)) for rows in layers]
                for name, layers in found["files"].items()
            },
        }

    def _walk(self, value: Any, key: str = "") -> Any:
        if isinstance(value, list):
            return [self._walk(each, key) for each in value]
        if isinstance(value, dict):
            is_free = _FREE.fullmatch(key)
            if is_free and not (self._keeps and key in ("extra_specs", "metadata")):
                return dict(self._free(key, value))
            return {self._ids(k): self._walk(v, k) for k, v in value.items()}
        if not isinstance(value, str):
            return value
        return self._by_kind.get(_KINDS.get(key), self._ids)(value)

    def _free(self, kind: str, found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Keys with values; own keys of a cloud, and their values, are masked."""
        for key, value in found.items():
            scope, colon, own = key.rpartition(":")
            if key.startswith("filter_tenant_id"):
                yield key, re.sub(r"[^\s,]+", lambda m: self._project(m[0]), value)
            elif _STANDARD.fullmatch(key):
                yield self._ids(key), self._walk(value, key)
            elif kind != "images":
                word = scope + colon + self._cased("key", own)
                yield word, _strings(value, self._value)

    def _value(self, text: str) -> str:
        def word(match: re.Match[str]) -> str:
            is_kept = _KEPT.fullmatch(match[0])
            return match[0] if is_kept else self._cased("value", match[0])

        return re.sub(r"[^\s,]+", word, text)

    def _cased(self, kind: str, text: str) -> str:
        """A word that differs in case if the text does: MariaDB ignores that."""
        word = self._name(kind, text.lower())
        return word if text.islower() else word.upper()

    def _host(self, name: str) -> str:
        if self._ids(name) != name:
            return self._ids(name)
        short, dot, domain = name.partition(".")
        return self._name("cmp", short) + dot + (dot and self._name("domain", domain))

    def _project(self, text: str) -> str:
        """By mistake, names are written instead of IDs."""
        masked = self._ids(text)
        return masked if masked != text else self._name("project", text)

    def _zones(self, text: str) -> str:
        """The words of one zone, or of several with commas."""
        return ",".join(
            each if each in ("nova", "internal", "") else self._name("zone", each)
            for each in text.split(",")
        )

    def _new_name(self, kind: str, name: str) -> str:
        self._counts[kind] += 1
        word = f"{kind}-{self._counts[kind]:0{3 if kind == 'cmp' else 2}}"
        word = word.replace("-", "_") if kind.isupper() else word
        self.originals[word] = name
        self._words.setdefault(name, word)
        return word

    def _text(self, text: str) -> str:
        def word(match: re.Match[str]) -> str:
            name = match[0]
            if _OF_NOVA.fullmatch(name):
                return name
            short, dot, domain = name.partition(".")
            masked = self._words.get(short, short) + dot + self._words.get(domain, "")
            return self._words.get(name, masked if domain in self._words else name)

        return self._ids(self._words.get(text) or _WORD.sub(word, text))

    def _without_ids(self, text: str) -> str:
        return _SECRET.sub(lambda match: self._secret(match[0]), text)

    def _secret(self, text: str) -> str:
        if text.upper().startswith("CUSTOM_"):
            if self._keeps or text.upper() in self._classes:
                return text
            word = self._name("CUSTOM_TRAIT", text.upper())
            return word if text.isupper() else word.lower()
        if "." in text:
            return self._address(text)
        new = uuid.uuid5(self._salt, text)
        word = str(new) if "-" in text else new.hex
        self.originals[word] = text
        return word

    def _address(self, text: str) -> str:
        """Another address; those of one network stay in one."""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return text
        most = 2**address.max_prefixlen
        return str(type(address)(int(address) ^ self._salt.int % most))


def _strings(value: Any, replace: Callable[[str], str]) -> Any:
    """A JSON value with other strings, but for keys."""
    if isinstance(value, dict):
        return {key: _strings(each, replace) for key, each in value.items()}
    if isinstance(value, list):
        return [_strings(each, replace) for each in value]
    return replace(value) if isinstance(value, str) else value
