"""The words of the area traits' rules."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.views.check.wording import Wording, Words, command, count
from osc_traitsched.views.problems import listed


def _who(finding: Finding) -> str:
    """Return the flavors, images and aggregates of a finding."""
    kinds = ("flavor", "image", "aggregate")
    parts = (count(finding.names(f"{kind}s"), kind) for kind in kinds)
    return ", ".join(filter(None, parts))


def _give(*names: str, create: bool = False) -> str:
    """Return how hosts get traits: by a command, or not by one."""
    if any(trait.ownership(name) is not Ownership.OPERATOR for name in names):
        return "nova-compute decides who has it: take the key off, or use other hosts"
    options = ("--create",) if create else ()
    return command("trait-sched", "add", *names, *options, "--host", "HOST")


def _unknown(finding: Finding) -> Words:
    nearest = finding.names("nearest")
    meant = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
    mend = "take the key off"
    if trait.is_custom(finding.name):
        mend = _give(finding.name, create=True)
    asked = finding.names("flavors") or finding.names("images")
    then = (
        "Placement refuses every request that names it"
        if asked
        else "no request can require it, and so get in"
    )
    return Words(f"{then}; named by {_who(finding)}{meant}", mend)


def _bad_value(finding: Finding) -> Words:
    unset = (word for key in finding.names("keys") for word in ("--property", key))
    values = "required" if finding.kind != "flavor" else "required or forbidden"
    return Words(
        f"Nova ignores {', '.join(finding.names('pairs'))}: the value can only be "
        f"{values}",
        command(finding.kind, "unset", *unset, finding.text("id")),
    )


def _no_host(finding: Finding) -> Words:
    where = "the root of no host" if finding.data["root"] else "no host"
    return Words(
        f"{where} has it, and it is required by {_who(finding)}", _give(finding.name)
    )


def _few_hosts(finding: Finding) -> Words:
    left, able = finding.text("left"), finding.text("able")
    names = " and ".join(map(_spelled, finding.names("traits")))
    if finding.data["left"]:
        return Words(
            f"{names}: leaves {left} of the {able} hosts that are large enough: "
            f"{listed(finding.names('hosts'))}"
        )
    first = finding.names("traits")[0]
    mend = command("flavor", "unset", "--property", "KEY", finding.text("id"))
    return Words(
        f"{names}: leaves none of the {able} hosts that are large enough",
        mend if first.startswith("!") else _give(first),
    )


def _spelled(name: str) -> str:
    return f"not {name[1:]}" if name.startswith("!") else name


def _not_together(finding: Finding) -> Words:
    names = " and ".join(map(_spelled, finding.names("traits")))
    if finding.names("flavors"):
        return Words(
            f"no host has {names} together with the traits of the "
            f"{count(finding.names('flavors'), 'flavor')}",
            "do not combine them, or give some host the traits of both",
        )
    missing = [name for name in finding.names("traits") if not name.startswith("!")]
    mend = _give(*missing) if missing else "forbid less"
    if any(f"!{name}" in finding.names("traits") for name in missing):
        mend = "require it or forbid it in one group, not both in two"
    return Words(f"hosts meet each by itself, and none all together: {names}", mend)


def _contradiction(finding: Finding) -> Words:
    flavors = finding.names("flavors")
    name = finding.text("trait")
    if not flavors:
        return Words(
            f"requires and forbids {name}: Placement refuses every request of it",
            command(
                "flavor", "unset", "--property", f"trait:{name}", finding.text("id")
            ),
        )
    forbid = f"forbid{'s' * (len(flavors) == 1)}"
    return Words(
        f"requires {name}, which the {count(flavors, 'flavor')} {forbid}: Placement "
        "refuses a request of both",
        "do not combine them",
    )


def _refused(finding: Finding) -> Words:
    keys = ", ".join(finding.names("keys"))
    reason = finding.text("reason").replace("-", " ")
    what = f"{finding.text('exception')}, {reason}" + (f" ({keys})" if keys else "")
    flavors = finding.names("flavors")
    if flavors:
        return Words(
            f"Nova refuses it with the {count(flavors, 'flavor')}: {what}",
            "do not combine them, or make the two keys agree",
        )
    others = "images" if finding.kind == "flavor" else "flavors"
    return Words(
        f"Nova refuses it with all {others}: {what}", f"change {keys or 'its keys'}"
    )


def _unused(finding: Finding) -> Words:
    hosts = finding.names("hosts")
    if not hosts:
        return Words(
            "no host has it, and no flavor, image or aggregate names it",
            command("trait", "delete", finding.name),
        )
    return Words(
        f"no flavor, image or aggregate names it; {count(hosts, 'host')} "
        f"ha{'s' if len(hosts) == 1 else 've'} it",
        command("trait-sched", "remove", finding.name, "--all"),
    )


WORDS: Mapping[str, Wording] = {
    "traits-unknown": _unknown,
    "traits-bad-value": _bad_value,
    "traits-no-host": _no_host,
    "traits-few-hosts": _few_hosts,
    "traits-not-together": _not_together,
    "traits-contradiction": _contradiction,
    "traits-refused": _refused,
    "traits-unused": _unused,
}
