"""openstack trait-sched: what commands there are."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Sequence

from osc_traitsched.commands import base
from osc_traitsched.commands.arguments import flag, option
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.text import near_names, quoted

_OWN = "trait-sched"

#: What people use; ``--all`` shows the others, too.
USUAL = (
    *("explain", "capacity", "server explain", "server destinations", "host show"),
    *(
        "host drain",
        "check",
        "diff",
        "trait show",
        "add",
        "isolate",
        "apply",
        "config doctor",
    ),
)

GROUPS = {
    "Why a server gets no host, and where it could go": {
        "explain": "why a flavor and an image find no host, and what helps",
        "candidates": "the hosts that they can get, best first",
        "capacity": "how many more servers of each flavor fit",
        "server explain": "why a server failed, and whether a host could take it now",
        "server destinations": "which hosts a server could move to",
        "server misplaced": "servers that the scheduler would no longer put there",
        "flavor show": "which hosts suit a flavor, what runs out, who uses it",
        "image show": "which hosts and flavors can run an image, and its servers",
        "zone list": "zones: how full they are, and what is odd in them",
        "host show": "what a host has, and which flavors it could run",
        "host drain": "where the servers of a host could go, as one plan",
        "filter try": "try a custom host filter or weigher on every host",
    },
    "What is wrong with the cloud": {
        "check": "find what makes servers fail or land on the wrong hosts",
        "mirror repair": "sync Placement's aggregates to Nova's",
        "aggregate list": "aggregates: zone, isolating traits, projects",
        "diff": "what changed since a snapshot, and which flavors it hit",
        "snapshot save": "save the cloud in a file, to answer from it later",
    },
    "Traits and isolation": {
        "list": "which hosts have which traits",
        "trait list": "traits in use: hosts with them, flavors that need them",
        "trait show": "which hosts have a trait, and what requires it",
        "trait rename": "rename a trait on hosts, flavors, images and aggregates",
        "trait retire": "remove a trait everywhere, requirements first",
        "add": "add traits to hosts",
        "remove": "remove traits from hosts",
        "isolate": "reserve an aggregate for servers that require traits",
        "unisolate": "open it to all servers again",
    },
    "A desired state in files": {
        "plan": "show what apply would write",
        "apply": "change the cloud to match the files",
        "export": "print the current cloud as such a file",
    },
    "How nova-scheduler is configured": {
        "config doctor": "find nova.conf, and say what is unknown without it",
        "config save": "save nova.conf's path once, for all commands",
        "config show": "show what the commands assume, and where it is from",
        "config enable": "print settings that enable prefilters",
    },
}

#: Earlier names, and the commands that replaced them.
RENAMED = {
    "mirror check": "check mirror",
    "config nova-conf": "config enable --for nova",
    "config tripleo": "config enable --for tripleo",
    "config rhoso": "config enable --for rhoso",
}

_COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}


class Overview(base.Command):
    """Show what commands there are."""

    examples = "explain --help"

    needs_login = reads = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """A parser whose help is the overview."""
        parser = super().get_parser(prog_name)
        text = _overview(USUAL) if self._is_ours else "\n".join(self._others())
        vars(parser)["format_help"] = lambda: f"{text}\n"
        return parser

    options = (
        flag("--all", help="show all commands"),
        option(
            "words", metavar="COMMAND", nargs=argparse.REMAINDER, help="one of these"
        ),
    )

    def take_action(self, args: argparse.Namespace) -> int:
        """Print the commands, or those that resemble a mistyped one."""
        if not self._is_ours:
            typed = " ".join((self._typed, *args.words[:1]))
            base.LOG.error("openstack: %s is not an openstack command", quoted(typed))
            for name in self._others():
                base.LOG.error("  %s", name)
            return ExitCode.USAGE
        if not args.words:
            text = _overview(_COMMANDS if args.all else USUAL)
            self.app.stdout.write(f"{text}\n")
            return ExitCode.DONE
        if new := RENAMED.get(" ".join(args.words[:2])):
            base.LOG.error("renamed; run: openstack %s %s", _OWN, new)
            return ExitCode.USAGE
        near = _near(args.words)
        meant = "did you mean one of these?" if near else "there are:"
        base.LOG.error("no command %s; %s", quoted(f"{_OWN} {args.words[0]}"), meant)
        base.fail(*(_lines(near) if near else _overview(USUAL).splitlines()))
        return ExitCode.USAGE

    @property
    def _is_ours(self) -> bool:
        """Whether the user typed our name: cliff also matches its beginnings."""
        return self._typed.startswith((_OWN, base.SHORT))

    @property
    def _typed(self) -> str:
        return self.cmd_name or _OWN

    def _others(self) -> list[str]:
        names = (name for name, _ in self.app.command_manager)
        # That of this command is none that people type.
        found = (
            name
            for name in names
            if name.startswith(self._typed) and not name.endswith("-commands")
        )
        return sorted(found, key=lambda name: (name.startswith(_OWN), name))


def _near(words: Sequence[str]) -> tuple[str, ...]:
    parts = {part for name in _COMMANDS for part in name.split()}
    known = {words[0]} if words[0] in parts else set(near_names(words[0], parts))
    within = [name for name in _COMMANDS if known & set(name.split())]
    whole = near_names(" ".join(words[:2]), _COMMANDS) if words[1:] else ()
    return tuple(dict.fromkeys((*whole, *near_names(words[0], _COMMANDS), *within)))


def _lines(names: Iterable[str]) -> list[str]:
    return [f"  {name:<20} {_COMMANDS[name]}" for name in names]


def _overview(names: Collection[str]) -> str:
    groups = (
        "\n".join([f"{title}:", *_lines(name for name in group if name in names)])
        for title, group in GROUPS.items()
    )
    start = f"openstack {_OWN}"
    all_commands = "" if len(names) == len(_COMMANDS) else f"All: {start} --all. "
    end = f"{all_commands}Options: {start} COMMAND --help"
    return "\n\n".join((*groups, end))
