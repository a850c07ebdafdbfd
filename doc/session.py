"""Blocks of code of the class ``session``: commands run on the sample cloud.

A page has their output, so that it is whole without a build, too. A build runs them,
and warns if the page has another output; ``python doc/refresh.py`` writes it anew.
"""

from __future__ import annotations

import contextlib
import functools
import html
import io
import itertools
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
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from ansi import CLASSES, plain, rows
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.directives import code
from sphinx.errors import ExtensionError

ROOT = pathlib.Path(__file__).parents[1]
CLOUD = "examples/cloud.json"
#: Columns of the terminal, and the most that a page may have.
WIDTH, WIDEST = 90, 100
_ENVIRONMENT = {
    "COLUMNS": str(WIDTH),
    "FORCE_COLOR": "1",
    "LANG": "C.UTF-8",
    "PATH": os.environ["PATH"],
    "PYTHONWARNINGS": "ignore",
    "TERM": "xterm",
    "TRAITSCHED_SNAPSHOT": CLOUD,
    "TZ": "UTC",
}
#: Exit codes of answers that a page may show without a class.
USUAL = (0, 3, 6, 8)
_LEFT_OUT = "..."


class Run(NamedTuple):
    """What a command did: its exit code, and what a terminal showed."""

    code: int
    out: str


def run(arguments: Sequence[str]) -> Run:
    """Run ``openstack`` on the sample cloud as a user of a terminal would."""
    runner = _runner()
    runner.send(tuple(arguments))
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
    with tempfile.TemporaryDirectory() as home:
        os.environ.clear()
        os.environ.update(_ENVIRONMENT, HOME=home)
        os.chdir(ROOT)
        sys.stdout = io.StringIO()
        sys.argv[0] = "openstack"
        _command(["trait-sched", "list"])
        while True:
            code, out = _in_terminal(requests.recv())
            requests.send(Run(code, _without_paths(out, home)))


def _in_terminal(arguments: Sequence[str]) -> tuple[int, str]:
    """The exit code of a command, and what it wrote to its terminal."""
    child, terminal = pty.fork()
    if not child:
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
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
    """A command as typed, and its output: with codes of colours, or as a page has it.

    Lines of a page end with ``...`` if it shows only the first of them.
    """

    typed: str
    out: str


def shown_in(text: str) -> Iterator[Shown]:
    """The commands of a block with what the page shows of their output."""
    lines = text.rstrip().split("\n")
    while lines:
        typed = [lines.pop(0).removeprefix("$ ")]
        while lines and typed[-1].endswith("\\"):
            typed.append(lines.pop(0))
        out = list(itertools.takewhile(lambda line: not line.startswith("$ "), lines))
        del lines[: len(out)]
        yield Shown("\n".join(typed), "\n".join(out))


def as_page(shown: Iterable[Shown]) -> str:
    """The text of a block; the output is without colours."""
    texts = (f"$ {each.typed}\n{plain(each.out)}" for each in shown)
    return "\n".join(line.rstrip() for t in texts for line in t.rstrip().split("\n"))


def perform(recorded: Shown) -> tuple[Run, Shown]:
    """Run a command of a page; show as many lines of its output as the page does."""
    _, *arguments = shlex.split(recorded.typed.replace("\\\n", ""))
    done = run(arguments)
    *rows, last = recorded.out.split("\n")
    out = done.out.strip("\n")
    shown = _first(out, len(rows)) if last == _LEFT_OUT else out
    return done, Shown(recorded.typed, shown)


class session(nodes.literal_block):  # noqa: N801
    """Commands and their output: ``shown`` in HTML, plain text elsewhere."""


class CodeBlock(code.CodeBlock):
    """A block of code; of the class ``session``, what its commands print.

    The class ``exit-7`` expects the exit code 7.
    """

    def run(self) -> list[nodes.Node]:
        """Show each command with its output."""
        if "session" not in self.options.get("class", ()):
            return super().run()
        self.env.note_dependency(str(ROOT / CLOUD))
        recorded = "\n".join(self.content)
        shown = [self._shown(each) for each in shown_in(recorded)]
        text = as_page(shown)
        if text != recorded.rstrip():
            self._warn(f"its output is stale: python doc/refresh.py writes\n{text}")
        node = session(text, text, language="none", shown=shown)
        self.set_source_info(node)
        return [node]

    def _shown(self, recorded: Shown) -> Shown:
        if not recorded.typed.startswith("openstack "):
            raise self.severe(f"not a command of openstack: {recorded.typed}")
        try:
            done, shown = perform(recorded)
        except ValueError as error:
            raise self.severe(f"{recorded.typed}: {error}") from error
        codes = [
            int(name.removeprefix("exit-"))
            for name in self.options["class"]
            if name.startswith("exit-")
        ]
        if done.code not in (codes or USUAL) or "Traceback" in done.out:
            last = textwrap.indent(done.out.rstrip()[-500:], "  ")
            self._warn(f"{recorded.typed} exits with {done.code}:\n{last}")
        widest = max(map(len, as_page([shown]).splitlines()))
        if widest > WIDEST:
            self._warn(f"{recorded.typed} has a line of {widest} columns; {WIDEST} fit")
        return shown

    def _warn(self, text: str) -> None:
        self.state.document.reporter.warning(text, line=self.lineno)


def _first(out: str, number: int) -> str:
    lines = out.split("\n")
    if len(lines) <= number:
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
    app.add_directive("code-block", CodeBlock, override=True)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
