"""``.. session::``: commands that run on the sample cloud when the pages are built."""

from __future__ import annotations

import contextlib
import functools
import html
import io
import logging
import multiprocessing
import os
import pathlib
import pty
import shlex
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, ClassVar, NamedTuple

from ansi import CLASSES, plain, rows
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).parents[1]
CLOUD = "examples/cloud.json"
_ENVIRONMENT = {
    "FORCE_COLOR": "1",
    "LANG": "C.UTF-8",
    "PATH": os.environ["PATH"],
    "PYTHONWARNINGS": "ignore",
    "TERM": "xterm",
    "TRAITSCHED_SNAPSHOT": CLOUD,
    "TZ": "UTC",
}
#: Columns of the terminal, and the most that a page may have.
WIDTH, WIDEST = 90, 100
#: Exit codes of answers that a page may show without ``:exit:``.
USUAL = (0, 3, 6, 8)
_LEFT_OUT = "..."


class Run(NamedTuple):
    """What a command did: its exit code, and what it wrote to a terminal."""

    code: int
    out: str
    err: str


def run(arguments: Sequence[str], width: int = WIDTH) -> Run:
    """Run ``openstack`` on the sample cloud as a user of a terminal would."""
    runner = _runner()
    runner.send((tuple(arguments), width))
    done: Run = runner.recv()
    return done


@functools.cache
def _runner() -> Connection:
    """A child that has loaded the client: each command is a quick fork of it."""
    here, there = multiprocessing.Pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork():
        there.close()
        return here
    here.close()
    # The pipe is closed when Sphinx ends.
    with contextlib.suppress(EOFError):
        _serve(there)
    os._exit(0)


def _serve(requests: Connection) -> None:
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as errors:
        os.environ.clear()
        os.environ.update(_ENVIRONMENT, HOME=home)
        os.chdir(ROOT)
        os.dup2(errors.fileno(), 2)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        sys.stdout = io.StringIO()
        sys.argv[0] = "openstack"
        _command(["trait-sched", "list"])
        while True:
            arguments, width = requests.recv()
            os.environ["COLUMNS"] = str(width)
            errors.seek(0)
            errors.truncate()
            code, out = _in_terminal(arguments, errors.fileno())
            errors.seek(0)
            err = errors.read().decode()
            requests.send(
                Run(code, *(_without_paths(text, home) for text in (out, err)))
            )


def _in_terminal(arguments: Sequence[str], errors: int) -> tuple[int, str]:
    """The exit code of a command, and what it wrote to its terminal."""
    child, terminal = pty.fork()
    if not child:
        os.dup2(errors, 2)
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        code = _command(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    out = b"".join(_chunks(terminal)).decode()
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), out


def _command(arguments: Sequence[str]) -> int:
    """The exit code of a command, run in this process."""
    # Imported here: only this child needs a client.
    from openstackclient import shell

    # Those of Sphinx, or of an earlier command.
    logging.root.handlers.clear()
    try:
        return int(shell.main(list(arguments)) or 0)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def _chunks(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux says so at the end.
            return
        if not chunk:
            return
        yield chunk


def _without_paths(text: str, home: str) -> str:
    return text.replace(home, "~").replace(f"{ROOT}/", "").replace("\r\n", "\n")


class Shown(NamedTuple):
    """A command as typed, and its output with codes of colours."""

    typed: str
    out: str


class session(nodes.literal_block):  # noqa: N801
    """Commands and their output: ``shown`` in HTML, plain text elsewhere."""


class Session(SphinxDirective):
    """Run commands, one a line; a line that ends with a backslash goes on."""

    has_content = True
    option_spec: ClassVar = {
        "rows": directives.positive_int,
        "width": directives.positive_int,
        "exit": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        """Show each command with its output."""
        self.env.note_dependency(str(ROOT / CLOUD))
        typed = "\n".join(self.content).replace("\\\n", "\0").split("\n")
        shown = [self._shown(each.replace("\0", "\\\n")) for each in typed if each]
        text = "\n".join(f"$ {each.typed}\n{plain(each.out)}" for each in shown)
        node = session(text, text, language="none", shown=shown)
        self.set_source_info(node)
        return [node]

    def _shown(self, typed: str) -> Shown:
        try:
            program, *arguments = shlex.split(typed.replace("\\\n", ""))
        except ValueError as error:
            raise self.severe(f"{typed}: {error}") from error
        if program != "openstack":
            raise self.severe(f"not a command of openstack: {typed}")
        done = run(arguments, min(self.options.get("width", WIDTH), WIDEST))
        expected = (self.options["exit"],) if "exit" in self.options else USUAL
        if done.code not in expected or "Traceback" in done.out + done.err:
            last = textwrap.indent(done.err.rstrip()[-500:], "  ")
            self._warn(f"{typed} exits with {done.code}:\n{last}")
        out = _first(done.out.strip("\n"), self.options.get("rows"))
        widest = max(map(len, f"$ {typed}\n{plain(out)}".splitlines()))
        if widest > WIDEST:
            self._warn(f"{typed} has a line of {widest} columns; {WIDEST} fit")
        return Shown(typed, out)

    def _warn(self, text: str) -> None:
        self.state.document.reporter.warning(text, line=self.lineno)


def _first(out: str, number: int | None) -> str:
    lines = out.split("\n")
    if number is None or len(lines) <= number:
        return out
    return "\n".join((*lines[:number], f"\x1b[0m{_LEFT_OUT}"))


def visit_html(writer: Any, node: session) -> None:
    """Write it as a block of code, so that it looks and copies as the others do."""
    blocks = "\n".join(map(_block, node["shown"]))
    opened = writer.starttag(node, "div", CLASS="highlight-console session notranslate")
    writer.body.append(
        f'{opened}<div class="highlight"><pre>{blocks}\n</pre></div></div>\n'
    )
    raise nodes.SkipNode


def _block(shown: Shown) -> str:
    command = html.escape(shown.typed)
    lines = ["".join(_span(*part) for part in row) for row in rows(shown.out)]
    return "\n".join((f'<span class="gp">$ </span>{command}', *lines))


def _span(text: str, codes: frozenset[str]) -> str:
    names = " ".join(sorted(CLASSES[code] for code in codes & CLASSES.keys()))
    escaped = html.escape(text)
    return f'<span class="{names}">{escaped}</span>' if names else escaped


def _visit_text(writer: Any, node: session) -> None:
    writer.visit_literal_block(node)


def _depart_text(writer: Any, node: session) -> None:
    writer.depart_literal_block(node)


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx know the directive."""
    if not hasattr(pty, "fork"):
        raise ExtensionError("sessions need a Unix")
    others = (_visit_text, _depart_text)
    app.add_node(
        session,
        html=(visit_html, None),
        man=others,
        text=others,
        latex=others,
        texinfo=others,
    )
    app.add_directive("session", Session)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
