"""The words of what is due to images of other projects alone."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.check.others import ImagesOfOthers
from osc_traitsched.text import listed, option
from osc_traitsched.views.check.wording import Words, word


@word.register
def _(finding: ImagesOfOthers) -> Words:
    first = finding.found[0]
    words = word(first)
    more = "".join((_alike(finding), _other_images(finding)))
    if first.kind is Kind.OPTION:
        problem = f"{option(first.name)}: {words.problem}{more}"
        return dataclasses.replace(words, problem=problem)
    about = "" if first.kind is Kind.IMAGE else f"{first.kind.value} {first.name}: "
    return Words(
        f"{about}{words.problem}{more}", "leave it to the project that owns the image"
    )


def _alike(finding: ImagesOfOthers) -> str:
    first, *rest = finding.found
    if not rest:
        return ""
    names = dict.fromkeys(each.name for each in rest if each.name != first.name)
    which = f": {listed(names, first.kind.value)}" if names else ""
    return f"; {len(rest)} more like it{which}"


def _other_images(finding: ImagesOfOthers) -> str:
    """Return the images that the words of the first finding do not name."""
    first = finding.found[0]
    if first.kind is Kind.IMAGE or finding.images == first.due_to_images:
        return ""
    return f"; all by the {listed(finding.images, 'image')}"
