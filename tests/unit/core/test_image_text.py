"""How a property's value is written, by itself and as that of an image."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import image, properties


def values(known):
    """Yield what may be written of a property, right or wrong."""
    if known.kind == properties.SWITCH:
        return ["true", "True", "yes", "1"]
    if known.kind == properties.NUMBER:
        return ["4", "04", " 4", "four", ""]
    written = [*known.choices, *known.renamed]
    return [*written, *map(str.upper, written), "nothing"]


KINDS = (properties.CHOICE, properties.SWITCH, properties.NUMBER)
KNOWN = [each for each in properties.PROPERTIES if each.kind in KINDS]


@pytest.mark.parametrize("release", [20, 27, 34])
@pytest.mark.parametrize("known", KNOWN, ids=lambda each: each.name)
def test_a_text_stands_for_what_an_image_with_it_is_compared_by(known, release):
    if not image.is_property(known.name, release):
        assert image.as_written(known.name, values(known)[0], release) is None
        return
    for value in values(known):
        written = image.as_written(known.name, value, release)
        try:
            found = image.read({"id": "i", known.name: value}, release)
        except Refusal:
            assert written is None, value
        else:
            assert written == image.text(found, known.name, release), value


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("architecture", "hw_architecture"),
        ("owner_id", "img_owner_id"),
        ("hw_architecture", None),
        ("licence", None),
    ],
)
def test_a_property_may_have_an_old_name(old, name):
    assert image.current_name(old) == name
