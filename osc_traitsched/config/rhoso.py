"""The configuration room: the control plane of a RHOSO deployment."""

from __future__ import annotations

from osc_traitsched.config import document, nova_conf
from osc_traitsched.config.document import Branch
from osc_traitsched.core.errors import BadConfiguration

API_VERSION, KIND = "core.openstack.org/v1beta1", "OpenStackControlPlane"

#: Where in it the scheduler's own part of nova.conf is.
SCHEDULER = (
    "spec",
    "nova",
    "template",
    "schedulerServiceTemplate",
    "customServiceConfig",
)


def read(path: str) -> nova_conf.Text:
    """Return the scheduler's customServiceConfig; empty if there is none.

    :raises BadConfiguration: for a file that has not one control plane
    """
    planes = [
        each for top in document.read(path) for each in _resources(top) if _is(each)
    ]
    if not planes:
        raise BadConfiguration(path, None, f"no {KIND} in this file")
    if len(planes) > 1:
        raise planes[1].bad(f"a second {KIND}: leave one in the file")
    found = planes[0].find(*SCHEDULER)
    return _text(found) if found else nova_conf.Text(path, "")


def _resources(top: Branch) -> list[Branch]:
    """Return a document as a list of one, or what a ``kind: List`` has."""
    if top.is_null:
        return []
    items = top.children().get("items")
    return [top] if items is None else items.items() or []


def _is(resource: Branch) -> bool:
    kind = resource.find("kind")
    return kind is not None and kind.text() == KIND


def _text(found: Branch) -> nova_conf.Text:
    text = found.text()
    if text is None or not found.is_string():
        raise found.bad("is not a text", text)
    if found.is_literal():
        return nova_conf.Text(found.path, text, found.line + 1)
    return nova_conf.Text(found.path, text, found.line, in_one_line=True)
