"""The reference of JSON documents: a sample of each, then tables of its fields."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from session import run
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from osc_traitsched.cloud.saved import form
from osc_traitsched.documents import classes, reference
from osc_traitsched.views.schemas import DOCUMENTS

_START = "openstack trait-sched"
#: A sample has at most so many rows and columns: deeper parts are cut.
_ROWS, _COLUMNS = 100, 78
_DEPTHS = (5, 4, 3, 2)
_CUT = "..."
_EMPTY: tuple[Any, ...] = (None, "", [], {})
#: Exit codes of commands that printed a document.
_ANSWERS = (0, 3, 6, 7, 8)


class DocumentFields(SphinxDirective):
    """``.. document:: COMMAND``: tables of what the command prints with -f json.

    ``:sample: COMMAND`` runs it on the sample cloud. A type that several documents have
    is described where it comes first.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"sample": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Parse the tables as if they stood in the page."""
        document = DOCUMENTS[self.arguments[0]]
        described = self.env.current_document.setdefault("described", set())
        text = reference(document, described)
        described.update(classes(document, with_documents=False))
        sample = self._sample() if "sample" in self.options else []
        tables = self.parse_text_to_nodes(text, allow_section_headings=True)
        return [*sample, *tables]

    def _sample(self) -> list[nodes.Node]:
        command = f"{self.options['sample']} -f json"
        done = run(["trait-sched", *shlex.split(command)])
        if done.code not in _ANSWERS:
            raise self.severe(f"{command} exits with {done.code}: {done.out}")
        whole = _filled(json.loads(done.out))
        texts = ("\n".join(_lines(whole, depth)) for depth in _DEPTHS)
        fitting = (text for text in texts if text.count("\n") < _ROWS)
        text = next(fitting, "\n".join(_lines(whole, _DEPTHS[-1])))
        typed = nodes.literal("", f"{_START} {command}")
        about = nodes.Text(" prints, without what is empty:")
        # "..." is no JSON, but JavaScript.
        block = nodes.literal_block(text, text, language="javascript")
        block["classes"] = ["sample"]
        return [nodes.paragraph("", "", typed, about), block]


def _filled(value: Any) -> Any:
    """The value without empty parts."""
    if isinstance(value, dict):
        parts = {key: _filled(part) for key, part in value.items()}
        return {key: part for key, part in parts.items() if part not in _EMPTY}
    return [_filled(part) for part in value] if isinstance(value, list) else value


def _lines(value: Any, depth: int, indent: str = "", before: str = "") -> Iterator[str]:
    """A value as JSON, with one item of each list."""
    first = f"{indent}{before}"
    row = first + _row(value, depth)
    if not isinstance(value, (dict, list)) or len(row) <= _COLUMNS or not depth:
        yield row
        return
    is_list = isinstance(value, list)
    yield first + ("[" if is_list else "{")
    if isinstance(value, list):
        parts = [("", part) for part in value[:1]]
    else:
        parts = [(f"{json.dumps(key)}: ", part) for key, part in value.items()]
    for number, (name, part) in enumerate(parts):
        *start, end = _lines(part, depth - 1, f"{indent}  ", name)
        is_last = number == len(parts) - 1 and not (is_list and value[1:])
        yield from (*start, end if is_last else f"{end},")
    if is_list and value[1:]:
        yield f"{indent}  {_CUT}"
    yield indent + ("]" if is_list else "}")


def _row(value: Any, depth: int) -> str:
    """A value on one row; parts that are too deep are cut."""
    if isinstance(value, dict):
        if value and not depth:
            return f"{{{_CUT}}}"
        parts = (
            f"{json.dumps(key)}: {_row(part, depth - 1)}" for key, part in value.items()
        )
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        if value and not depth:
            return f"[{_CUT}]"
        more = [_CUT] if value[1:] else []
        return f"[{', '.join([*(_row(part, depth - 1) for part in value[:1]), *more])}]"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _COLUMNS - 20 else f'{text[: _COLUMNS - 24]} {_CUT}"'


class SnapshotSchema(SphinxDirective):
    """``.. snapshot-schema::``: the JSON Schema of a snapshot."""

    def run(self) -> list[nodes.Node]:
        """Show it as JSON."""
        text = json.dumps(form.schema(), indent=1)
        return [nodes.literal_block(text, text, language="json")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx know the directives."""
    app.add_directive("document", DocumentFields)
    app.add_directive("snapshot-schema", SnapshotSchema)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
