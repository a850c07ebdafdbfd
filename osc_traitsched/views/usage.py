"""Who has a trait and who needs it, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import Collation, is_project_id, isolated_by
from osc_traitsched.core.inventory.snapshot import Aggregate, Provider
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.judge.capacity import FlavorFit
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import blamed, breakdown, worst
from osc_traitsched.core.nova.clause import MemberOf
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.prefilter import ISOLATION, name_of
from osc_traitsched.core.placement.facts import Room, Stock
from osc_traitsched.core.servers.state import ERROR
from osc_traitsched.core.servers.usage import FlavorView, HostUse, HostView, TraitUse
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import and_more, between, count, folded, led, listed, ranges
from osc_traitsched.views.capacity import prose
from osc_traitsched.views.explain import by_flavor, depends, headline, words
from osc_traitsched.views.listing import Cell, Names, Table, table
from osc_traitsched.views.terminal import Line, Tone

#: Who sets a trait with libvirt; provider.yaml of a host is on no API.
_OWNERS = {
    Ownership.OPERATOR: "you, or nova-compute if provider.yaml of the host lists it",
    Ownership.NOVA_SETS: "nova-compute sets it again if you remove it",
    Ownership.NOVA_SETS_AND_CLEARS: "nova-compute sets it on hosts that can do it, "
    "and removes it from others",
}
_NEUTRON = "Neutron sets it for its agents"

_KINDS = ("flavor", "image", "aggregate")
_LABEL = 13


def show(use: TraitUse, options: Sequence[Option] = ()) -> Iterator[Line]:
    """One trait: the first line counts who has it and who needs it."""
    needs = [*_counts(use), *_servers_needing(use)]
    required = f"required by {', '.join(needs)}" if needs else "required by nothing"
    tone = Tone.NO if needs and not use.holders else Tone.YES
    yield Line(f"{use.name}: {_on(use)}; {required}.", tone)
    for name, text in _details(use):
        yield Line(f"  {name:<{_LABEL}}{text}")
    hosts = sorted({each.host for each in use.misplaced if each.host})
    if hosts and trait.ownership(use.name) is Ownership.OPERATOR:
        yield Line("Give it back, if the hosts really have it:")
        command = openstack("trait-sched add", use.name, *hosts)
        yield Line(f"  {line(command, options)}")
    if use.holders and needs:
        yield Line("Without it they find no host. All effects (nothing is written):")
        flags = (Option("--all"), Option("--dry-run"))
        command = openstack("trait-sched remove", use.name, *flags)
        yield Line(f"  {line(command, options)}")


def _on(use: TraitUse) -> str:
    hosts = use.hosts
    return f"on {len(hosts) or 'none'} of {count(len(use.snapshot.hosts), 'host')}"


def _counts(use: TraitUse) -> Iterator[str]:
    for kind in _KINDS:
        names = {each.id for each in use.of_kind(kind)}
        if names:
            yield count(len(names), kind)


def _servers_needing(use: TraitUse) -> Iterator[str]:
    if not isinstance(use.servers, CloudBroke) and use.servers:
        yield count(len(use.servers), "server")


def _details(use: TraitUse) -> Iterator[tuple[str, str]]:
    if use.hosts:
        yield "hosts", ranges(use.hosts)
    if use.others:
        yield "also on", listed(use.others, "provider")
    for kind in ("flavor", "image"):
        if names := _names(use.of_kind(kind)):
            yield f"{kind}s", listed(names)
    if names := _names(use.of_kind("aggregate")):
        yield "isolates", f"{listed(names, 'aggregate')}, if isolation is on"
    if use.forbidding:
        yield "forbidden", listed(_names(use.forbidding), "by flavor")
    if isinstance(use.servers, CloudBroke):
        yield "servers", f"unknown: {use.servers!s}"
    elif use.servers:
        yield "servers", listed(sorted(each.name for each in use.servers))
    if use.misplaced:
        names = [f"{each.name} ({each.host})" for each in use.misplaced]
        yield "misplaced", f"on a host without it: {listed(sorted(names))}"
    yield "set by", owner(use.name)


def owner(name: str) -> str:
    """Who sets a trait on hosts."""
    if trait.is_of_neutron(name):
        return _NEUTRON
    return _OWNERS[trait.ownership(name)]


def _names(requirers: Iterable[Requirer]) -> list[str]:
    return sorted({each.name for each in requirers})


# All traits in use.


def lines(uses: Sequence[TraitUse], everything: bool) -> Iterator[Line]:
    """One line a trait, those with requirers first."""
    shown = list(_chosen(uses, everything))
    hidden = len(uses) - len(shown)
    lacking = [use for use in shown if use.requiring and not use.holders]
    more = f", {len(lacking)} of them on no host" if lacking else ""
    tone = Tone.NO if lacking else Tone.YES
    yield Line(f"{count(len(shown), 'trait')} in use{more}.", tone)
    width = max((len(use.name) for use in shown), default=0)
    for use in shown:
        hosts = f" ({ranges(use.hosts)})" if use.hosts else ""
        needs = "".join(f", {each}" for each in _counts(use))
        yield Line(f"  {use.name:<{width}}  {_on(use)}{hosts}{needs}")
    if hidden:
        standard = count(hidden, "standard trait")
        yield Line(f"{standard} that nothing requires: --all")


def rows(uses: Iterable[TraitUse], everything: bool) -> Table:
    """One row a trait: who has it, and who requires or forbids it."""
    columns = {
        "trait": lambda use: use.name,
        "hosts": lambda use: Names(use.hosts, folded(use.hosts)),
        "flavors": lambda use: Names(_names(use.of_kind("flavor"))),
        "images": lambda use: Names(_names(use.of_kind("image"))),
        "aggregates": lambda use: Names(_names(use.of_kind("aggregate"))),
        "forbidden_by": lambda use: Names(_names(use.forbidding)),
    }
    return table(columns, _chosen(uses, everything))


def _chosen(uses: Iterable[TraitUse], everything: bool) -> Iterator[TraitUse]:
    """Other traits are nova-compute's and on most hosts."""
    for use in uses:
        if everything or trait.is_custom(use.name) or use.requiring or use.forbidding:
            yield use


# One flavor.


#: So many reasons leave room for the others.
_MOST_LINES = 3


def flavor(view: FlavorView) -> Iterator[Line]:
    """One flavor: the first line counts how many more servers fit, and where."""
    judgement = view.judgement
    body = judgement.question.flavor
    verdict = f"{body['name']}: {words.size(body)}; {_room(view)}"
    yield Line(verdict, Tone.of(view.answer), judgement.reason)
    yield from (Line(text, Tone.DOUBT) for text in prose.assumed(view.capacity))
    for name, text in _about_flavor(view):
        yield Line(f"  {name:<{_LABEL}}{text}".rstrip())


def _room(view: FlavorView) -> str:
    fit = view.fit
    if fit is None:
        return f"rejected: {by_flavor.rejected(view.judgement)}"
    suited, hosts = count(len(fit.suited), "suitable host"), len(fit.hosts)
    where = f"{hosts} of {suited}" if hosts else f"{suited}, all full"
    where = where if fit.suited else "no host suits it"
    is_open = fit.answer is Answer.DEPENDS and not hosts
    end = "; depends on nova.conf." if is_open else "."
    return f"room for {between(fit.room.least, fit.room.most)} more ({where}){end}"


def _about_flavor(view: FlavorView) -> Iterator[tuple[str, str]]:
    specs, fit = view.judgement.question.flavor["extra_specs"], view.fit
    requires = (f"{key}={value}" for key, value in sorted(specs.items()))
    yield "requires", listed(requires) or "nothing but its size"
    for name, texts in (
        ("by zone", _zones_of(fit) if fit else ()),
        ("not on", _by_reason(never_on_of(view))),
        ("never fits", [prose.never(fit.never)] if fit and fit.never else ()),
        ("out of", _shortages(fit) if fit else ()),
    ):
        if texts:
            yield name, "; ".join(texts)
    yield "servers", _servers_of(view)
    if isinstance(view.images, CloudBroke):
        yield "cannot boot", f"unknown: {view.images!s}"
    elif images := _by_reason(images_of(view)):
        more = f"; {view.unjudged} not judged" if view.unjudged else ""
        yield "cannot boot", f"{'; '.join(images)}{more}"
    yield "projects", _projects_of(view)


def _zones_of(fit: FlavorFit) -> list[str]:
    return [
        f"{name} {prose.short(room)} ({hosts} of {suited})"
        for name, (hosts, room, suited) in fit.groups.items()
        if suited
    ]


def _shortages(fit: FlavorFit) -> list[str]:
    return [
        f"{words.noun(name)} on {count(len(roots), 'suitable host')}"
        for name, roots in fit.short.items()
    ]


def _by_reason(names: Mapping[str, Sequence[str]]) -> list[str]:
    texts = [f"{ranges(alike)} ({why})" for why, alike in names.items()]
    if len(texts) > _MOST_LINES:
        texts[_MOST_LINES:] = [and_more(len(texts) - _MOST_LINES, "reason", "-f json")]
    return texts


def never_on_of(view: FlavorView) -> dict[str, list[str]]:
    """Hosts, or their isolated aggregates, by why the flavor never fits there."""
    names_of: dict[str, list[str]] = {}
    for share in breakdown(view.judgement, view.fit.suited if view.fit else ()):
        clause, names = share.clause, list(share.hosts)
        text = headline.share_text(share, view.judgement, is_of_many=True)
        why = text.partition(" ")[2]
        if clause is not None and headline.is_disabling(clause):
            why = "disabled"
        if isinstance(clause, MemberOf) and name_of(clause) == ISOLATION:
            names = words.aggregates(clause.aggregates, view.judgement.question)
            why = "isolated"
        names_of.setdefault(why, []).extend(names)
    return names_of


def _servers_of(view: FlavorView) -> str:
    if isinstance(view.servers, CloudBroke):
        return f"unknown: {view.servers!s}"
    counts = (f"{len(names)} {state}" for state, names in view.servers.items())
    failed = view.servers.get(ERROR, ())
    return f"{', '.join(counts) or 'none'}{f': {listed(failed)}' if failed else ''}"


def images_of(view: FlavorView) -> dict[str, list[str]]:
    """Public images that can't go with the flavor, by why."""
    names_of: dict[str, list[str]] = {}
    for name, judgement in view.unusable_images.items():
        reasons = by_flavor.reasons(judgement)
        why = by_flavor.rejected(judgement) or ", ".join(reasons[:1])
        names_of.setdefault(why, []).append(name)
    return names_of


def _projects_of(view: FlavorView) -> str:
    if view.projects is None:
        return "all projects"
    if isinstance(view.projects, CloudBroke):
        return f"unknown: {view.projects!s}"
    is_owners = len(view.projects) == 1 and view.judgement.question.spec.project
    judged = "; judged as this project" if is_owners else ""
    return f"{listed(view.projects) or 'none'}{judged}"


# One host.


_MOST_REASONS = 6
_DEPENDS = "depends on nova.conf: "

#: What decides on a host and no API shows.
UNSEEN = (
    "Not on any API: provider.yaml, the host's nova.conf, its NUMA cells and PCI use."
)


def host(
    view: HostView, everything: bool = False, options: Sequence[Option] = ()
) -> Iterator[Line]:
    """One host: the first line says what it could take now."""
    fits, total = view.fits, len(view.capacity.flavors) + len(view.capacity.rejected)
    state = state_of(view)
    sure, unsure = view.sure, len(fits) - len(view.sure) + len(view.open)
    number, can, more = led(len(sure), unsure)
    flavors = f"{number} of {count(total, 'flavor')}"
    verdict = f"{view.host.name} {can}take {flavors} now"
    if view.if_enabled:
        verdict = f"If enabled, {view.host.name} {can}take {flavors}"
    reason = Reason.first(view.reasons.values())
    yield Line(f"{verdict}{more}; {state}.", Tone.of(view.answer), reason)
    yield from (Line(text, Tone.DOUBT) for text in prose.assumed(view.capacity))
    for name, text in _about(view, everything):
        yield Line(f"  {name:<{_LABEL}}{text}")
    if fits:
        yield Line(f"  {'fits':<{_LABEL}}{headline.fitted('', _numbers(fits))}")
    if view.deciding:
        deciding = listed(map(depends.name, view.deciding))
        yield Line(f"  {'at most':<{_LABEL}}{deciding} may reject it")
    reasons = reasons_of(view)
    for why, names in list(reasons.items())[:_MOST_REASONS]:
        label = "may" if why.startswith(_DEPENDS) else "not"
        yield Line(f"  {label:<{_LABEL}}{listed(names)}: {why}")
    if len(reasons) > _MOST_REASONS:
        yield Line(f"  {and_more(len(reasons) - _MOST_REASONS, 'reason', '-f json')}")
    if not view.aggregates:
        yield Line(
            f"In no zone and no aggregate.{f' Like {view.peer}?' * bool(view.peer)}"
        )
    if view.peer:
        flags = Option("--like", view.peer), Option("--aggregates")
        command = openstack("trait-sched add", *flags, view.host.name)
        yield Line(f"  {line(command, options)}")
    yield Line(UNSEEN)


def state_of(view: HostView) -> str:
    """Whether its nova-compute is up and enabled."""
    compute = view.compute
    if compute is None:
        return "Nova does not list it"
    if not compute.is_up:
        time = view.down_since[:16].replace("T", " ")
        since = f" since {time} UTC" * bool(time)
        service = f" on {compute.service_host}" * (view.nodes > 1)
        return f"nova-compute{service} is down{since} ({count(view.nodes, 'node')})"
    if compute.is_enabled:
        return "up and enabled"
    reason = compute.disabled_reason
    return f"disabled: {reason}" if reason else "disabled"


def _about(view: HostView, everything: bool) -> Iterator[tuple[str, str]]:
    yield "zone", ", ".join(zones_of(view)) or "none of its own (the default zone)"
    if view.aggregates:
        named = (_aggregate(each, view.projects) for each in view.aggregates)
        yield "aggregates", listed(named)
    ids = frozenset[str]().union(*(each.project_ids for each in view.aggregates))
    wrong = sorted(each for each in ids if not is_project_id(each))
    projects = [each for each in view.own_projects if each not in wrong]
    if projects:
        others = "" if view.is_exclusive else f"; others too: {special.PROJECT} is off"
        yield "projects", f"{listed(projects)}{others or ' alone'}"
    for each in wrong:
        yield "projects", f"none: filter_tenant_id={each} is not a project's ID"
    for provider in view.tree:
        where = "" if provider.uuid == view.host.uuid else f" on {provider.name}"
        for resource_class, stock in view.stock.get(provider.uuid, {}).items():
            yield words.noun(resource_class), f"{_inventory(stock)}{where}"
    if view.leaked:
        text = f"{view.leaked} MB RAM in use of no server: nova-manage placement audit"
        yield "leaked", text
    for odd in view.oddities:
        noun = words.noun(odd.resource_class)
        peers = count(odd.peers, "equal host")
        yield "unusual", f"{noun} {odd.figure} {odd.value:g}, {odd.usual:g} on {peers}"
    yield from _traits(view, everything)
    if isinstance(view.servers, CloudBroke):
        yield "servers", f"unknown: {view.servers!s}"
    else:
        number = f"{len(view.servers)}: " if view.servers else "none"
        yield "servers", f"{number}{listed(view.servers)}"
    report = view.compute.report if view.compute else None
    if report is not None:
        yield (
            "weighers",
            f"nova-compute's count: {report.free_ram_mb} MB RAM, "
            f"{report.free_disk_mb // 1024} GB disk, "
            f"{report.vcpus - report.vcpus_used} of {report.vcpus} CPUs free",
        )


def zones_of(view: HostView) -> list[str]:
    """The availability zones of its aggregates."""
    return sorted({each.zone for each in view.aggregates if each.zone})


def _aggregate(found: Aggregate, names: Mapping[str, str]) -> str:
    """Its name, and what it means for a server.

    :param names: of projects, by ID
    """
    projects = sorted(names.get(each, each) for each in {*found.projects.values()})
    traits = sorted(isolated_by(found.metadata, Collation.CASE_INSENSITIVE))
    parts = [
        *([f"zone {found.zone}"] if found.zone else []),
        *([f"isolated by {', '.join(traits)}"] if traits else []),
        *([listed(projects, "project")] if projects else []),
    ]
    return f"{found.name} ({'; '.join(parts)})" if parts else found.name


def _inventory(stock: Stock) -> str:
    used = f"{stock.used} of {stock.capacity} in use"
    if stock.total is None:
        return used
    reserved = f", {stock.reserved} reserved" if stock.reserved else ""
    ratio = f" x {stock.ratio:g}" if stock.ratio != 1 else ""
    return f"{used} ({stock.total}{reserved}){ratio}"


def _traits(view: HostView, everything: bool) -> Iterator[tuple[str, str]]:
    """By who sets them; standard ones are counted."""
    names = sorted(frozenset[str]().union(*view.traits.values()))
    yours = [n for n in names if trait.ownership(n) is Ownership.OPERATOR]
    neutrons = [n for n in yours if trait.is_of_neutron(n)]
    novas = [n for n in names if n not in yours]
    yours = [n for n in yours if n not in neutrons]
    join = ", ".join if everything else listed
    yield "your traits", join(yours) if yours else "none"
    if neutrons:
        yield "of Neutron", join(neutrons)
    yield "of Nova", join(novas) if everything else count(len(novas), "trait")


def _numbers(fits: Mapping[str, Room]) -> list[str]:
    return [f"{name} {between(room.least, room.most)}" for name, room in fits.items()]


def reasons_of(view: HostView) -> dict[str, list[str]]:
    """Why flavors do not fit on the host, with their names, the most first."""
    found: dict[str, list[str]] = {}
    for each in view.unfit:
        name = each.question.flavor["name"]
        found.setdefault(_reason(each, view.host), []).append(name)
    for each in view.capacity.rejected:
        name = each.question.flavor["name"]
        # The sentence after the first asks which name was meant.
        why = by_flavor.rejected(each).partition(". ")[0]
        found.setdefault(why, []).append(name)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))


def _reason(found: Judgement, host: Provider) -> str:
    """The first thing in the way, for flavors of any size."""
    start = _DEPENDS if found.answer_of(host.uuid) is Answer.DEPENDS else ""
    rejection = found.rejections.get(host.uuid)
    clauses = blamed(rejection) if rejection else ()
    if not clauses:
        return "it meets each condition, but not all of them together"
    why = headline.said(worst(found, clauses), found, [host])
    return f"{start}{why.partition(' (need ')[0]}"


# Zones.


class Shown(Cell):
    """A value for programs, and its text for a person."""

    def __init__(self, value: object, text: str) -> None:
        super().__init__(value)
        self._text = text

    def lines(self) -> Iterable[str]:
        """The text."""
        return [self._text]


def zones(uses: Iterable[HostUse]) -> Table:
    """One row a zone."""
    hosts: dict[str, list[HostUse]] = {}
    for use in uses:
        for zone in use.zones:
            hosts.setdefault(zone, []).append(use)
    columns = {
        "zone": lambda zone: zone,
        "hosts": lambda zone: len(hosts[zone]),
        "RAM used": lambda zone: _ram_used(hosts[zone]),
        "largest free": lambda zone: _largest_free(hosts[zone]),
        "notes": lambda zone: Names(_notes(hosts[zone])),
    }
    return table(columns, sorted(hosts))


def _ram_used(uses: Iterable[HostUse]) -> Shown:
    stock = [each for use in uses for each in use.ram]
    total = sum(each.capacity for each in stock)
    if not total:
        return Shown(None, "-")
    percent = round(100 * sum(each.used for each in stock) / total)
    return Shown(percent, f"{percent} %")


def _largest_free(uses: Iterable[HostUse]) -> Shown:
    free = [(e.free, use.name) for use in uses if not use.unusable for e in use.ram]
    if not free:
        return Shown(None, "-")
    most, name = max(free)
    return Shown({"host": name, "ram": most}, f"{most} {name}")


def _notes(uses: Iterable[HostUse]) -> list[str]:
    notes: dict[str, list[str]] = {}
    for use in uses:
        note = use.unusable or ("full" if use.is_full else "")
        notes.setdefault(note, []).append(use.name)
    return [f"{ranges(names)} {note}" for note, names in sorted(notes.items()) if note]
