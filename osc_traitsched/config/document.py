"""The configuration room: YAML as a tree that knows its lines."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import yaml

from osc_traitsched.config import file
from osc_traitsched.core.errors import BadConfiguration

_NULL = "tag:yaml.org,2002:null"
_STRING = "tag:yaml.org,2002:str"


@dataclasses.dataclass(frozen=True)
class Branch:
    """A part of a document.

    :ivar name: its keys from the top, joined by dots
    """

    path: str
    name: str
    node: yaml.Node

    @property
    def line(self) -> int:
        """The line that it begins on, from 1."""
        return int(self.node.start_mark.line) + 1

    @property
    def is_null(self) -> bool:
        """There is a key, and nothing behind it."""
        return str(self.node.tag) == _NULL

    def bad(self, reason: str, value: str | None = None) -> BadConfiguration:
        """Return an error on this part."""
        name = f"{self.name} " if self.name else ""
        return BadConfiguration(self.path, self.line, f"{name}{reason}", value)

    def children(self) -> dict[str, Branch]:
        """Return what a mapping has, by key; nothing for a null.

        :raises BadConfiguration: when it is not a mapping
        """
        if self.is_null:
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            raise self.bad("is not a mapping")
        try:
            yaml.constructor.SafeConstructor().flatten_mapping(self.node)
        except yaml.MarkedYAMLError as exc:
            raise _broken(self.path, exc) from exc
        return {
            key.value: self._below(key.value, value)
            for key, value in self.node.value
            if isinstance(key, yaml.ScalarNode)
        }

    def find(self, *keys: str) -> Branch | None:
        """Return what is behind a row of keys, or None.

        :raises BadConfiguration: when there is something else on the way
        """
        found = self
        for key in keys:
            children = found.children()
            if key not in children:
                return None
            found = children[key]
        return None if found.is_null else found

    def items(self) -> list[Branch] | None:
        """Return what a list has, or None for what is not a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            return None
        return [self._below(str(n), item) for n, item in enumerate(self.node.value)]

    def text(self) -> str | None:
        """Return what is written, of whatever type; None for what has parts."""
        return str(self.node.value) if isinstance(self.node, yaml.ScalarNode) else None

    def is_string(self) -> bool:
        """Tell whether YAML takes it for a string."""
        return str(self.node.tag) == _STRING

    def is_literal(self) -> bool:
        """Tell whether it is text behind a ``|``, a line of text a line."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.style == "|"

    def _below(self, key: str, node: yaml.Node) -> Branch:
        return Branch(self.path, f"{self.name}.{key}" if self.name else key, node)


def read(path: str) -> tuple[Branch, ...]:
    """Read the documents of a YAML file.

    :raises BadConfiguration: when it can't be read, or is no YAML
    """
    text = file.read(path)
    try:
        return tuple(_composed(path, text))
    except yaml.reader.ReaderError as exc:
        line = text.count("\n", 0, exc.position) + 1
        raise BadConfiguration(path, line, f"not YAML: {exc.reason}") from exc
    except yaml.MarkedYAMLError as exc:
        raise _broken(path, exc) from exc
    except RecursionError as exc:
        raise BadConfiguration(path, None, "not YAML: nested too deeply") from exc


def _composed(path: str, text: str) -> Iterator[Branch]:
    for node in yaml.compose_all(text, Loader=yaml.SafeLoader):
        yield Branch(path, "", node)


def _broken(path: str, exc: yaml.MarkedYAMLError) -> BadConfiguration:
    mark = exc.problem_mark or exc.context_mark
    line = mark.line + 1 if mark else None
    return BadConfiguration(path, line, f"not YAML: {exc.problem or exc.context}")
