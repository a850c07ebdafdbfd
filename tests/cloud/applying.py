"""What explain suggests, carried out as it is printed, and taken back."""

from __future__ import annotations

import contextlib
import functools
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from osc_traitsched.commands.base import ExitCode
from tests.cloud import suggested
from tests.cloud.scenario import Asked, Scenario

_OPPOSITES = {
    ("trait-sched", "add"): ("trait-sched", "remove", "--force"),
    ("trait-sched", "remove"): ("trait-sched", "add"),
    ("aggregate", "add", "host"): ("aggregate", "remove", "host"),
    ("compute", "service", "set", "--enable"): (
        *("compute", "service", "set", "--disable"),
    ),
}


@contextlib.contextmanager
def carried_out(
    scenario: Scenario, asked: Asked, fix: Mapping[str, Any]
) -> Iterator[tuple[Asked, list[str]]]:
    """Do what a fix says; it is undone at the end.

    Yields the request as it is made then, and the kinds of what was done. A fix that
    has commands is those commands. One that has none asks for something else: it is
    done as its text says.
    """
    if not fix["commands"]:
        with suggested.asked(scenario, asked, fix["text"]) as other:
            yield other, suggested.kinds(fix["text"])
        return
    with contextlib.ExitStack() as back:
        for command in fix["commands"]:
            _carry_out(scenario, command, back)
        yield asked, [kind(command) for command in fix["commands"]]


def kind(command: str) -> str:
    """Return what a command does, without what it does it to."""
    words = shlex.split(command, comments=True)[1:]
    several = words[:2] in (["compute", "service"], ["aggregate", "add"])
    return " ".join(words[: 3 if several else 2])


def _carry_out(scenario: Scenario, command: str, back: contextlib.ExitStack) -> None:
    program, *words = shlex.split(command, comments=True)
    assert program == "openstack"
    _will_be_undone(scenario, words, back)
    _openstack(scenario, words)


def _openstack(scenario: Scenario, words: list[str]) -> None:
    done = scenario.run(*words)
    if done.code == ExitCode.REFUSED:
        # To let one request in it would leave others without a host. The refusal says
        # so, and whoever wants it all the same says so, too.
        assert "\nnothing written: no host " in f"\n{done.err}", done.err
        done = scenario.run(*words, "--force")
    # What flavors lose and gain by it is said, and so is what --force breaks.
    told = ("lose ", "hosts with room", "may land on", "may come back", "forced: ")
    said = [e for e in done.err.splitlines() if not any(each in e for each in told)]
    assert (done.code, said) == (0, []), (words, done.err)


def _will_be_undone(
    scenario: Scenario, words: list[str], back: contextlib.ExitStack
) -> None:
    """Take care, before a command is run, that it is taken back."""
    if "--create" in words:
        words = [word for word in words if word != "--create"]
        back.callback(_trait_kept(scenario, words[2]))
    if words == ["trait-sched", "mirror", "repair"]:
        back.callback(scenario.maker.unmirrored, *scenario.lost)
        return
    for verb, opposite in _OPPOSITES.items():
        if tuple(words[: len(verb)]) == verb:
            back.callback(_openstack, scenario, [*opposite, *words[len(verb) :]])
            return
    raise AssertionError(words)


def _trait_kept(scenario: Scenario, name: str) -> Callable[[], object]:
    placement, path = scenario.maker.admin.placement, f"/traits/{name}"
    if placement.get(path, microversion="1.6").status_code == 204:
        return lambda: None
    return functools.partial(placement.delete, path, microversion="1.6")
