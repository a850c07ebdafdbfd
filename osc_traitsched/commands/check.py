"""openstack trait-sched check."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any

from osc_traitsched.app import check
from osc_traitsched.commands import arguments, base, request_args
from osc_traitsched.commands.arguments import flag, option, repeatable
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.config import document
from osc_traitsched.core.check import AREAS, rule_id, rule_or_area
from osc_traitsched.core.check.survey import Finding, Severity
from osc_traitsched.core.errors import BadConfiguration, NothingMatches
from osc_traitsched.views import check as views
from osc_traitsched.views import terminal
from osc_traitsched.views.listing import Table


def _rule_id(text: str) -> str:
    return _known(rule_id, text)


def _rule_or_area(text: str) -> str:
    return _known(rule_or_area, text, f"; the areas are {', '.join(AREAS)}")


def _known(find: Callable[[str], str], text: str, otherwise: str = "") -> str:
    try:
        return find(text)
    except NothingMatches as exc:
        more = "" if exc.nearest else otherwise
        raise argparse.ArgumentTypeError(f"{exc}{more}") from None


def _new_since(path: str, findings: Sequence[Finding]) -> list[Finding]:
    """Findings that are new or worse since an earlier run.

    :raises BadConfiguration: for a file that is not such a run's output
    """
    text = document.read_text(path)
    try:
        return views.new_since(findings, json.loads(text))
    except (ValueError, TypeError, KeyError):
        reason = "not the output of trait-sched check -f json"
        raise BadConfiguration(path, None, reason) from None


class Check(base.TextLister):
    """Check the cloud for what makes servers fail or land on the wrong hosts.

    On a terminal the worst findings come last, else first. Without arguments it runs
    all rules. Nothing is written. Exits 7 if a finding is at least as severe as
    --fail-on. "openstack -q" prints the number of findings alone.
    """

    examples = """
        # Two areas; warnings count as well
        check traits isolation --fail-on warning
        # Everything
        check
        # What concerns one flavor
        check --flavor ssd.medium
    """

    own_formats = (*base.TextLister.own_formats, terminal.FORMAT)
    says_where = True
    nothing = ""
    metrics = ""
    findings: tuple[Finding, ...] = ()

    options = (
        option(
            "rules",
            metavar="RULE",
            type=_rule_or_area,
            nargs="*",
            help="a rule's ID, or an area: " + ", ".join(AREAS),
        ),
        flag(
            "--servers",
            help="read all servers, too, and count those that are misplaced (a request "
            "for each thousand servers)",
        ),
        flag(
            "--pedantic",
            help="run the rules on rare faults, too",
        ),
        *request_args.flavors_and_images("only findings about this {}"),
        repeatable(
            "--ignore",
            type=_rule_id,
            metavar="RULE",
            help="skip the rule with this ID (can be repeated)",
        ),
        option(
            "--fail-on",
            choices=(Severity.ERROR.value, Severity.WARNING.value),
            default=Severity.ERROR.value,
            help="exit 7 on findings of at least this severity (default: %(default)s)",
        ),
        option(
            "--severity",
            choices=[each.value for each in Severity],
            help="show findings of at least this severity (default: warning for "
            "people, note for programs)",
        ),
        flag(
            "--long",
            help="show notes, too, and all problems and fixes (the default in a pipe)",
        ),
        option(
            "--new-since",
            metavar="FILE",
            help="skip findings of an earlier run, whose output with -f json is in "
            "FILE, unless they are worse now",
        ),
        arguments.SCHEDULER,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        arguments.check_columns(args, views.COLUMNS)
        sources = self.settings(args)
        found = check.check(
            self.cloud(),
            sources,
            args.rules,
            args.flavors,
            args.images,
            args.ignore,
            args.servers,
            args.pedantic,
        )
        for what, stopped in found.unread.items():
            base.LOG.warning("Not checked: %s", views.unread(what, stopped))
            self.exit_code = ExitCode.UNKNOWN
        base.warn(
            *(
                views.unknown_ignored(name, sources.place)
                for name in found.unknown_ignored
            )
        )
        findings = list(found.findings)
        if args.new_since:
            findings = _new_since(args.new_since, findings)
            hidden = len(found.findings) - len(findings)
            base.warn(views.hidden(hidden, args.new_since))
        worst = Severity(args.fail_on).rank
        if any(finding.severity.rank <= worst for finding in findings):
            self.exit_code = ExitCode.FINDINGS
        if args.severity is not None:
            least = Severity(args.severity).rank
            findings = [each for each in findings if each.severity.rank <= least]
        self.assumed = found.survey.assumptions
        self.nothing = (
            views.nothing_shown(len(found.findings))
            if found.findings
            else views.nothing(found.rules, found.survey)
        )
        self.findings = tuple(findings)
        self.metrics = views.metrics(findings, found.rules, found.unread)
        columns, rows = views.table(findings, self.repeated_options)
        return columns, [*rows, *views.unread_rows(found.unread)]

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print blocks or rows, or a line for people if there are none."""
        if parsed_args.formatter == terminal.FORMAT:
            self.app.stdout.write(f"{self.metrics}\n")
            return 0
        if parsed_args.formatter in base.FOR_PEOPLE and not self.findings:
            self._write(self.where + self.nothing)
            return 0
        if not base.wants_text(parsed_args):
            if parsed_args.formatter not in base.QUOTING_FORMATS:
                parsed_args.columns = parsed_args.columns or list(views.COLUMNS[:-1])
            return super().produce_output(parsed_args, column_names, data)
        shows_notes = parsed_args.long or parsed_args.severity
        lines = views.blocks(
            self.findings,
            self.repeated_options,
            Severity.NOTE if shows_notes else Severity.WARNING,
            0 if parsed_args.long else self.width,
            # Other lines: of the cloud, the settings, and the next prompt.
            max(self.height - 3, 0),
        )
        shown = list(lines)
        self._write(self.answer(shown, len(shown) - 1))
        return 0

    def _write(self, text: str) -> None:
        self.app.stdout.write(f"{text}\n{self.settings_line}")
