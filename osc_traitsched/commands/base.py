"""The base of all commands: the cloud, errors, exit codes, formats and progress."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import enum
import io
import json
import logging
import math
import os
import shutil
import sys
import textwrap
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import tqdm
import yaml
from cliff import columns
from cliff.formatters.table import TableFormatter
from osc_lib import exceptions
from osc_lib.command import command
from stevedore.extension import Extension

from osc_traitsched import paste
from osc_traitsched.app import snapshot
from osc_traitsched.app.own_filters import NovaClaims, OwnSources
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.cloud.connection import TIMEOUT, HttpCloud
from osc_traitsched.cloud.service import Cloud, unread
from osc_traitsched.commands import arguments, help_text
from osc_traitsched.commands.arguments import Adder
from osc_traitsched.core import errors
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import Mistakes, TraitSchedError
from osc_traitsched.core.nova.options import SchedulerSettings, Service
from osc_traitsched.paste import Option
from osc_traitsched.runner.document import TIMEOUT as NOVA_TIMEOUT
from osc_traitsched.text import visible
from osc_traitsched.views import config, terminal
from osc_traitsched.views.explain import words
from osc_traitsched.views.terminal import Line, painted, settings_line

if TYPE_CHECKING:
    # oslo.config is slow to import.
    from osc_traitsched.config.sources import SettingsSources

# Progress on a terminal, for slow reads.


#: Seconds after a command's first request.
_DELAY = 2.0


class Reading:
    """Shows a line while the main thread waits for an answer.

    The line is gone before a command prints. Writing threads have their own progress.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._is_late = False
        self._path = ""
        self._last, self._number = "", 0
        self._line: Any = None

    @contextlib.contextmanager
    def __call__(self, path: str) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._start()
        with self._lock:
            self._path = path
            self._number = self._number + 1 if path == self._last else 1
            self._last = path
            self._show()
        try:
            yield
        finally:
            with self._lock:
                self._path = ""
                self._hide()

    def _start(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(_DELAY, self._ring)
            # The timer must not keep a finished command.
            self._timer.daemon = True
            self._timer.start()

    def _ring(self) -> None:
        with self._lock:
            self._is_late = True
            self._show()

    def _show(self) -> None:
        if self._is_late and self._path:
            text = terminal.line(self._path, self._number)
            self._line = tqdm.tqdm(
                desc=text, bar_format="{desc}", leave=False, file=sys.stderr
            )

    def _hide(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


# Exit codes: each has one meaning for all commands.


class ExitCode(enum.IntEnum):
    """How a command ended; ``meaning`` says it to users, in the manual too."""

    meaning: str

    DONE = (
        0,
        "Done, or the answer is yes: a host exists, every server can move, no finding.",
    )
    ERROR = (
        1,
        "Error: standard error says what is wrong. Some changes may be written: see "
        "the column ``status``.",
    )
    USAGE = (
        2,
        "Usage error: the command is unknown, or an option is missing, empty or wrong, "
        "or has no effect with the others.",
    )
    NO_HOST = (
        3,
        "No host can take the server, or Nova or Placement rejects the request. For "
        "``host drain`` and ``capacity --lose`` or ``--without``: a server cannot "
        "move. For ``capacity``: no flavor fits.",
    )
    DISAGREEMENT = (
        4,
        "Disagreement: Placement's answer does not follow from the data that was read.",
    )
    REFUSED = (
        5,
        "Refused: the command would do harm and wrote nothing. ``--force`` overrides, "
        "but not what ``apply --reviewed`` has not reviewed.",
    )
    DIFFERS = (
        6,
        "With ``--exit-code``: there is something to write. For ``diff``: something "
        "changed.",
    )
    FINDINGS = (
        7,
        "``check``, ``server misplaced`` or ``server explain --failed`` found "
        "something, fewer servers fit than ``capacity --at-least`` demands, or "
        "``capacity --full`` shows a flavor.",
    )
    UNKNOWN = (
        8,
        "Unknown: the answer depends on something that no API shows, or that you may "
        "not read. The answer names it.",
    )
    INTERRUPTED = 130, "Ctrl-C. Run the same command again."

    def __new__(cls, value: int, meaning: str) -> ExitCode:
        """A number with its meaning."""
        code = int.__new__(cls, value)
        code._value_, code.meaning = value, meaning
        return code

    @classmethod
    def of(cls, answer: Answer) -> ExitCode:
        """The code of an answer about hosts."""
        if answer.is_open:
            return cls.UNKNOWN
        return cls.DONE if answer is Answer.YES else cls.NO_HOST


#: Codes of errors; a class that is not here has the code of its nearest base.
_CODES = {
    errors.TraitSchedError: ExitCode.ERROR,
    errors.BadUsage: ExitCode.USAGE,
    errors.AnswerIsNo: ExitCode.REFUSED,
    errors.NotForProject: ExitCode.NO_HOST,
    errors.PlacementRefuses: ExitCode.NO_HOST,
    errors.Refusal: ExitCode.NO_HOST,
}


#: Codes of answers, not of errors, that ``--exit-zero`` makes 0.
_NOT_YES = (ExitCode.NO_HOST, ExitCode.FINDINGS, ExitCode.UNKNOWN)
_EXIT_ZERO = "TRAITSCHED_EXIT_ZERO"

#: Codes of answers that are unknown if a part of the cloud could not be read.
_ANSWERS = (ExitCode.DONE, ExitCode.NO_HOST)


def of_error(error: errors.TraitSchedError) -> ExitCode:
    """Exit code of a command that ends with this error."""
    if isinstance(error, errors.BadConfiguration) and error.path.startswith("--"):
        # A wrong value of an option.
        return ExitCode.USAGE
    return next(_CODES[each] for each in type(error).__mro__ if each in _CODES)


# Warnings of libraries about unreachable services: our errors say the same.


#: These log retries, and discoveries that continue at another URL.
_LOGGERS = ("keystoneauth.session", "keystoneauth.discover")


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno > logging.WARNING


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Hide warnings of these libraries."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(_is_error)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_error)


# The cloud's name in a plan, so that the plan is not applied to another cloud.


def name_of(sdk: Any) -> str:
    """Placement's address, and the catalog's ID of that endpoint, if any.

    Clouds that are built alike can have the same internal address; Keystone makes the
    ID. Placement is not called.
    """
    session = sdk.config.get_session()
    wanted = {
        "service_type": "placement",
        "interface": sdk.config.get_interface("placement"),
        "region_name": sdk.config.get_region_name("placement"),
    }
    address = sdk.config.get_endpoint("placement") or session.get_endpoint(**wanted)
    # A login without Keystone has no catalog.
    get_access = getattr(session.auth, "get_access", None)
    catalog = get_access(session).service_catalog if get_access else None
    found = catalog.get_endpoint_data_list(**wanted) if catalog else ()
    parts = [str(address or "").rstrip("/"), *(each.endpoint_id for each in found[:1])]
    return " ".join(filter(None, parts))


# Commands with errors as one line.


#: Messages on standard error, a line each.
LOG = logging.getLogger(__name__)


def nova_python(
    args: argparse.Namespace, settings: SettingsSources
) -> OwnSources | None:
    """The Python with Nova in it that is named, or that config save asked, if any."""
    timeout = getattr(args, "nova_python_timeout", NOVA_TIMEOUT)
    named, scheduler = getattr(args, "nova_python", None), Service.SCHEDULER.value
    if named is not None:
        records = snapshot.read(args.snapshot).records if args.snapshot else {}
        files = settings.conf_files
        return OwnSources(named, nova_conf=files, timeout=timeout, facts=records)
    for each in settings.readings:
        if each.command and each.service in ("", scheduler):
            return OwnSources(
                each.command, timeout=timeout, service=scheduler, warn=LOG.warning
            )
    return None


def asking_nova(args: argparse.Namespace, settings: SettingsSources) -> SettingsSources:
    """The settings, with a Nova that tells what hosts can claim, if there is one."""
    nova = nova_python(args, settings)
    if nova is not None and (nova.service or nova.facts):
        settings.claims = NovaClaims(nova)
    return settings


#: Formats for programs, which quote by themselves; the others are for terminals.
QUOTING_FORMATS = frozenset({"json", "yaml"})

#: The format of a command's own text.
_TEXT = "text"

#: Formats for people, which begin with the cloud's name.
FOR_PEOPLE = frozenset({"table", _TEXT})

#: Formats without lists: a list becomes one field.
_FLAT_FORMATS = frozenset({"csv", "value"})

#: Errors without a message for users.
_INTERNAL = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)


_REGION = "--os-region-name"


def _make_visible(record: logging.LogRecord) -> bool:
    record.msg, record.args = visible(record.getMessage()), ()
    return True


LOG.addFilter(_make_visible)


def warn(*lines: object) -> None:
    """Warn on standard error."""
    for line in lines:
        LOG.warning("%s", str(line))


def fail(*lines: object) -> None:
    """Say on standard error what is wrong."""
    for line in lines:
        LOG.error("%s", str(line))


#: Below an answer for a person that rests on the scheduler's settings, without any.
NOT_SUPPLIED = "nova.conf unknown; run once:"
IN_SNAPSHOT = "nova.conf unknown, the snapshot has none; add --nova-conf FILE"


#: Columns of text in a pipe or a file.
IN_PIPE = 100


#: ``openstack sched`` is short for ``openstack trait-sched``.
SHORT = "sched"


class Command(command.Command):  # type: ignore[misc,unused-ignore]
    """A command; ``take_action`` returns its exit code.

    :cvar needs_login: it needs a cloud, or a snapshot of one
    :cvar reads: it answers from a snapshot, too
    :cvar exit_code: of a run without errors that returns none
    :ivar folds: effects and refusals take few lines: on a terminal, without ``--long``
    :ivar sources: settings of the answer; a person is told below it if there are none
    """

    #: For the help, without ``openstack trait-sched``: commands, a line each, with a
    #: comment above. The first command runs on the tests' cloud.
    examples = ""
    #: What this command adds to the options that all commands have.
    options: Sequence[Adder] = ()

    timeout: float | None = None
    #: cliff logs in before it parses; ``run`` does after: a snapshot needs no login.
    auth_required = False
    needs_login = True
    exit_code = ExitCode.DONE
    reads = True
    snapshot: Snapshot | None = None
    sources: SettingsSources | None = None
    folds = False
    _clouds: tuple[Cloud, ...] = ()
    _parser: argparse.ArgumentParser

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # "openstack --help" shows each command once, by its long name; and the name of
        # the overview is none that people type.
        name = self.cmd_name or ""
        self.deprecated = name.startswith(SHORT) or name.endswith("-commands")

    def get_epilog(self) -> str:
        """The text below the options: examples, and cliff's own."""
        rows = textwrap.dedent(self.examples).strip().splitlines()
        starts = ("" if row[:1] == "#" else "openstack trait-sched " for row in rows)
        lines = (start + row for start, row in zip(starts, rows))
        text = "\n".join(map(help_text.wrapped, lines))
        title = "Examples" if len(rows) > 1 else "Example"
        return f"{title}:\n\n{text}\n\n{super().get_epilog()}"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """A parser with the options that all commands have."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        arguments.prepare(parser)
        parser.add_argument(
            "--timeout",
            type=seconds,
            metavar="SECONDS",
            help="how long a service may be silent, before its answer or within it "
            f"(default: api_timeout of clouds.yaml, else {TIMEOUT})",
        )
        parser.add_argument(
            "--snapshot",
            metavar="FILE",
            default=os.environ.get(arguments.SNAPSHOT) or None,
            help="answer from a file of snapshot save, without a login (default: "
            f"{arguments.SNAPSHOT} of the environment)"
            if self.reads
            else argparse.SUPPRESS,
        )
        parser.add_argument(
            "--exit-zero",
            action="store_true",
            default=os.environ.get(_EXIT_ZERO, "0") not in ("", "0"),
            help="exit 0 instead of 3, 7 and 8: the answer is no, or unknown (default "
            f"with {_EXIT_ZERO}=1 in the environment)",
        )
        for add in self.options:
            add(parser)
        help_text.shorten(parser)
        self._parser = parser
        return parser

    def reject(
        self, args: argparse.Namespace, unused: Collection[str], problem: str
    ) -> None:
        """Reject options that would have no effect; raises BadUsage.

        :param unused: their destinations, or titles of groups
        :param problem: what stands behind their flags
        """
        flags = [
            action.option_strings[-1]
            for group in self._parser._action_groups
            for action in group._group_actions
            if {action.dest, group.title} & {*unused}
            and getattr(args, action.dest) != action.default
        ]
        if flags:
            raise errors.BadUsage(f"{', '.join(flags)}: {problem}")

    def log_in(self) -> None:
        """Log in, as osc-lib does before a command that needs it."""
        self.auth_required = True
        self.app.prepare_to_run_command(self)

    def cloud(self, saved: Snapshot | None = None) -> Cloud:
        """The cloud of the user's login, or the saved one."""
        if saved := saved or self.snapshot:
            self._clouds += (saved.cloud,)
            return self._clouds[-1]
        sdk = self.app.client_manager.sdk_connection
        watch = Reading() if self._shows_progress else contextlib.nullcontext
        self._clouds += (HttpCloud(sdk, self.timeout, watch),)
        return self._clouds[-1]

    @property
    def endpoint(self) -> str:
        """The cloud's name in the rows of its plans."""
        if self.snapshot:
            return ""
        return name_of(self.app.client_manager.sdk_connection)

    @property
    def _shows_progress(self) -> bool:
        is_usual = self.app.options.verbose_level == self.app.DEFAULT_VERBOSE_LEVEL
        return is_usual and sys.stderr is not None and sys.stderr.isatty()

    @property
    def repeated_options(self) -> tuple[Option, ...]:
        """Global login options of this call, without secrets, for printed commands.

        Environment variables still apply when a command is pasted.
        """
        return paste.login_options(self.app.parser, self.app.options)

    @property
    def width(self) -> int:
        """Columns of the terminal; 0 if the output is not a terminal."""
        return _columns(self.app.stdout)

    @property
    def columns(self) -> int:
        """Columns of text; 0 for any, for the one line of -q in a pipe."""
        return self.width or (0 if self.is_quiet else IN_PIPE)

    @property
    def height(self) -> int:
        """Rows of the terminal; 0 if the output is not a terminal."""
        return shutil.get_terminal_size().lines if self.width else 0

    @property
    def is_quiet(self) -> bool:
        """Whether ``openstack -q`` asks for the verdict alone."""
        return bool(self.app.options.verbose_level == 0)

    def answer(self, lines: Iterable[Line], above: int = 0) -> str:
        """The text of an answer; with -q only the verdict, below ``above`` lines."""
        shown = list(lines)
        if self.is_quiet:
            shown = [each.alone for each in shown[above : above + 1]]
        text = "\n".join(painted(each, self.width, self.columns) for each in shown)
        return self.where + paste.repeating(text, self.repeated_options)

    def settings(self, args: argparse.Namespace) -> SettingsSources:
        """The scheduler's settings from the options, kept as those of the answer."""
        self.sources = asking_nova(args, arguments.sources(args, self.app))
        return self.sources

    def show(
        self,
        args: argparse.Namespace,
        lines: Iterable[Line],
        document: Callable[[], object],
        above: int = 0,
    ) -> None:
        """Print an answer as ``--format`` asks: lines for people, else a document.

        :param above: lines above the verdict
        """
        if args.format == _TEXT:
            text = self.answer(lines, above)
        else:
            text = printed(document(), args.format)
        self.app.stdout.write(f"{text}\n")

    @property
    def where(self) -> str:
        """A line with the cloud's name; empty with -q, or if no cloud was chosen."""
        if self.is_quiet:
            return ""
        if self.snapshot:
            return terminal.snapshot(self.snapshot.path, self.now) + "\n"
        cloud, region = self.app.options.cloud, self.app.options.region_name
        regions = [each for each in self.repeated_options if each.name == _REGION]
        return paste.where(cloud, region) + "\n" if cloud or regions else ""

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run, and show errors as one line."""
        if getattr(parsed_args, "help_all", False):
            return 0
        self.timeout = parsed_args.timeout
        options = getattr(self.app, "options", None)
        is_debugged = getattr(options, "debug", False)
        LOG.addFilter(self._repeat_options)
        try:
            with contextlib.nullcontext() if is_debugged else silenced():
                return self._run(parsed_args)
        finally:
            LOG.removeFilter(self._repeat_options)

    def _repeat_options(self, record: logging.LogRecord) -> bool:
        text = paste.repeating(record.getMessage(), self.repeated_options)
        record.msg, record.args = terminal.wrapped(text, _columns(sys.stderr)), ()
        return True

    def _run(self, parsed_args: argparse.Namespace) -> int:
        try:
            arguments.check_text(parsed_args)
            self._open(parsed_args)
            if self.app.stdout is None:
                raise exceptions.CommandError("standard output is closed")
            if isinstance(self.app.stdout, io.TextIOWrapper):
                # A name that the terminal can't show must not end a run after writes.
                self.app.stdout.reconfigure(errors="backslashreplace")
            fmt = getattr(parsed_args, "formatter", getattr(parsed_args, "format", ""))
            is_long = getattr(parsed_args, "long", False)
            self.folds = bool(self.width) and fmt in FOR_PEOPLE and not is_long
            code = super().run(parsed_args) or self.exit_code
            if self.sources and not self.sources.place and fmt in FOR_PEOPLE:
                save = paste.line(
                    paste.openstack("trait-sched config save"), self.repeated_options
                )
                hint = f"{NOT_SUPPLIED} {save} --nova-conf FILE"
                # Answers from a snapshot read no saved settings.
                LOG.warning("%s", IN_SNAPSHOT if self.snapshot else hint)
            readings = self.sources.readings if self.sources else ()
            if fmt in FOR_PEOPLE and (text := config.old(readings, self.now)):
                LOG.warning("%s", text)
            return self._final(code, parsed_args)
        except Mistakes as exc:
            fail(*exc.mistakes)
            return ExitCode.ERROR
        except TraitSchedError as exc:
            code = self._final(of_error(exc), parsed_args, exc)
            if code is ExitCode.ERROR:
                # cliff exits with 1, and shows a traceback with --debug.
                text = paste.repeating(visible(str(exc)), self.repeated_options)
                raise exceptions.CommandError(text) from exc
            LOG.error("%s", str(exc))
            return code
        except Exception as exc:
            if isinstance(exc, _INTERNAL) or not str(exc).strip():
                raise exceptions.CommandError(errors.internal(exc)) from exc
            raise

    def _open(self, args: argparse.Namespace) -> None:
        """Open the snapshot, or log in."""
        path = getattr(args, "snapshot", None)
        if path and self.reads:
            self.snapshot = snapshot.read(path)
        elif self.needs_login:
            self.log_in()

    def as_snapshot(
        self, sources: SettingsSources, old: Snapshot | None = None
    ) -> Snapshot:
        """The whole cloud now, or the snapshot read instead.

        :param sources: its settings
        :param old: a snapshot to compare it with
        :raises BadUsage: if the two can't be compared
        """
        if old is not None:
            old.check_comparable(self.snapshot)
        if self.snapshot:
            return self.snapshot.with_settings(sources)
        if not self.auth_required:
            self.log_in()
        is_light = old is not None and old.document["light"]
        return Snapshot("", snapshot.save(self.cloud(), sources, is_light))

    @property
    def now(self) -> datetime.datetime:
        """The time that the answer is of, in UTC."""
        if self.snapshot:
            return self.snapshot.time
        return datetime.datetime.now(datetime.timezone.utc)

    def _final(self, code: int, args: argparse.Namespace, error: object = None) -> int:
        """The exit code; logs what this user may not read.

        If that is missing, no answer and no unknown name is sure. A write keeps its
        code.
        """
        missing = dict.fromkeys(data for each in self._clouds for data in unread(each))
        if missing:
            LOG.warning("Not read, for lack of rights: %s", ", ".join(missing))
        is_unsure = code in _ANSWERS or isinstance(error, errors.NothingMatches)
        is_hidden = isinstance(error, errors.Hidden) or (missing and is_unsure)
        if is_hidden and getattr(args, "dry_run", True):
            return ExitCode.UNKNOWN if error or not args.exit_zero else ExitCode.DONE
        return ExitCode.DONE if args.exit_zero and code in _NOT_YES else code


def printed(whole: object, fmt: str) -> str:
    """A document as JSON or YAML."""
    if fmt == "json":
        return json.dumps(whole, indent=2)
    return str(yaml.safe_dump(whole, sort_keys=False)).rstrip()


def _columns(stream: Any) -> int:
    """Columns of a terminal; 0 for another stream, or a closed one."""
    is_terminal = stream is not None and stream.isatty()
    return shutil.get_terminal_size().columns if is_terminal else 0


def seconds(text: str) -> float:
    """A time, for argparse."""
    with contextlib.suppress(ValueError):
        if 0 < float(text) < math.inf:
            return float(text)
    raise argparse.ArgumentTypeError(f"not a number of seconds above 0: {text}")


class Lister(Command, command.Lister):  # type: ignore[misc,unused-ignore]
    """A command that prints rows.

    :cvar says_where: its table begins with the cloud's name
    :cvar top: a line for people above the rows; ``take_action`` sets it
    :cvar assumed: the scheduler's settings behind the answer, if any; ``take_action``
        sets them
    """

    says_where = False
    top = ""
    assumed: SchedulerSettings | None = None

    @property
    def settings_line(self) -> str:
        """A line about the source of the settings; empty with -q or without any."""
        assumed = self.assumed
        if assumed is None or assumed.place is None or self.is_quiet:
            return ""
        return settings_line(assumed) + "\n"

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: Any,
    ) -> int:
        """Print; control characters are made visible unless the format quotes them.

        A list becomes one field if the format has no lists.

        :raises BadUsage: for an unknown column
        """
        arguments.check_columns(parsed_args, column_names)
        if parsed_args.formatter in _FLAT_FORMATS:
            data = [tuple(map(_flat, row)) for row in data]
        if parsed_args.formatter not in QUOTING_FORMATS:
            data = [tuple(map(_shown, row)) for row in data]
        is_for_person = parsed_args.formatter in FOR_PEOPLE
        if parsed_args.formatter == "table" and not parsed_args.max_width:
            parsed_args.max_width = self.width
        if is_for_person and (self.says_where or self.snapshot):
            self.app.stdout.write(self.where)
        if is_for_person and not self.is_quiet:
            self.app.stdout.write(self.top)
        data = list(data)
        if is_for_person and not data:
            self.app.stdout.write(f"none\n{self.settings_line}")
            return 0
        if is_for_person and not parsed_args.columns:
            parsed_args.columns = _for_people(parsed_args, column_names, data)
        super().produce_output(parsed_args, column_names, data)
        if is_for_person:
            self.app.stdout.write(self.settings_line)
        return 0


def _for_people(
    args: argparse.Namespace, names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> list[str]:
    """Columns of a table; UUIDs of providers with ``--long``, or if rows need them.

    A column that has nothing in any row is left out if it says what is rare.
    """
    cells = [dict(zip(names, row)) for row in rows]
    labels = {
        tuple(str(row.get(key)) for key in ("host", "name", "detail")) for row in cells
    }
    is_clear = len(labels) == len(cells) and not getattr(args, "long", False)
    hidden = {"provider"} if is_clear else set()
    rare = ("detail", "unknown")
    hidden |= {key for key in rare if not any(_flat(row.get(key)) for row in cells)}
    return [name for name in names if name not in hidden]


class _Text(TableFormatter):  # type: ignore[misc,unused-ignore]
    """The command's own text; a table if columns are chosen."""

    def add_argument_group(self, parser: argparse.ArgumentParser) -> None:
        """The options of tables are there."""


class TextLister(Lister):
    """A command that prints its own text unless a format or columns are chosen."""

    formatter_default = _TEXT
    #: Formats that the command prints itself.
    own_formats: tuple[str, ...] = (_TEXT,)

    def _load_formatter_plugins(self) -> Any:
        found = super()._load_formatter_plugins()
        value = f"{_Text.__module__}:{_Text.__name__}"
        for name in self.own_formats:
            point = EntryPoint(name, value, self.formatter_namespace)
            found.extensions.append(Extension(name, point, _Text, _Text()))
        return found


def wants_text(args: argparse.Namespace) -> bool:
    """Whether the command's own text is wanted."""
    return args.formatter == _TEXT and not (args.columns or args.sort_columns)


def _shown(cell: Any) -> Any:
    return visible(cell) if isinstance(cell, str) else cell


def _flat(cell: Any) -> Any:
    if isinstance(cell, columns.FormattableColumn):
        value = cell.machine_readable()
        if isinstance(value, dict):
            return cell.human_readable()
        if isinstance(value, bool):
            return words.value(value)
        return ",".join(value) if isinstance(value, list) else value
    return cell
