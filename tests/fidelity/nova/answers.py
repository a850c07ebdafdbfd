"""How a user would hear of an exception."""

import ast
import logging
import os

import nova.conf
import webob.exc
from nova import exception, objects
from nova.policies import servers

_CODES = {
    "HTTPBadRequest": 400,
    "HTTPForbidden": 403,
    "HTTPConflict": 409,
    "HTTPNotFound": 404,
}


def refused(exc, stage):
    """Return an exception as an answer."""
    cause = exc.__context__ or exc.__cause__
    if isinstance(exc, exception.NoValidHost) and isinstance(
        cause, exception.RequestFilterFailed
    ):
        name = type(cause).__name__
        return {"refused": name, "stage": "no valid host", "text": str(cause)}
    if isinstance(exc, exception.NoValidHost):
        return {"refused": "NoValidHost", "stage": "no valid host", "text": str(exc)}
    answer = {"refused": type(exc).__name__, "stage": stage, "text": str(exc)}
    if stage == "api":
        answer["http"] = _status(exc)
    return answer


def _status(exc):
    if isinstance(exc, webob.exc.HTTPException):
        return exc.code
    for kind, code in _TABLE:
        if isinstance(exc, kind):
            return code
    return 403 if isinstance(exc, exception.Forbidden) else 500


def function(name):
    """Return a static method of the API's controller; None where there is none.

    It is taken from the code: to import the module starts more than is wanted here.
    """
    module = _tree()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            node.decorator_list, module.body = [], [node]
            found = {"CONF": nova.conf.CONF, "LOG": logging.getLogger(name)}
            found.update(objects=objects, exc=webob.exc, _=str)
            found["server_policies"] = servers
            exec(compile(module, name, "exec"), found)
            return found[name]
    return None


def _tree():
    room = os.path.join(os.path.dirname(nova.conf.__file__), os.pardir)
    path = os.path.join(room, "api", "openstack", "compute", "servers.py")
    with open(path) as file:
        return ast.parse(file.read())


def _table():
    """Read which exceptions the API turns into which status, from its own code."""
    tree = _tree()
    lists = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    table = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == "create":
            for handler in ast.walk(function):
                if isinstance(handler, ast.ExceptHandler) and handler.type is not None:
                    code = _code(handler)
                    table += [(kind, code) for kind in _kinds(handler.type, lists)]
    return table


def _code(handler):
    raised = [
        node.exc.func
        for node in ast.walk(handler)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    ]
    codes = [_CODES.get(getattr(func, "attr", "")) for func in raised]
    return next(filter(None, reversed(codes)), None)


def _kinds(node, lists):
    if isinstance(node, ast.Tuple):
        return [kind for each in node.elts for kind in _kinds(each, lists)]
    if isinstance(node, ast.Name):
        return _kinds(lists[node.id], lists) if node.id in lists else []
    if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "exception":
        kind = getattr(exception, node.attr, None)
        return [kind] if kind else []
    return []


_TABLE = _table()
