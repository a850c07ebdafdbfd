"""Documents for programs: a class gives the JSON, its schema and its reference.

The annotation of a field is its type, and the docstring below it says what it means.
Its value is the attribute of that name, unless :func:`field` has a getter.

Annotations are evaluated with the names of their module, on Python 3.9, too:
``Optional[str]``, not ``str | None``. A type is one of these:

* ``str``, ``int``, ``float``, ``bool``, ``None``, an enum, or a :class:`JsonObject`
* ``Literal[1]``, or ``Annotated[str, ("a", "b")]`` for the values of a text
* ``Iterable[...]`` for a list, ``dict[..., ...]``, ``Optional``, ``Union``

``from_`` is ``from`` in the document.
"""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

#: The names of simple types in a schema and in the reference.
_TYPES = {
    str: ("string", "text"),
    int: ("integer", "integer"),
    float: ("number", "number"),
    bool: ("boolean", "boolean"),
    type(None): ("null", "null"),
}


class JsonObject:
    """An object in a document; a whole document has a field ``schema``."""

    @classmethod
    def of(cls, value: Any, options: Sequence[Any] = ()) -> dict[str, Any]:
        """A document as mappings, lists, text and numbers; sets are sorted."""
        return dict(_serialized(cls, value, Whole(value, options)))


class Whole(NamedTuple):
    """The value of a whole document, and the global options of printed commands."""

    value: Any
    options: Sequence[Any]


class _Source(NamedTuple):
    get: Callable[[Any, Whole], Any]
    can_be_omitted: bool = False


def field(getter: str | Callable[..., Any], *, can_be_omitted: bool = False) -> Any:
    """A field whose value the getter takes from the value of its object.

    :param getter: an attribute, as ``room.most``, or a function; this may take a
    :class:`Whole` as well
    :param can_be_omitted: the field is left out if it is None
    """
    if isinstance(getter, str):
        attribute = operator.attrgetter(getter)
        return _Source(lambda value, whole: attribute(value), can_be_omitted)
    parameters = inspect.signature(getter).parameters.values()
    if sum(one.default is one.empty for one in parameters) > 1:
        return _Source(getter, can_be_omitted)
    return _Source(lambda value, whole: getter(value), can_be_omitted)


class _Field(NamedTuple):
    name: str
    key: str
    type: Any
    source: _Source


@functools.cache
def _fields(document: type) -> tuple[_Field, ...]:
    return tuple(
        _field(document, name, kind) for name, kind in get_type_hints(document).items()
    )


def _field(document: type, name: str, kind: Any) -> _Field:
    source = document.__dict__.get(name) or field(name)
    if get_origin(kind) is Literal:
        (constant,) = get_args(kind)
        source = field(lambda value: constant)
    kind = get_args(kind)[0] if source.can_be_omitted else kind
    return _Field(name, name.rstrip("_"), kind, source)


def _serialized(kind: Any, value: Any, whole: Whole) -> Any:
    if value is None or not _objects(kind):
        return _plain(value)
    args = get_args(kind)
    if _is_object(kind):
        if "schema" in kind.__annotations__:
            whole = Whole(value, whole.options)
        return {
            one.key: _serialized(one.type, own, whole)
            for one in _fields(kind)
            for own in [one.source.get(value, whole)]
            if own is not None or not one.source.can_be_omitted
        }
    if get_origin(kind) is Union:
        return _serialized(args[0], value, whole)
    if get_origin(kind) is dict:
        return {key: _serialized(args[1], own, whole) for key, own in value.items()}
    return [_serialized(args[0], own, whole) for own in value]


def _plain(value: Any) -> Any:
    kind: Any = type(value)
    if kind in _TYPES:
        return value
    if issubclass(kind, enum.Enum):
        return value.value
    if issubclass(kind, Mapping):
        return {key: _plain(own) for key, own in value.items()}
    return [_plain(own) for own in (sorted(value) if kind is frozenset else value)]


def schema(document: type, title: str) -> dict[str, Any]:
    """The JSON Schema of a document, draft 2020-12. It allows additional fields."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **_schema(document),
        "$defs": {_name(each): _object(each) for each in classes(document)},
    }


def _name(document: type) -> str:
    """The class's name, without what tells it from a class of the core."""
    return document.__name__.removesuffix("Json")


def _object(document: type) -> dict[str, Any]:
    meanings = _meanings(document)
    fields = _fields(document)
    return {
        "type": "object",
        "required": [each.key for each in fields if not each.source.can_be_omitted],
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
    if _is_object(kind):
        return {"$ref": f"#/$defs/{_name(kind)}"}
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
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if get_origin(kind) is Annotated:
        return list(kind.__metadata__[0])
    members: Iterable[enum.Enum] = kind if isinstance(kind, enum.EnumMeta) else ()
    return [each.value for each in members]


def reference(document: type, described: Collection[type] = ()) -> str:
    """The fields of a document in reStructuredText: a table for each class.

    Types are links to their tables.

    :param described: classes that have a table elsewhere
    """
    first, *others = classes(document, with_documents=False)
    sections = (
        f"{_target(each)}{_name(each)}\n{'-' * len(_name(each))}\n\n"
        f"{inspect.getdoc(each)}\n\n{_table(each)}"
        for each in others
        if each not in described
    )
    return "\n".join([f"{_target(first)}{_table(first)}", *sections])


def _target(document: type) -> str:
    return f".. _json-{_name(document)}:\n\n"


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
    if _is_object(kind):
        return f":ref:`{_name(kind)} <json-{_name(kind)}>`"
    if get_origin(kind) is Union:
        return " or ".join(map(_type_name, args))
    if get_origin(kind) is dict:
        return "mapping of {} to {}".format(*map(_type_name, args))
    words = ", ".join(f"``{each}``" for each in _words(kind))
    return words or f"list of {_type_name(*args)}"


def classes(document: type, with_documents: bool = True) -> list[type]:
    """Outer classes first."""
    found = [document]
    for outer in found:
        for field in _fields(outer):
            for each in _parts(field.type):
                is_document = "schema" in each.__annotations__
                if each not in found and (with_documents or not is_document):
                    found.append(each)
    return found


def _parts(kind: Any) -> Iterator[type]:
    if _is_object(kind):
        yield kind
    for each in get_args(kind):
        yield from _parts(each)


@functools.cache
def _objects(kind: Any) -> tuple[type, ...]:
    return tuple(_parts(kind))


def _is_object(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, JsonObject)


def _meanings(document: type) -> dict[str, str]:
    (tree,) = ast.parse(inspect.getsource(document)).body
    body = cast(ast.ClassDef, tree).body
    return {
        ast.unparse(field.target): " ".join(ast.literal_eval(text.value).split())
        for field, text in zip(body, body[1:])
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
