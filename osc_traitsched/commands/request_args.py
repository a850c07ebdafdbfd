"""Options for a server request."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterable

from osc_traitsched.commands import arguments, base
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova.filter import groups
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.runner.document import TIMEOUT

#: In place of an image: boot from a volume without image metadata.
NO_IMAGE = "-"


def add_request_options(parser: argparse.ArgumentParser) -> None:
    """Add the flavor, the image, and all other options of a request."""
    image = "an image: name or ID; - for none (boot from a volume)"
    for what, words in (("flavor", "a flavor: name or ID"), ("image", image)):
        parser.add_argument(what, nargs="?", metavar=what.upper(), help=words)
        parser.add_argument(
            f"--{what}",
            dest=f"{what}_option",
            metavar=what.upper(),
            help=f"the same as {what.upper()}",
        )
    # cliff makes the parser. FLAVOR and IMAGE may stand on both sides of an option.
    vars(parser)["parse_args"] = parser.parse_intermixed_args
    group = parser.add_argument_group("request")
    add_owner(group)
    _add_parts(group, "boot from this volume, with - for the image: name or ID")
    _add_placing(group)
    group.add_argument(
        "--policy",
        choices=groups.POLICIES,
        metavar="POLICY",
        help="as if the servers were in a new group with this policy "
        f"({', '.join(groups.POLICIES)})",
    )
    _add_destination(group, _HOST_OF_BUILD, _NODE_OF_BUILD)
    group.add_argument(
        "--remote-address",
        metavar="ADDRESS",
        help="the user's address, as nova-api sees it; only custom filters read it",
    )
    arguments.add_scheduler_options(parser)


def add_owner(group: argparse._ArgumentGroup) -> None:
    """Add the zone and the project, and whether the root disk is a volume."""
    _add_zone(group, _ZONE_OF_BUILD)
    group.add_argument(
        "--project",
        help="ask for this project: name or ID (default: your own)",
    )
    group.add_argument(
        "--project-domain",
        metavar="DOMAIN",
        help="the domain of --project: name or ID",
    )
    group.add_argument(
        "--boot-from-volume", action="store_true", help="the root disk is a volume"
    )


def add_python(group: argparse._ArgumentGroup, is_required: bool = False) -> None:
    """Add the options of a Python that has Nova."""
    group.add_argument(
        "--nova-python",
        required=is_required,
        metavar="PATH|COMMAND",
        help="a Python that has Nova in it, its virtual environment, or a command that "
        "starts one, such as 'podman exec -i nova_scheduler python3'",
    )
    add_timeout(group)


def add_timeout(group: argparse._ArgumentGroup) -> None:
    """Add the time that such a Python may take."""
    group.add_argument(
        "--nova-python-timeout",
        type=base.seconds,
        default=TIMEOUT,
        metavar="SECONDS",
        help="how long it may take (default: %(default)g)",
    )


def add_kind(parser: argparse.ArgumentParser) -> None:
    """Add what servers of several flavors have in common."""
    group = parser.add_argument_group("request")
    group.add_argument(
        "--image",
        help="with this image: name or ID (default: one without properties)",
    )
    add_owner(group)
    add_python(parser.add_argument_group("Nova"))


def kind(args: argparse.Namespace) -> ServerSpec:
    """Servers of the options of :func:`add_kind`, without a flavor; raises BadUsage."""
    if args.project is None and args.project_domain is not None:
        raise BadUsage("--project-domain requires --project")
    return ServerSpec(
        image=args.image or "",
        zone=args.availability_zone,
        project=args.project,
        project_domain=args.project_domain,
        boot_from_volume=args.boot_from_volume,
    )


def add_given(parser: argparse.ArgumentParser, is_moved: bool) -> None:
    """Add options for the request of an existing server, or of its move."""
    group = parser.add_argument_group(
        "request",
        "Supply what Nova does not show of the server's request, or override it.",
    )
    if is_moved:
        _add_zone(group, "as if it were pinned to this availability zone")
        _add_destination(group, _HOST_OF_MOVE, "move it to this compute node")
    else:
        _add_zone(group, _ZONE_OF_BUILD)
        _add_destination(group, _HOST_OF_BUILD, _NODE_OF_BUILD)
    _add_parts(group, "the volume that it boots from: name or ID")
    _add_placing(group)
    arguments.add_scheduler_options(parser)


_ZONE_OF_BUILD = (
    "ask for this availability zone; ZONE:HOST, ZONE:HOST:NODE and ZONE::NODE also "
    "name a host, as in Nova"
)
_HOST_OF_BUILD = (
    "ask for this host, as openstack server create --host does: the name of its "
    "nova-compute; unlike with ZONE:HOST the host filters run"
)
_NODE_OF_BUILD = "ask for this compute node, as --hypervisor-hostname does there"
_HOST_OF_MOVE = (
    "move it to this host, as openstack server migrate --host does: the name of its "
    "nova-compute; the host filters run"
)


def _add_zone(group: argparse._ArgumentGroup, words: str) -> None:
    group.add_argument("--availability-zone", metavar="ZONE", help=words)


def _add_destination(group: argparse._ArgumentGroup, host: str, node: str) -> None:
    for name, words in (("host", host), ("node", node)):
        group.add_argument(f"--on-{name}", metavar=name.upper(), help=words)


def _add_placing(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--hint",
        dest="hints",
        metavar="KEY=VALUE",
        type=_pair,
        action="append",
        default=[],
        help="a scheduler hint (can be repeated, also with one key)",
    )
    group.add_argument(
        "--server-group",
        metavar="GROUP",
        help="a member of this server group: name or ID",
    )
    for what in ("flavor", "image"):
        group.add_argument(
            f"--{what}-property",
            metavar="KEY=VALUE",
            type=_pair,
            action="append",
            default=[],
            help=f"as if the {what} had this property; an empty VALUE removes it "
            "(can be repeated)",
        )


def _add_parts(group: argparse._ArgumentGroup, volume: str) -> None:
    for what in ("port", "network"):
        group.add_argument(
            f"--{what}",
            dest=f"{what}s",
            metavar=what.upper(),
            action="append",
            default=[],
            help=f"a {what} of the server's: name or ID (can be repeated)",
        )
    group.add_argument("--volume", help=volume)
    group.add_argument(
        "--device-profile",
        dest="device_profiles",
        metavar="FILE",
        help="device profiles: JSON as Cyborg returns it (default: Cyborg is asked)",
    )


def add_named(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add ``--flavor`` and ``--image``, which can be repeated; ``{}``: the kind."""
    for what in ("flavor", "image"):
        parser.add_argument(
            f"--{what}",
            dest=f"{what}s",
            metavar=what.upper(),
            action="append",
            default=[],
            help=f"{purpose.format(what)}: name or ID (can be repeated)",
        )


def server_spec(
    args: argparse.Namespace, count: int = 1, needs_flavor: bool = True
) -> ServerSpec:
    """The server that the options ask for; without an image, one without properties.

    :param needs_flavor: else the flavor is empty if only an image is named
    :raises BadUsage: for options that do not go together
    """
    flavor, named = _flavor_and_image(args)
    if flavor is None and (needs_flavor or named in (None, NO_IMAGE)):
        raise BadUsage(
            "name a flavor: FLAVOR or --flavor (of a server that exists: server "
            "explain SERVER)"
        )
    image: str | None = named or ""
    if named == NO_IMAGE or (named is None and args.volume):
        image = None
    if not image and args.image_property:
        raise BadUsage("--image-property requires an image")
    if image is not None and args.volume is not None:
        raise BadUsage("--volume requires - for the image")
    if image == "":
        base.LOG.warning("No image named: judged with an image without properties.")
    if args.project is None and args.project_domain is not None:
        raise BadUsage("--project-domain requires --project")
    if args.policy is not None and args.server_group is not None:
        raise BadUsage("--policy is for a new server group: leave out --server-group")
    return dataclasses.replace(
        given(args),
        policy=args.policy,
        flavor=flavor or "",
        image=image,
        project=args.project,
        project_domain=args.project_domain,
        boot_from_volume=args.boot_from_volume,
        count=count,
        remote_address=args.remote_address,
    )


def _flavor_and_image(args: argparse.Namespace) -> tuple[str | None, str | None]:
    """What an option does not name is a positional argument."""
    names = [each for each in (args.flavor, args.image) if each is not None]
    flavor = args.flavor_option or (names.pop(0) if names else None)
    image = args.image_option or (names.pop(0) if names else None)
    if names:
        raise BadUsage("name one flavor and one image")
    return flavor, image


def given(args: argparse.Namespace) -> ServerSpec:
    """The request of the options of :func:`add_given`; raises BadUsage."""
    return ServerSpec(
        zone=args.availability_zone,
        hints=_hints(args.hints),
        group=args.server_group,
        flavor_properties=dict(args.flavor_property),
        image_properties=dict(args.image_property),
        ports=tuple(args.ports),
        networks=tuple(args.networks),
        volume=args.volume,
        device_profiles=args.device_profiles,
        on_host=args.on_host,
        on_node=args.on_node,
    )


def _hints(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, value in pairs:
        if key == "group":
            raise BadUsage("a server group is given with --server-group")
        found[key] = (*found.get(key, ()), value)
    return found


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"not KEY=VALUE: {text}")
    return key, value


def count(text: str) -> int:
    """A number of servers or hosts, for argparse."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"not a number above 0: {text}")
