"""YAML documents: reading them safely, with the line of each value."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova.server import ProfileGroups

# Files, each read once.


#: Of characters: many times what is in the largest configuration.
MOST = 10_000_000
TOO_LARGE = "larger than 10 MB"
NOT_TEXT = "not a text file (UTF-8)"


def read_text(path: str) -> str:
    """The text of a file or a pipe.

    :raises BadConfiguration: if it can't be read, is not a text, or is too large
    """
    try:
        with located(path).open(encoding="utf-8") as stream:
            text = stream.read(MOST + 1)
    except OSError as exc:
        raise unreadable(path, exc) from exc
    except UnicodeDecodeError as exc:
        raise BadConfiguration(path, None, NOT_TEXT) from exc
    if len(text) > MOST:
        raise BadConfiguration(path, None, TOO_LARGE)
    return text


def write(path: str, content: str | bytes, follows: bool = True) -> None:
    """Make a text or bytes the whole of a file that only its user can read.

    Whoever reads it meanwhile has the old text or the new one. The folder is made.

    :param follows: write the target of a link, instead of replacing the link
    :raises BadConfiguration: if it can't be written, or is a device or a pipe
    """
    try:
        target = located(path).resolve() if follows else located(path)
        if target.exists() and not (target.is_file() or target.is_dir()):
            raise BadConfiguration(path, None, "not a file that can be replaced")
        with temporary(target, content) as name:
            os.replace(name, target)
    except OSError as exc:
        raise unreadable(path, exc) from exc


@contextlib.contextmanager
def temporary(target: pathlib.Path, content: str | bytes) -> Iterator[str]:
    """A new file beside another one, whose folder is made; its name is removed.

    :raises OSError: if it can't be written
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(handle, "wb") as stream:
            stream.write(content if isinstance(content, bytes) else content.encode())
            stream.flush()
            os.fsync(stream.fileno())
        yield name
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def located(path: str) -> pathlib.Path:
    """A path of the file system; ``~`` and ``~USER`` are homes.

    :raises BadConfiguration: for a user without a home, and an invalid path
    """
    if "\0" in path:
        raise BadConfiguration(path, None, "has a null byte, which no path has")
    try:
        return pathlib.Path(path).expanduser()
    except RuntimeError as exc:
        raise BadConfiguration(path, None, "no such user, or no home") from exc


def unreadable(path: str, exc: OSError) -> BadConfiguration:
    """Return the system's own reason as an error on this path."""
    return BadConfiguration(path, None, exc.strerror or str(exc))


# YAML as a tree that knows its lines.


_NULL = "tag:yaml.org,2002:null"
_STRING = "tag:yaml.org,2002:str"

#: What Jinja, Go and Ruby replace; YAML and oslo.config give these no meaning.
_TEMPLATE = re.compile(r"^(?!\s*#).*?({%|{{|<%)", re.MULTILINE)

_TOO_DEEP = "nested too deeply"

#: PyYAML takes an escape such as "\uD800" for a character, which nothing can encode.
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclasses.dataclass(frozen=True)
class Branch:
    """A part of a document; ``name``: its keys from the top, joined by dots."""

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

    @property
    def subject(self) -> str:
        """What a sentence about it begins with."""
        return self.name or "the document"

    def bad(self, reason: str, value: str | None = None) -> BadConfiguration:
        """Return an error on this part."""
        name = f"{self.name} " if self.name else ""
        return BadConfiguration(self.path, self.line, f"{name}{reason}", value)

    def children(self) -> dict[str, Branch]:
        """The values of a mapping, by key; null has none; raises BadConfiguration."""
        return {key.text() or "": value for key, value in self.entries()}

    def entries(self) -> list[tuple[Branch, Branch]]:
        """The text keys of a mapping, each with its value; raises BadConfiguration."""
        if self.is_null:
            return []
        if not isinstance(self.node, yaml.MappingNode):
            reason = f"{self.subject} is not a mapping"
            raise BadConfiguration(self.path, self.line, reason)
        try:
            yaml.constructor.SafeConstructor().flatten_mapping(self.node)
        except yaml.MarkedYAMLError as exc:
            raise _broken(self.path, exc) from exc
        except RecursionError as exc:
            raise BadConfiguration(self.path, self.line, _TOO_DEEP) from exc
        return [
            (Branch(self.path, self.name, key), self._below(key.value, value))
            for key, value in self.node.value
            if isinstance(key, yaml.ScalarNode)
        ]

    def find(self, *keys: str) -> Branch | None:
        """The value behind a row of keys, or None; raises BadConfiguration."""
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
    """The documents of a YAML file; raises BadConfiguration."""
    return parse(path, read_text(path))


def check_rendered(path: str, text: str) -> None:
    """Reject a template; BadConfiguration has its first line to replace."""
    mark = _TEMPLATE.search(text)
    if mark:
        line = text.count("\n", 0, mark.start(1)) + 1
        reason = (
            f"a template ({mark[1]} in line {line}): give the rendered file; for "
            "nova.conf, config doctor has the command"
        )
        raise BadConfiguration(path, line, reason)


def parse(path: str, text: str) -> tuple[Branch, ...]:
    """The documents of a text; raises BadConfiguration, which names ``path``."""
    if yaml.__with_libyaml__:
        # An eighth of the time. PyYAML's own parser says what is wrong with the rest.
        with contextlib.suppress(yaml.YAMLError, UnicodeError, RecursionError):
            return _composed(path, _FastLoader(text))
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as exc:
        line = text.count("\n", 0, exc.position) + 1
        raise BadConfiguration(path, line, f"not YAML: {exc.reason}") from exc
    try:
        return _composed(path, loader)
    except yaml.MarkedYAMLError as exc:
        check_rendered(path, text)
        raise _broken(path, exc) from exc
    except RecursionError as exc:
        raise BadConfiguration(path, loader.get_mark().line + 1, _TOO_DEEP) from exc
    except (ValueError, OverflowError) as exc:
        # PyYAML checks neither a version nor the character of an escape.
        reason = "not YAML: a version or an escape is too large"
        raise BadConfiguration(path, loader.get_mark().line + 1, reason) from exc


def values(top: Branch) -> Iterator[tuple[str, Branch]]:
    """All values behind keys, each with its key; those in lists as well."""
    seen: set[int] = set()
    waiting = [top]
    while waiting:
        branch = waiting.pop()
        if id(branch.node) in seen:
            continue
        seen.add(id(branch.node))
        if isinstance(branch.node, yaml.MappingNode):
            pairs = [
                (key.value, branch._below(key.value, value))
                for key, value in branch.node.value
                if isinstance(key, yaml.ScalarNode)
            ]
            yield from pairs
            waiting += [value for _, value in reversed(pairs)]
        else:
            waiting += reversed(branch.items() or [])


def odd_keys(top: Branch) -> Iterator[BadConfiguration]:
    """Yield the keys of a whole document that stand twice, or that are no text.

    YAML lets the last of two equal keys win. Call it before asking for anything else.
    """
    seen: set[int] = set()
    waiting = [top.node]
    while waiting:
        node = waiting.pop()
        if id(node) in seen or isinstance(node, yaml.ScalarNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from _odd_keys(top.path, node)
            waiting += [value for _, value in reversed(node.value)]
        else:
            waiting += reversed(node.value)


def _odd_keys(path: str, node: yaml.MappingNode) -> Iterator[BadConfiguration]:
    first: dict[str, int] = {}
    for key, _ in node.value:
        line = int(key.start_mark.line) + 1
        if not isinstance(key, yaml.ScalarNode) or str(key.tag) == _NULL:
            yield BadConfiguration(path, line, "this key is no text")
        elif key.value in first:
            reason = f"the key {key.value} is on line {first[key.value]}, too"
            yield BadConfiguration(path, line, reason)
        else:
            first[key.value] = line


class _Loader(yaml.SafeLoader):
    """It takes half of a character as well."""

    def compose_scalar_node(self, anchor: Any) -> yaml.ScalarNode:
        node = super().compose_scalar_node(anchor)
        if _SURROGATE.search(node.value):
            reason = "half of a surrogate pair"
            raise yaml.composer.ComposerError(None, None, reason, node.start_mark)
        return node


if yaml.__with_libyaml__:

    class _FastLoader(yaml.composer.Composer, yaml.CSafeLoader):
        """Composes in Python what libyaml parses: libyaml could overflow the stack."""

        def __init__(self, text: str) -> None:
            yaml.CSafeLoader.__init__(self, text)
            yaml.composer.Composer.__init__(self)


def _composed(path: str, loader: yaml.composer.Composer) -> tuple[Branch, ...]:
    nodes = []
    while loader.check_node():
        nodes.append(loader.get_node())
    return tuple(Branch(path, "", node) for node in nodes if node is not None)


def _broken(path: str, exc: yaml.MarkedYAMLError) -> BadConfiguration:
    mark = exc.problem_mark or exc.context_mark
    line = mark.line + 1 if mark else None
    return BadConfiguration(path, line, f"not YAML: {exc.problem or exc.context}")


# A file with device profiles, as Cyborg's API gives them.


def read_profiles(path: str) -> dict[str, ProfileGroups]:
    """The groups of each device profile in a file, by its name.

    It is one profile, a list of them, or the body of ``GET /v2/device_profiles``.

    :raises BadConfiguration: for a file that can't be read or has no profiles
    """
    try:
        found = json.loads(read_text(path))
    except (ValueError, RecursionError) as exc:
        line = getattr(exc, "lineno", None)
        raise BadConfiguration(path, line, "is no JSON") from exc
    if isinstance(found, dict):
        found = found.get("device_profiles") or found.get("device_profile") or found
    profiles = found if isinstance(found, list) else [found]
    if not profiles or not all(map(_is_profile, profiles)):
        reason = "has no device profiles with a name and groups, as Cyborg gives them"
        raise BadConfiguration(path, None, reason)
    return {each["name"]: tuple(map(_texts, each["groups"])) for each in profiles}


def _is_profile(found: Any) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        return False
    groups = found.get("groups")
    return isinstance(groups, list) and all(isinstance(e, dict) for e in groups)


def _texts(group: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in group.items()}
