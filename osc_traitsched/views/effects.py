"""What a plan does to the hosts that flavors can use, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from osc_traitsched.core.change.isolation import Effect, LeavesNoHost
from osc_traitsched.views import problems
from osc_traitsched.views.text import count, listed, quoted


def losses(
    effects: Iterable[Effect], inside: frozenset[str] | None = None
) -> list[str]:
    """Return a line for the flavors of each kind that lose hosts.

    :param inside: the roots of the aggregate's hosts; None where there is none
    """
    lines = []
    for kind in _kinds((e for e in effects if e.lost), inside or frozenset()):
        effect = kind[0]
        kept = len(effect.now & effect.then)
        where = ""
        if inside is not None:
            there = len(effect.lost & inside) or "none"
            where = f", {there} of them in the aggregate,"
        lines.append(
            f"{_flavors(kind)} will lose {len(effect.lost)} of "
            f"{count(len(effect.now), 'host')}{where} and keep {kept or 'none'}"
        )
    return lines


def gains(effects: Iterable[Effect], inside: frozenset[str]) -> list[str]:
    """Return a line for the flavors of each kind that gain hosts."""
    return [
        f"{_flavors(kind)} will gain {count(len(kind[0].gained), 'host')}, "
        f"{len(kind[0].gained & inside) or 'none'} of them in the aggregate"
        for kind in _kinds((e for e in effects if e.gained), inside)
    ]


def _kinds(effects: Iterable[Effect], inside: frozenset[str]) -> list[list[Effect]]:
    """Return those together that have the same numbers, and the same image."""
    kinds: dict[tuple[object, ...], list[Effect]] = {}
    for effect in effects:
        sets = (effect.now, effect.lost, effect.gained)
        numbers = tuple((len(each), len(each & inside)) for each in sets)
        kinds.setdefault((effect.image, numbers), []).append(effect)
    return list(kinds.values())


def _flavors(effects: Sequence[Effect]) -> str:
    flavors = listed((quoted(effect.flavor) for effect in effects), "flavor")
    image = effects[0].image
    with_image = f" with image {quoted(image)}" if image is not None else ""
    return f"{flavors}{with_image}"


@problems.word.register
def _(error: LeavesNoHost) -> str:
    flavors = map(_flavors, _kinds(error.effects, frozenset()))
    return (
        f"nothing written: no host would be left for {'; '.join(flavors)}; --force "
        "does it all the same"
    )
