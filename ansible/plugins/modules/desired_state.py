#!/usr/bin/python
# Copyright osc-traitsched developers
# SPDX-License-Identifier: Apache-2.0
"""The task that brings a cloud to its desired state."""

from __future__ import annotations

DOCUMENTATION = """
module: desired_state
short_description: Bring an OpenStack cloud to the desired state of a document
version_added: 1.0.0
author: osc-traitsched developers (!UNKNOWN)
description:
  - Says which hosts have which traits in Placement, which host aggregates there are and
    who they are for, and what flavors and images require.
  - What the document does not name is left alone. Taking away is always written, with
    C(absent) or C(only).
  - Runs C(openstack trait-sched apply), and in check mode C(plan). The Python that runs
    the module needs no OpenStack library.
requirements:
  - The C(openstack) command with the plugin osc-traitsched, on the host that the task
    runs on.
options:
  state:
    description:
      - The document itself, in the format of C(openstack trait-sched apply).
      - Quote names that YAML takes for something else, such as V(no) and V(0755).
    type: dict
  path:
    description:
      - Files with such documents, or folders of them, on the host that the task runs
        on.
    type: list
    elements: path
  inventory:
    description:
      - A file that C(ansible-inventory --list) wrote, for documents that name groups of
        an inventory.
    type: path
  cloud:
    description:
      - The name of the cloud in C(clouds.yaml).
      - Without it the variables of the task's C(environment) say where to log in.
    type: str
  executable:
    description:
      - The C(openstack) command, by its name or its path.
    type: path
    default: openstack
  undo:
    description:
      - Before anything is written, write what was there to this new file. It is a
        document, too, which leads back.
      - A run that has nothing to write makes no such file. A run that has fails if the
        file is there, or its folder is not; check mode says so before.
    type: path
  wait:
    description:
      - How many seconds to wait for hosts that are still being deployed.
      - Check mode does not wait, since it deploys none; it fails and names them.
    type: int
    default: 0
  force:
    description:
      - Write even if a flavor, a server or a project would have no host, or if
        something requires a trait that no host would have.
      - Write as well if any of that can't be read, if an aggregate would name a project
        that is gone, or if C(only) takes something from most that have it.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    description: Writes nothing, and reports what a run would write.
  diff_mode:
    support: full
    description: Shows what is written, and nothing else.
"""

EXAMPLES = """
- name: Hosts of the group pinned are for flavors that pin CPUs
  traitsched.cloud.desired_state:
    cloud: overcloud
    state:
      version: 1
      traits:
        CUSTOM_PINNED_CPU:
          hosts: "{{ groups['pinned'] }}"
          only: true
      flavors:
        pinned.*: {requires: [CUSTOM_PINNED_CPU]}

- name: Bring the cloud to the state in git, and keep a way back
  traitsched.cloud.desired_state:
    path: "{{ playbook_dir }}/desired"
    executable: /opt/openstack/bin/openstack
    undo: /root/undo-{{ now(utc=true, fmt='%Y%m%dT%H%M%S') }}.yaml
    wait: 600
  environment:
    OS_CLOUD: overcloud
"""

RETURN = """
changes:
  description:
    - What differed, a row each, in the order in which it is written; also if the task
      fails.
  returned: when the command printed them
  type: list
  elements: dict
  contains:
    change:
      description: V(add), V(remove) or V(set).
      type: str
    step:
      description: The kind of the object, such as V(host), V(aggregate) or V(flavor).
      type: str
    object:
      description: Its name.
      type: str
    key:
      description: What of it changes, such as a trait or the name of a host.
      type: str
    before:
      description:
        - The value before. V(present) if it has none of its own, null if it was not
          there.
      type: str
    after:
      description: The desired value, in the same way.
      type: str
    desired_by:
      description: The place in O(state) that desires it, or the file and the line.
      type: str
    status:
      description:
        - V(changed), V(unchanged), V(failed), V(not done) or V(unknown). In check mode
          V(would change).
      type: str
    detail:
      description: Why it failed, or more of what it is.
      type: str
    id:
      description: Its ID. null for what is not there yet.
      type: str
    cloud:
      description: The cloud, by the address of its Placement and Keystone's ID of that.
      type: str
    lets_in:
      description: What may land where from then on. Empty if nothing more may.
      type: str
  sample:
    - change: add
      step: host
      object: cmp00
      key: CUSTOM_PINNED_CPU
      before: null
      after: present
      desired_by: state.traits.CUSTOM_PINNED_CPU.hosts[0]
      status: changed
      detail: ""
      id: 4c3a1b52-0d86-4e6f-9a34-6f1a2b7c8d90
      cloud: https://cloud.example.org/placement 0c1f7d2a9b6e4f58a3d4c5b6e7f80912
      lets_in: ""
stderr:
  description: All that the command said besides the rows.
  returned: failure
  type: str
  sample: 1 of 3 failed
"""

import json
import os
import re

from ansible.module_utils.basic import AnsibleModule

#: What the command exits with if it refuses a plan; plan shows its rows all the same.
REFUSED = 5

FAILED = ("failed", "unknown", "not done")
#: Of a write whose answer was lost nobody knows whether it was done.
CHANGED = ("changed", "unknown", "would change")

_OPTIONS = {
    "state": {"type": "dict"},
    "path": {"type": "list", "elements": "path"},
    "inventory": {"type": "path"},
    "cloud": {"type": "str"},
    "executable": {"type": "path", "default": "openstack"},
    "undo": {"type": "path"},
    "wait": {"type": "int", "default": 0},
    "force": {"type": "bool", "default": False},
}

#: A line of standard input, as rows and mistakes name it.
_STDIN_LINE = re.compile(r"(?<!\S)-:(\d+)\b")

#: How a mistake in a document and a refusal begin.
_REASON = re.compile(r"\S+:\d+: |state(\.|: )|Refused: ")

#: What YAML does not take in double quotes as it is.
_TO_ESCAPE = re.compile(r'[^ -~]|["\\]')


def lines_of(value, where="state", key=""):
    """Yield a document line by line, each with the part that it is.

    It is YAML without indentation, whose items all end with a comma, and whose keys
    may be of any length.

    :param value: dicts, lists and scalars
    :param where: the name of this part, as errors have it
    :param key: what stands before the value
    """
    if isinstance(value, dict):
        yield key + "{", where
        for name, inner in value.items():
            yield from lines_of(inner, f"{where}.{name}", f"? {_quoted(name)} : ")
        yield "},", where
    elif isinstance(value, (list, tuple)):
        yield key + "[", where
        for number, inner in enumerate(value):
            yield from lines_of(inner, f"{where}[{number}]")
        yield "],", where
    elif isinstance(value, str):
        yield f"{key}{_quoted(value)},", where
    else:
        yield f"{key}{json.dumps(value)},", where


def _quoted(text):
    escaped = _TO_ESCAPE.sub(lambda found: f"\\U{ord(found[0]):08x}", str(text))
    return f'"{escaped}"'


def arguments_of(params, is_check):
    """Return what follows the command's name.

    :param params: the options of the task
    :param is_check: nothing shall be written
    """
    found = ["--os-cloud", params["cloud"]] if params["cloud"] else []
    found += ["trait-sched", "plan" if is_check else "apply", "-f", "json"]
    if params["inventory"]:
        found += ["--inventory", params["inventory"]]
    if not is_check:
        found += ["--undo", params["undo"]] if params["undo"] else []
        found += ["--wait", str(params["wait"])] if params["wait"] > 0 else []
        found += ["--force"] if params["force"] else []
    return [*found, "--", *(params["path"] or ["-"])]


def named(text, places):
    """Return a text that names parts of the document and not its lines.

    :param places: the part that each line of the document is
    """
    there = {str(line): place for line, place in enumerate(places, 1)}
    return _STDIN_LINE.sub(lambda found: there.get(found[1], found[0]), text)


def rows_of(printed, places):
    """Return the rows that the command printed, or None for something else.

    :param places: the part that each line of the document is
    """
    try:
        found = json.loads(printed)
    except ValueError:
        return None
    return [dict(row, desired_by=named(row["desired_by"], places)) for row in found]


def result_of(rows, is_written):
    """Return what the task returns.

    :param rows: those that were printed, or None
    :param is_written: the plan is carried out, or in check mode would be
    """
    written = [row for row in rows or () if is_written and row["status"] in CHANGED]
    found = {"changed": bool(written)}
    if rows is not None:
        found["changes"] = rows
    if written:
        found["diff"] = {side: _side(written, side) for side in ("before", "after")}
    return found


def _side(rows, side):
    shown = [_shown(row, row[side]) for row in rows if row[side] is not None]
    return "".join(f"{line}\n" for line in shown)


def _shown(row, value):
    key = "" if row["key"] == row["object"] else f": {row['key']}"
    shown = "" if value == "present" else f"={value}"
    return f"{row['step']} {row['object']}{key}{shown}"


def reason_of(rows, said):
    """Return why it failed, in one line.

    :param rows: those that were printed
    :param said: the lines of standard error, in which warnings come before errors
    """
    for row in rows:
        if row["status"] in FAILED and row["detail"]:
            return f"{row['step']} {row['object']}: {row['key']}: {row['detail']}"
    reasons = (line for line in said if _REASON.match(line))
    return next(reasons, said[-1] if said else "the command says nothing")


def has_failed(code, rows, would_force):
    """Tell whether the task fails.

    :param code: what the command exited with
    :param rows: those that were printed, or None
    :param would_force: it is a plan that would be carried out though it is refused
    """
    if code == REFUSED and would_force and rows is not None:
        return any(row["status"] in FAILED for row in rows)
    return code != 0


def undo_problem(path):
    """Return why an undo file can't be made there, or None."""
    if os.path.lexists(path):
        return f"undo: {path} is there already; name a new file"
    folder = os.path.dirname(os.path.abspath(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"undo: the folder {folder} is not there, or can't be written to"
    return None


def run(module):
    """Run the command, and end the module."""
    params, is_check = module.params, module.check_mode
    document, places = "", ()
    if params["state"] is not None:
        lines, places = zip(*lines_of(params["state"]))
        document = "\n".join(lines).rstrip(",")
    command = [module.get_bin_path(params["executable"], required=True)]
    code, out, err = module.run_command(
        command + arguments_of(params, is_check),
        data=document,
        environ_update={"PYTHONWARNINGS": "ignore", "TRAITSCHED_EXIT_ZERO": "0"},
    )
    said = [named(line, places) for line in err.splitlines() if line.strip()]
    rows = rows_of(out, places)
    if rows is None and code == 0:
        module.fail_json(msg=f"{command[0]} printed no rows: {out[:200]}")
    would_force = is_check and params["force"]
    found = result_of(rows, is_written=code != REFUSED or would_force)
    if is_check and found["changed"] and params["undo"]:
        problem = undo_problem(params["undo"])
        if problem:
            module.fail_json(msg=problem, **{**found, "changed": False})
    if has_failed(code, rows, would_force):
        reason = reason_of(rows or (), said)
        module.fail_json(msg=reason, stderr="\n".join(said), rc=code, **found)
    for line in said:
        module.warn(line)
    module.exit_json(**found)


def main():
    """Take the options of the task."""
    run(
        AnsibleModule(
            argument_spec=_OPTIONS,
            mutually_exclusive=[("state", "path")],
            required_one_of=[("state", "path")],
            supports_check_mode=True,
        )
    )


if __name__ == "__main__":
    main()
