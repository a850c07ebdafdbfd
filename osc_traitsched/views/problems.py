"""The words for every error and warning: one line each, the answer first."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import ChangedMeanwhile
from osc_traitsched.core.change.outcome import Outcome, Status
from osc_traitsched.core.namesake import Namesake
from osc_traitsched.core.nova.plugin import NovaPythonFails, PluginFails
from osc_traitsched.views import nova_refuses, own_filters
from osc_traitsched.views.options import option, release
from osc_traitsched.views.text import did_you_mean, listed, quoted, visible

AGAIN = "the same command again"

#: What to do where a command was not carried out whole.
GOES_ON = f"{AGAIN} goes on"


@functools.singledispatch
def word(error: errors.TraitSchedError) -> str:
    """Return the line that tells the user what is wrong and what would be right."""
    return str(error)


@word.register
def _(error: errors.Unexpected) -> str:
    return internal(error.error)


@word.register
def _(error: errors.CloudBroke) -> str:
    status = f" (HTTP {error.status})" if error.status else ""
    return f"{error.service}: {error.reason}{status}"


@word.register
def _(error: errors.Forbidden) -> str:
    return f"{error.service}: {error.reason} (HTTP {error.status}); {_lacking(error)}"


def _lacking(error: errors.Forbidden) -> str:
    """Return what a login lacks: a project, or roles.

    Whoever is no administrator would have to be one in the project, too.
    """
    if error.roles is None:
        return "this user's roles are not enough"
    is_elsewhere = error.scope != "project"
    if is_elsewhere and ("admin" in error.roles or not error.scope):
        to = {"domain": "a domain", "system": "the system"}.get(error.scope, "nothing")
        return f"log in to a project; this login is to {to}"
    where = f" in the {error.scope}" if is_elsewhere else ""
    found = f"this user's roles{where} are not enough: {listed(error.roles) or 'none'}"
    if "admin" in error.roles:
        return found
    return f"{found} (by default it takes admin{' in a project' * is_elsewhere})"


@word.register
def _(error: errors.ConcurrentUpdate) -> str:
    when = "during every try" if error.times > 1 else "meanwhile"
    return f"others changed this provider {when}; run the command again"


@word.register
def _(error: errors.TooOld) -> str:
    return (
        f"{error.service} is older than what this command needs "
        f"(placement 1.36, compute 2.61: OpenStack Train): {error.reason}"
    )


@word.register
def _(error: errors.ExtraSpecsHidden) -> str:
    if error.flavor is not None:
        whose = f"the flavor {quoted(error.flavor)}"
    else:
        whose = f"{error.hidden} of {error.total} flavors"
    return (
        f"Nova hides the extra specs of {whose} from this user: it takes a role that "
        "the policy os_compute_api:os-flavor-extra-specs:index names"
    )


@word.register
def _(error: errors.PrivateFlavorsHidden) -> str:
    return (
        "Nova lists public flavors to this user, and private ones of the user's own "
        "project only: nothing is known of the others"
    )


@word.register
def _(error: errors.NotInCatalog) -> str:
    return (
        f"{error.service} is not in this cloud's catalog, for this user, region "
        "and interface"
    )


@word.register(errors.FiltersNotInRelease)
@word.register(errors.WeighersNotInRelease)
def _(error: errors.FiltersNotInRelease | errors.WeighersNotInRelease) -> str:
    is_filter = isinstance(error, errors.FiltersNotInRelease)
    option = "enabled_filters" if is_filter else "weight_classes"
    return (
        f"nova-scheduler of {release(error.release)} does not start with "
        f"{listed(error.keys)} in {option} ({error.source}): it has no such "
        f"{'filter' if is_filter else 'weigher'}"
    )


@word.register
def _(error: errors.NotInRelease) -> str:
    return (
        f"{error.wanted}: Nova {release(error.release)} has no {option(error.option)}"
    )


@word.register
def _(error: errors.NoParameter) -> str:
    if error.value == ():
        return (
            f"{option(error.option)} would be empty, which TripleO takes for Nova's "
            "own list; name at least one other filter"
        )
    return (
        f"TripleO has no parameter for {option(error.option)}; it takes hieradata, "
        "which this command does not write"
    )


@word.register
def _(error: errors.OtherSettings) -> str:
    return (
        f"{error.path} says something else; --force replaces it, and --dry-run with "
        "--force shows by what"
    )


@word.register
def _(error: errors.Refusal) -> str:
    return nova_refuses.sentence(error)


@word.register
def _(error: errors.NotForProject) -> str:
    return (
        f"the project may not use the {error.kind} {quoted(error.name)}, so that "
        "Nova does not find it"
    )


@word.register
def _(error: errors.PlacementRefuses) -> str:
    what = f"Placement refuses the request: {error.reason}"
    if "No such trait" in error.reason and "CUSTOM_" in error.reason:
        return f"{what} (trait-sched add --create makes it, and gives it to hosts)"
    return what


@word.register
def _(error: ChangedMeanwhile) -> str:
    changed = listed(
        f"{quoted(key)} is {'gone' if value is None else quoted(str(value))}"
        for key, value in error.keys.items()
    )
    return f"changed meanwhile: {changed} now; run the command again"


@word.register
def _(error: errors.MalformedTrait) -> str:
    return (
        f"{quoted(error.name)} can't be a trait: a name has 1 to 255 of A-Z, 0-9 "
        "and _, and starts with CUSTOM_ unless os-traits defines it"
    )


@word.register
def _(error: errors.UnknownTrait) -> str:
    near = did_you_mean(error.nearest)
    if error.standard:
        return (
            f"this cloud's Placement is older than the trait {error.name} and does "
            f"not know it{near}"
        )
    if error.name.startswith("CUSTOM_"):
        way = " (--create creates it)" if error.creatable else ""
        return f"no trait {error.name} in this cloud{way}{near}"
    return (
        f"no trait {error.name} in this cloud{near}; only names that start with "
        "CUSTOM_ can be created"
    )


@word.register
def _(error: errors.NothingMatches) -> str:
    unasked = f"; Nova could not be asked: {error.unasked}" if error.unasked else ""
    near = did_you_mean(error.nearest)
    return f"no {error.selector} matches {quoted(error.value)}{near}{unasked}"


@word.register
def _(error: errors.NoServer) -> str:
    hidden = "; this user may not list those of other projects"
    return (
        f"no server matches {quoted(error.value)}: there is none, or it is deleted"
        f"{hidden * error.own_only}"
    )


@word.register
def _(error: errors.NoProvider) -> str:
    return "Placement has no provider for it, as far as Nova lists it"


@word.register
def _(error: errors.AmbiguousName) -> str:
    return (
        f"{len(error.found)} {error.kind}s are named {quoted(error.name)}; "
        f"name one by its ID: {listed(map(_namesake, error.found))}"
    )


def _namesake(found: Namesake) -> str:
    told = (
        found.owner and f"owner {found.owner}",
        found.domain and f"domain {found.domain}",
        found.visibility,
        found.created and f"created {found.created}",
        "hidden" if found.is_hidden else "",
    )
    about = ", ".join(filter(None, told))
    return f"{found.id} ({about})" if about else found.id


@word.register
def _(error: errors.EmptyAggregate) -> str:
    return f"aggregate {quoted(error.name)} has no hosts"


@word.register
def _(error: errors.BadHostFile) -> str:
    return f"host file {error.path}: {error.reason}"


@word.register
def _(error: errors.BadConfiguration) -> str:
    where = error.path if error.line is None else f"{error.path}:{error.line}"
    value = "" if error.value is None else f": {quoted(error.value)}"
    return visible(f"{where}: {error.reason}{value}")


word.register(PluginFails, own_filters.plugin_fails)
word.register(NovaPythonFails, own_filters.python_fails)


def internal(error: Exception) -> str:
    """Return a line on an error that is nobody's but this project's own."""
    if isinstance(error, MemoryError):
        return "out of memory"
    text = ": ".join(filter(None, (type(error).__name__, str(error))))
    line = " ".join(text.split())
    return f"internal error: {visible(line)}; --debug shows where"


def unprinted(error: OSError) -> str:
    """Return a line on rows of writes that standard output does not take.

    It is true as well where nothing was to be written, or could be.
    """
    reason = visible(error.strerror or type(error).__name__)
    return (
        f"what could be written is written, but the rows can't be printed: {reason}; "
        f"{AGAIN} shows what is left to do"
    )


def would_create(names: Iterable[str]) -> str:
    """Return a line on traits that only a run that is not dry will create."""
    return f"would create the trait {listed(names)}"


def goes_on(
    problem: errors.TraitSchedError | None, is_refused: bool, again: str = AGAIN
) -> str:
    """Return what to do if a plan was not carried out whole.

    :param problem: why the command can't be carried out whole next time, either
    :param is_refused: a service rejects what failed
    :param again: the command that goes on
    """
    if problem is not None:
        where = f"{problem.host}: " if isinstance(problem, errors.NoProvider) else ""
        return f"{again} would end with: {where}{word(problem)}"
    once = " once no service refuses what failed" if is_refused else ""
    return f"{again} goes on{once}"


def interrupted(done: int, total: int, then: str = GOES_ON) -> str:
    """Return the line that ends a command that the user interrupted.

    :param then: what to do, if something is left
    """
    what = then if done < total else "nothing was left to write"
    return f"interrupted after {done} of {total}; {what}"


def failures(outcomes: Sequence[Outcome], then: str = GOES_ON) -> str:
    """Return the line that ends a command of which some changes failed, or may have.

    :param then: what to do
    """
    told = (Status.FAILED, Status.UNKNOWN, Status.NOT_DONE)
    counts = [(sum(o.status is each for o in outcomes), each) for each in told]
    (number, status), *others = [each for each in counts if each[0]]
    more = "".join(f", {number} {status.value}" for number, status in others)
    return f"{number} of {len(outcomes)} {status.value}{more}; {then}"
