"""The configuration room: the control plane of a RHOSO deployment."""

from __future__ import annotations

from osc_traitsched.config import document, ini
from osc_traitsched.config.document import Branch
from osc_traitsched.core.errors import BadConfiguration

_KIND = "OpenStackControlPlane"
_SCHEDULER = (
    "spec",
    "nova",
    "template",
    "schedulerServiceTemplate",
    "customServiceConfig",
)


def read(path: str) -> ini.Ini:
    """Return what the scheduler's customServiceConfig sets; nothing if there is none.

    :raises BadConfiguration: for a file that has not one control plane, or an
        INI text that oslo.config can't parse
    """
    planes = [
        each for top in document.read(path) for each in _resources(top) if _is(each)
    ]
    if not planes:
        raise BadConfiguration(path, None, f"no {_KIND} in this file")
    if len(planes) > 1:
        raise planes[1].bad(f"a second {_KIND}: leave one in the file")
    found = planes[0].find(*_SCHEDULER)
    return ini.parse(_text(found)) if found else {}


def _resources(top: Branch) -> list[Branch]:
    """Return a document as a list of one, or what a ``kind: List`` has."""
    if top.is_null:
        return []
    items = top.children().get("items")
    return [top] if items is None else items.items() or []


def _is(resource: Branch) -> bool:
    kind = resource.find("kind")
    return kind is not None and kind.text() == _KIND


def _text(found: Branch) -> ini.Text:
    text = found.text()
    if text is None or not found.is_string():
        raise found.bad("is not a text", text)
    if found.is_literal():
        return ini.Text(found.path, text, found.line + 1)
    return ini.Text(found.path, text, found.line, in_one_line=True)
