"""The doctor's findings about settings, as lines and rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from osc_traitsched.core.diagnosis import Diagnosis, OnMachine
from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import count, listed
from osc_traitsched.views.listing import Table

COLUMNS = ("kind", "name", "detail", "command")

_SAVE = "trait-sched config save"

#: How to get nova.conf out of the running scheduler, by deployment.
HOW_TO = {
    "Kolla": "docker exec nova_scheduler cat /etc/nova/nova.conf",
    "TripleO": "sudo podman exec nova_scheduler cat /etc/nova/nova.conf",
    # nova-api's pod alone has what its customServiceConfig sets, as [pci]alias.
    "RHOSO": "for pod in nova-api-0 nova-scheduler-0; do oc exec $pod -- \\\n"
    "sh -c 'cat /etc/nova/nova.conf.d/*.conf'; done",
    "Helm": "kubectl exec deploy/nova-scheduler -- cat /etc/nova/nova.conf",
    "charms": "juju ssh nova-cloud-controller/leader sudo cat /etc/nova/nova.conf",
    "OSA": "lxc-attach -n $(lxc-ls --filter nova_api) -- cat /etc/nova/nova.conf",
    "packages": "sudo cat /etc/nova/nova.conf",
}

#: Keeps the scheduler's sections, and by their names the options that are read in
#: others. Passwords are in neither.
ONLY_READ = r"""
awk '/^[#;]/{next}/^\[/{h=$0;s=/^\[((filter_)?scheduler|metrics)/;k=0;next}
/^[^ \t]/{k=s||/^[a-z_]*(filter|weight|isol|alias|_zone|per_host|same_host)/||
/^[a-z_]*(cross_az|pcpu|version_check|query_pl|limit_ten|placement_|image_)/||
/^[a-z_]*(subset|shuffle)/}k{if(h){print h;h=""}print}'""".strip()


def lines(found: Diagnosis, options: Sequence[Option]) -> Iterator[str]:
    """What is in use, what was found, what is unknown, and how to get it."""
    yield f"In use: {_in_use(found)}"
    if found.unused:
        yield "On this machine, not in use:"
    for each in found.unused:
        yield f"  {' '.join(each.paths)}  ({_whose(each)})"
        if command := _save(each, options):
            yield f"    {command}"
    if not found.unknown:
        yield verdict(found)
        return
    yield "Unknown, and it matters on this cloud:"
    for name, aggregates in found.unknown.items():
        title, _ = OPTIONS[name].effect
        text = f"{title}: {_effect(name, aggregates)}"
        yield from textwrap.wrap(
            text, 80, initial_indent="  ", subsequent_indent="    "
        )
    yield "nova.conf of the running scheduler, by deployment:"
    for name, command in HOW_TO.items():
        first, *more = command.split("\n")
        yield f"  {name:<8} {first}"
        yield from (f"           {each}" for each in more)
    command = line(openstack(_SAVE, Option("--nova-conf", "nova.conf")), options)
    yield "Put this behind it: it keeps the options that are read, and no password:"
    yield from f"  | {ONLY_READ} > nova.conf".split("\n")
    yield "Save its place once:"
    yield f"  {command}"


def verdict(found: Diagnosis) -> str:
    """What is unknown, in one line."""
    names = listed(OPTIONS[name].effect[0] for name in found.unknown)
    if names:
        return f"Unknown, and it matters on this cloud: {names}."
    return "Nothing that matters on this cloud is unknown."


def rows(found: Diagnosis, options: Sequence[Option]) -> Table:
    """The same as rows, for programs."""
    table = [("in use", found.assumed.place or "", _in_use(found), "")]
    for each in found.unused:
        files = " ".join(each.paths)
        table.append(("not in use", files, _whose(each), _save(each, options)))
    for name, names in found.unknown.items():
        table.append(("unknown", name, _effect(name, names), ""))
    if found.unknown:
        end = f" | {ONLY_READ} > nova.conf"
        table += [("how to", name, "", way + end) for name, way in HOW_TO.items()]
    return COLUMNS, table


def _in_use(found: Diagnosis) -> str:
    nova = f"Nova {release(found.assumed.release)}"
    place = found.assumed.place
    return f"{place}; {nova}" if place else f"no settings; the defaults of {nova}"


def _whose(each: OnMachine) -> str:
    return each.whose if each.is_readable else f"{each.whose}; you may not read it"


def _save(each: OnMachine, options: Sequence[Option]) -> str:
    if not (each.is_nova_conf and each.is_readable):
        return ""
    files = [Option("--nova-conf", path) for path in each.paths]
    more = [Option("--baseline", each.baseline)] if each.baseline else []
    return line(openstack(_SAVE, *files, *more), options)


def _effect(name: str, aggregates: Sequence[str]) -> str:
    _, effect = OPTIONS[name].effect
    if not aggregates:
        return effect
    verb = "has" if len(aggregates) == 1 else "have"
    return (
        f"{count(len(aggregates), 'aggregate')} ({listed(aggregates)}) {verb} {effect}"
    )
