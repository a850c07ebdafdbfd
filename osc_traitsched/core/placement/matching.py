"""A matching of groups and providers: each group has one, each provider some."""

from __future__ import annotations

from collections.abc import Sequence


def matching(
    choices: Sequence[Sequence[int]], most: Sequence[int]
) -> list[list[int]] | None:
    """Return for each provider the groups that have it, or None if one has none.

    By augmenting paths (H. W. Kuhn): a group whose providers are all taken gets one
    whose group can have another. For G groups and P providers these are at most
    G * G * P steps.

    :param choices: for each group the numbers of the providers that it can have
    :param most: for each provider how many groups can have it
    """
    having: list[list[int]] = [[] for _ in most]
    for group in range(len(choices)):
        if not _augment(group, choices, most, having, set()):
            return None
    return having


def _augment(
    group: int,
    choices: Sequence[Sequence[int]],
    most: Sequence[int],
    having: list[list[int]],
    tried: set[int],
) -> bool:
    for provider in choices[group]:
        if provider in tried:
            continue
        tried.add(provider)
        others = having[provider]
        if len(others) < most[provider]:
            others.append(group)
            return True
        for number, other in enumerate(others):
            if _augment(other, choices, most, having, tried):
                others[number] = group
                return True
    return False
