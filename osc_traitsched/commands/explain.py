"""Commands for one request: explain, candidates and filter try."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from osc_traitsched import paste
from osc_traitsched.app import (
    diff,
    drain,
    explain,
    flavor,
    gc_paused,
    judging,
    own_filters,
    request,
    snapshot,
)
from osc_traitsched.app.explain import Candidates, Explainer
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.commands import arguments, base, request_args
from osc_traitsched.commands.arguments import Adder, flag, group, option, repeatable
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.difference import Since
from osc_traitsched.core.errors import AnswerIsNo, BadUsage
from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.judge.judgement import Judgement, RequestResult
from osc_traitsched.core.nova.filter.state import Passes, Raises, Unknown
from osc_traitsched.core.nova.own import PluginJudgment, Weighed
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.text import count, visible
from osc_traitsched.views import candidates as views
from osc_traitsched.views import flavor as views_flavor
from osc_traitsched.views import terminal
from osc_traitsched.views.explain import document, reasons, words
from osc_traitsched.views.explain import text as explain_text
from osc_traitsched.views.listing import Table

# Options for what is shown.


def output_format(**more: str) -> Adder:
    """The option for the output format.

    :param more: what formats of this command alone are for
    """
    others = "".join(f", {name} for {readers}" for name, readers in more.items())
    return option(
        "-f",
        "--format",
        choices=("text", "json", "yaml", *more),
        default="text",
        help=f"text for people, json or yaml for programs{others} "
        "(default: %(default)s)",
    )


FORMAT = output_format()

#: The options for showing an explanation, but the format.
SHOWING = (
    repeatable(
        "--host",
        dest="hosts",
        metavar="PATTERN",
        help="show these hosts in detail: name, UUID or glob (or range, cmp[00-05]); "
        "the exit code is of all hosts",
    ),
    option(
        "--fixes",
        action=argparse.BooleanOptionalAction,
        help="look for fixes (default: only if there is no room)",
    ),
    flag(
        "--long",
        help="all hosts and fixes, conditions and assumptions; with json or yaml: "
        "figures of all full hosts",
    ),
)


# Options for custom filters and weighers, and their Python.


#: The options of commands that run filters.
CUSTOM_FILTERS = group(
    "custom filters",
    "Custom filters and weighers run in a Python that has Nova in it: those named "
    "here, and those that nova.conf names. As in: --custom-filter "
    "source_network_filter.py:SourceNetworkFilter --nova-python /opt/nova",
    repeatable(
        "--custom-filter",
        dest="plugins",
        metavar="FILE.py:CLASS|MODULE:CLASS",
        help="enable this custom filter or weigher (can be repeated)",
    ),
    flag(
        "--with-nova",
        help="run Nova's filters there too; where they differ from those here, "
        "say so and believe Nova",
    ),
    *request_args.python(),
)


def own_sources(
    args: argparse.Namespace, settings: SettingsSources
) -> OwnSources | None:
    """The plugins to run in Nova, if any; raises BadUsage without a Python for them."""
    if args.nova_python is None:
        of_nova = {"--custom-filter": args.plugins, "--with-nova": args.with_nova}
        for flag, value in of_nova.items():
            if value:
                raise BadUsage(f"{flag} requires --nova-python")
    found = base.nova_python(args, settings)
    if found is None or args.nova_python is None:
        return found
    plugins = tuple(args.plugins)
    return dataclasses.replace(found, plugins=plugins, with_nova=args.with_nova)


# openstack trait-sched filter try.


class TryFilter(base.Lister):
    """Show what a custom filter or weigher says of every host.

    It runs in a Python that has Nova in it, on Nova's own objects, and
    nova-scheduler is not touched. What the API does not show is unknown as soon as
    it is read. Exits 3 if a filter lets no host through, or raises; 8 if that
    depends on what is unknown.
    """

    examples = """
        filter try log_everything_filter.py:LogEverythingFilter \
ssd.medium ubuntu-24.04 \
--nova-python 'ssh ctl1 sudo docker exec -i nova_scheduler python3'
    """

    says_where = True

    options = (
        option(
            "plugin",
            metavar="FILE.py:CLASS|MODULE:CLASS",
            help="the filter or weigher: a class in a file, or in a module that the "
            "other Python can import; or the bare name of one that its nova.conf has",
        ),
        *request_args.REQUEST,
        group("filter", "", *request_args.python(is_required=True)),
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        cloud = self.cloud()
        sources = self.settings(args)
        asked = request.question(cloud, request_args.server_spec(args), sources)
        trial = own_filters.try_plugin(
            cloud,
            asked,
            args.plugin,
            args.nova_python,
            sources.conf_files,
            args.nova_python_timeout,
        )
        _check_one(trial.judgment)
        problem = reasons.problem(trial)
        if problem:
            base.warn(problem)
        self.exit_code = _exit_code_of_try(trial.judgment)
        return reasons.rows(trial)


def _check_one(found: PluginJudgment) -> None:
    names = sorted({*found.answers, *found.weights})
    if len(names) > 1:
        raise BadUsage(f"{len(names)} plugins match; name one: {', '.join(names)}")


def _exit_code_of_try(found: PluginJudgment) -> ExitCode:
    answers: list[object] = list(found.weights.values())
    for each in found.answers.values():
        answers.extend(each.values())
    kinds = {type(answer) for answer in answers}
    if Raises in kinds:
        return ExitCode.NO_HOST
    if kinds & {Passes, Weighed}:
        return ExitCode.DONE
    return ExitCode.UNKNOWN if Unknown in kinds else ExitCode.NO_HOST


# openstack trait-sched explain.


#: What commands begin with.
_PLUGIN = ("trait-sched", "sched")


class Explain(base.Command):
    """Explain which hosts could run a server, and why the others could not.

    It asks Placement what Nova would ask, runs the scheduler's host filters, gives a
    reason for every host, and tries each fix before it suggests it. With --image alone
    it answers as image show. Nothing is written or claimed. Exits 0 if a host
    can take the server, 3 if none can, 4 if Placement disagrees, and 8 if the answer
    depends on something that no API shows. "openstack -q" prints the verdict alone.
    """

    examples = """
        # Why a flavor and an image get no host
        explain ssd.medium ubuntu-24.04
        # For a project, in a zone
        explain ssd.medium ubuntu-24.04 --project acme --availability-zone az-west
        # Which running servers to move, if all hosts are full
        explain ssd.medium ubuntu-24.04 --make-room
        # When it broke, and what took the hosts
        explain ssd.medium ubuntu-24.04 --since /var/lib/snapshots
        # Which flavors can boot an image
        explain --image ubuntu-24.04
    """

    options = (
        *request_args.REQUEST,
        CUSTOM_FILTERS,
        option(
            "--count",
            type=request_args.count,
            default=1,
            metavar="N",
            help="ask for this many servers (default: 1)",
        ),
        option(
            "--since",
            metavar="FILE|FOLDER",
            help="also show the hosts in this snapshot, and what changed; in a folder "
            "of snapshot save --keep: since when, and what took them",
        ),
        flag(
            "--make-room",
            help="find the fewest moves of servers that make room (up to 3 off each of "
            "the 20 nearest hosts)",
        ),
        arguments.RATIO,
        *SHOWING,
        FORMAT,
    )

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> int:
        if args.hosts and not (args.flavor or args.flavor_option):
            show = paste.openstack("trait-sched host show", args.hosts[0])
            command = paste.line(show, self.repeated_options)
            raise BadUsage(f"--host needs FLAVOR; for all flavors: {command}")
        cloud = self.cloud()
        asked = request_args.server_spec(args, args.count, needs_flavor=False)
        sources = self.settings(args)
        if not asked.flavor:
            return self._by_flavor(asked, sources, args)
        explained = explainer(args, sources)
        explanation = explained(cloud, request.question(cloud, asked, sources))
        if args.ratios:
            self.reject(args, ("since", "make_room"), "not with --ratio")
            explanation = self._with_ratios(explanation, asked, sources, args)
        if args.make_room:
            explanation = drain.with_moves(cloud, explanation)
        warn_of_vanished(explanation.judgement)
        if args.since:
            of_then = since(self, args.since, sources, functools.partial(_ask, asked))
            explanation = dataclasses.replace(explanation, since=of_then)
        project = explanation.judgement.question.project
        if project and args.long and args.format == "text":
            name = request.project_name(cloud, project)
            explanation = dataclasses.replace(explanation, project=name)
        text = self._text(explanation, args)
        self.app.stdout.write(f"{text}\n")
        return exit_code(explanation.judgement)

    def _with_ratios(
        self,
        now: Explanation,
        asked: ServerSpec,
        sources: SettingsSources,
        args: argparse.Namespace,
    ) -> Explanation:
        saved = snapshot.with_ratios(self.as_snapshot(sources), args.ratios)
        cloud = self.cloud(saved)
        question = request.question(cloud, asked, sources)
        return dataclasses.replace(
            explainer(args, sources)(cloud, question),
            without_set=now.without_set or now.judgement,
            ratios=tuple(map(str, args.ratios)),
        )

    def _by_flavor(
        self, asked: ServerSpec, sources: SettingsSources, args: argparse.Namespace
    ) -> ExitCode:
        of_one = ("count", "make_room", "ratios", "fixes", "long", "custom filters")
        self.reject(args, of_one, "only with FLAVOR")
        return show_image(self, asked, sources, args)

    def _text(self, explanation: Explanation, args: argparse.Namespace) -> str:
        options, shown = self.repeated_options, explanation.named
        if args.format == "text":
            words = getattr(self.app, "command_options", [])
            # Global options come before, and answer() adds those of the login.
            own = [*itertools.dropwhile(lambda word: word not in _PLUGIN, words)]
            again = shlex.join(["openstack", _PLUGIN[0], *own[1:]]) if own else ""
            text = explain_text.lines(
                explanation, shown, args.long, options, self.width, again
            )
            return self.answer(text)
        return base.printed(document.document(explanation, options), args.format)


def show_image(
    command: base.Command,
    asked: ServerSpec,
    sources: SettingsSources,
    args: argparse.Namespace,
) -> ExitCode:
    """Show an image with all flavors, and what changed since a snapshot."""
    found = flavor.image(command.cloud(), asked, sources)
    if args.since:

        def ask(saved: Snapshot, _: Snapshot) -> tuple[RequestResult, ...]:
            return judging.by_flavor(saved.cloud, asked, saved.sources)

        of_then = since(command, args.since, sources, ask)
        found = dataclasses.replace(found, since=of_then)
    judgements = found.capacity.judgements
    if args.format != "text":
        base.warn(*explain_text.remarks(judgements))
    whole = functools.partial(views_flavor.ImageDocument.of, found)
    command.show(args, views_flavor.image(found), whole)
    return ExitCode.of(Answer.best(each.answer for each in judgements))


def _ask(asked: ServerSpec, saved: Snapshot, _: Snapshot) -> RequestResult:
    question = request.question(saved.cloud, asked, saved.sources)
    return explain.explain(saved.cloud, question, want_fixes=False).judgement


def since(
    command: base.Command,
    path: str,
    sources: SettingsSources,
    ask: Callable[[Snapshot, Snapshot], RequestResult | tuple[RequestResult, ...]],
) -> Since:
    """What changed for a request since a snapshot, or in a folder of them.

    :param ask: judges it in a snapshot; the cloud now comes second
    """
    paths = snapshot.within(path, command.now)

    def opened(path: str) -> Snapshot:
        found = snapshot.read(path).settled(sources)
        found.check_comparable(new)
        if found.time > new.time:
            raise BadUsage(
                f"{path}: saved on {found.time:%Y-%m-%d %H:%M} UTC, after the cloud of "
                "the answer. --since needs an earlier snapshot"
            )
        claims = sources.claims and sources.claims.of_records(found.records)
        return found._replace(claims=claims)

    new = command.as_snapshot(sources, snapshot.read(paths[-1]))
    new = new._replace(claims=sources.claims)
    found = diff.since(paths, new, lambda saved: ask(saved, new), opened)
    is_folder = paths != (path,)
    return dataclasses.replace(found, searched=len(paths) * is_folder)


def explainer(args: argparse.Namespace, sources: SettingsSources) -> Explainer:
    """An explainer with these options."""
    return functools.partial(
        explain.explain,
        named=arguments.hosts(args.hosts),
        want_figures=args.long and args.format != "text",
        want_fixes=args.fixes,
        own=own_sources(args, sources),
    )


def warn_of_vanished(judgement: RequestResult | None) -> None:
    """Warn of providers that were deleted during the reading."""
    if isinstance(judgement, Judgement) and judgement.facts.vanished:
        base.warn(terminal.vanished(judgement.facts.vanished))


def exit_code(judgement: RequestResult) -> ExitCode:
    """Exit code of explain: for a host, no host, or a doubt."""
    is_doubted = isinstance(judgement, Judgement) and judgement.is_in_doubt
    if is_doubted and judgement.refusal is None:
        return ExitCode.DISAGREEMENT
    return ExitCode.of(judgement.answer)


# openstack trait-sched candidates.


class ListCandidates(base.Lister):
    """List the hosts that Nova would choose from for a server, without claiming any.

    These are the hosts that Placement offers and that the scheduler's host filters
    pass, in the order in which the scheduler tries them. Exits 3 if there is none,
    or if Nova or Placement rejects the request, and 8 if it cannot be known of any
    host whether all filters pass it. "openstack -q" prints their names on one line.
    """

    examples = """
        # Hosts of one zone, best first
        candidates m1.large ubuntu-24.04 --availability-zone az-east
        # The first five, with their weights
        candidates m1.large ubuntu-24.04 --limit 5 --weights
        # For a program
        candidates m1.large ubuntu-24.04 -f json
    """

    says_where = True
    none = ""

    options = (
        *request_args.REQUEST,
        CUSTOM_FILTERS,
        option(
            "--limit",
            type=request_args.count,
            metavar="N",
            help="show at most this many hosts",
        ),
        flag(
            "--weights",
            help="show the weights that nova-scheduler gives each host",
        ),
        flag(
            "--print-query",
            help="print the query that Nova would send instead of sending it",
        ),
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        """Ask, and show."""
        if args.print_query and args.limit is not None:
            raise BadUsage("--print-query cannot be combined with --limit")
        try:
            return self._asked(args)
        except AnswerIsNo as refusal:
            if args.formatter == "table":
                raise
            # Programs get an empty list in the usual shape.
            base.fail(refusal)
            self.exit_code = base.of_error(refusal)
            return views.queries() if args.print_query else views.rows((), Filtering())

    def _asked(self, args: argparse.Namespace) -> Table:
        cloud = self.cloud()
        asked = request_args.server_spec(args)
        sources = self.settings(args)
        own = own_sources(args, sources)
        question = request.question(cloud, asked, sources)
        self.assumed = question.assumptions
        if args.print_query:
            accepted = request.accepted(cloud, question)
            return views.queries(*filter(None, (accepted, accepted.fallback)))
        found = explain.candidates(cloud, question, own)
        base.warn(*_warnings(found))
        self.exit_code = exit_code(found.judgement)
        if not found.hosts:
            self.none = views.none(found.kept_out)
        ranking = found.judgement.ranking if args.weights else None
        hosts = found.hosts[: args.limit]
        return views.rows(hosts, found.judgement.filtering, ranking)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print; if there is no host, a line and no table."""
        if not data and parsed_args.formatter == "table":
            self.app.stdout.write(f"{self.where}{self.none}\n{self.settings_line}")
            return 0
        is_table = parsed_args.formatter == "table" and not parsed_args.columns
        if is_table and self.is_quiet and not parsed_args.print_query:
            names = visible(", ".join(row[0] for row in data))
            self.app.stdout.write(f"{count(len(data), 'host')}, best first: {names}\n")
            return 0
        if is_table and self.width:
            hidden = views.WIDE if parsed_args.weights else views.WIDE[:1]
            places = [n for n, name in enumerate(column_names) if name not in hidden]
            column_names = [column_names[place] for place in places]
            data = [tuple(row[place] for place in places) for row in data]
        return super().produce_output(parsed_args, column_names, data)


def _warnings(found: Candidates) -> Iterator[str]:
    judgement, names = found.judgement, found.names
    question, filtering = judgement.question, judgement.filtering
    if found.vanished:
        yield terminal.vanished(found.vanished)
    yield from reasons.own_differences(question, filtering, names)
    yield from reasons.unread_hints(question)
    yield from views.kept_out(found.kept_out, filtering)
    yield from words.refusing(judgement.request, question)
    if judgement.open.may_be_rejected:
        yield words.AGGREGATE_NEEDED
    yield from reasons.may_fail(judgement.candidates.may_fail, names)
    if found.hosts and judgement.is_limited:
        yield (
            "Nova reads only a part of Placement's answers. Filters may reject all of "
            "them. Raise [scheduler]max_placement_results."
        )
    yield from reasons.assumed(question.assumptions)
    if judgement.open.depends:
        yield reasons.headline(judgement)
    by_uuid = {each.host.uuid: each.host.name for each in found.hosts}
    yield from reasons.unsettled(question, filtering, by_uuid)
    if judgement.ranking is not None:
        yield from reasons.order(judgement.ranking)
