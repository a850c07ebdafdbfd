"""Documents for programs: a dataclass gives the JSON, its schema and its reference.

The annotation of a field is its type, and the docstring below it says what it means.
Annotations must be types, not text: a module of such dataclasses does not import
``annotations`` from ``__future__``. A type is one of these:

* ``str``, ``int``, ``float``, ``bool``, ``None``, an enum, or such a dataclass
* ``Literal[1]``, or ``Annotated[str, ("a", "b")]`` for the words that a text can be
* ``Iterable[...]`` for a list, ``dict[..., ...]``, ``Optional``, ``Union``

Every field is always in the document, but for one with ``metadata=OMIT_NONE``: it is
left out if it is None. ``from_`` is ``from`` in the document.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    cast,
    get_args,
    get_origin,
)

OMIT_NONE = {"omit": True}

#: The names of simple types in a schema and in the reference.
_TYPES = {
    str: ("string", "text"),
    int: ("integer", "integer"),
    float: ("number", "number"),
    bool: ("boolean", "boolean"),
    type(None): ("null", "null"),
}


class _Field(NamedTuple):
    name: str
    key: str
    type: Any
    can_be_omitted: bool


@functools.cache
def _fields(document: type) -> tuple[_Field, ...]:
    return tuple(
        _Field(
            each.name,
            each.name.rstrip("_"),
            get_args(each.type)[0] if each.metadata else each.type,
            bool(each.metadata),
        )
        for each in dataclasses.fields(document)
    )


def plain(value: Any) -> Any:
    """A document as mappings, lists, text and numbers; sets are sorted."""
    kind: Any = type(value)
    if kind in _TYPES:
        return value
    if issubclass(kind, enum.Enum):
        return value.value
    if _is_document(kind):
        return {
            key: plain(each)
            for name, key, _, can_be_omitted in _fields(kind)
            for each in [getattr(value, name)]
            if each is not None or not can_be_omitted
        }
    if issubclass(kind, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in (sorted(value) if kind is frozenset else value)]


def schema(document: type, title: str) -> dict[str, Any]:
    """The JSON Schema of a document, draft 2020-12. It allows additional fields."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **_schema(document),
        "$defs": {each.__name__: _object(each) for each in _classes(document)},
    }


def _object(document: type) -> dict[str, Any]:
    meanings = _meanings(document)
    fields = _fields(document)
    return {
        "type": "object",
        "required": [each.key for each in fields if not each.can_be_omitted],
        "properties": {
            each.key: {
                "description": meanings[each.name].replace("``", ""),
                **_schema(each.type),
            }
            for each in fields
        },
    }


def _schema(kind: Any) -> dict[str, Any]:
    args = get_args(kind)
    if kind in _TYPES:
        return {"type": _TYPES[kind][0]}
    if _is_document(kind):
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if get_origin(kind) is Union:
        return {"anyOf": [_schema(each) for each in args]}
    if get_origin(kind) is dict:
        names, values = map(_schema, args)
        return {
            "type": "object",
            "propertyNames": names,
            "additionalProperties": values,
        }
    words = _words(kind)
    return {"enum": words} if words else {"type": "array", "items": _schema(*args)}


def _words(kind: Any) -> list[Any]:
    """The values that a type is limited to; empty if it is not."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if get_origin(kind) is Annotated:
        return list(kind.__metadata__[0])
    members: Iterable[enum.Enum] = kind if isinstance(kind, enum.EnumMeta) else ()
    return [each.value for each in members]


def reference(document: type) -> str:
    """The fields of a document in reStructuredText: a table for each class.

    A document in it is not described again.
    """
    first, *others = _classes(document, with_documents=False)
    sections = (
        f"{each.__name__}\n{'-' * len(each.__name__)}\n\n{inspect.getdoc(each)}\n\n"
        f"{_table(each)}"
        for each in others
    )
    return "\n".join([_table(first), *sections])


def _table(document: type) -> str:
    meanings = _meanings(document)
    rows = [
        ("Field", "Type", "Meaning"),
        *(
            (f"``{each.key}``", _type_name(each.type), meanings[each.name])
            for each in _fields(document)
        ),
    ]
    cells = "".join(f"   * - {a}\n     - {b}\n     - {c}\n" for a, b, c in rows)
    return f".. list-table::\n   :header-rows: 1\n   :widths: 25 25 50\n\n{cells}"


def _type_name(kind: Any) -> str:
    args = get_args(kind)
    if kind in _TYPES:
        return _TYPES[kind][1]
    if _is_document(kind):
        return str(kind.__name__)
    if get_origin(kind) is Union:
        return " or ".join(map(_type_name, args))
    if get_origin(kind) is dict:
        return "mapping of {} to {}".format(*map(_type_name, args))
    words = ", ".join(f"``{each}``" for each in _words(kind))
    return words or f"list of {_type_name(*args)}"


def _classes(document: type, with_documents: bool = True) -> list[type]:
    """A document and what it consists of, outer classes first."""
    found = [document]
    for outer in found:
        for field in _fields(outer):
            for each in _parts(field.type):
                is_document = "schema" in each.__annotations__
                if each not in found and (with_documents or not is_document):
                    found.append(each)
    return found


def _parts(kind: Any) -> Iterator[type]:
    if _is_document(kind):
        yield kind
    for each in get_args(kind):
        yield from _parts(each)


def _is_document(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _meanings(document: type) -> dict[str, str]:
    """The docstrings below the fields of a class, each in one line."""
    (tree,) = ast.parse(inspect.getsource(document)).body
    body = cast(ast.ClassDef, tree).body
    return {
        ast.unparse(field.target): " ".join(ast.literal_eval(text.value).split())
        for field, text in zip(body, body[1:])
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
