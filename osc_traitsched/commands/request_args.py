"""Options for a server request."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterable, Iterator

from osc_traitsched.commands import arguments, base
from osc_traitsched.commands.arguments import Adder, flag, group, option, repeatable
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova.filter import groups
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.runner.document import TIMEOUT

#: In place of an image: boot from a volume without image metadata.
NO_IMAGE = "-"


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"not KEY=VALUE: {text}")
    return key, value


def _zone(words: str) -> Adder:
    return option("--availability-zone", metavar="ZONE", help=words)


def _destination(host: str, node: str) -> tuple[Adder, Adder]:
    return (
        option("--on-host", metavar="HOST", help=host),
        option("--on-node", metavar="NODE", help=node),
    )


def _parts(volume: str) -> tuple[Adder, ...]:
    return (
        *_named("a {} of the server's", "port", "network"),
        option("--volume", help=volume),
        option(
            "--device-profile",
            dest="device_profiles",
            metavar="FILE",
            help="device profiles: JSON as Cyborg returns it (default: Cyborg is "
            "asked)",
        ),
    )


def _named(purpose: str, *kinds: str) -> Iterator[Adder]:
    for kind in kinds:
        yield repeatable(
            f"--{kind}",
            dest=f"{kind}s",
            metavar=kind.upper(),
            help=f"{purpose.format(kind)}: name or ID (can be repeated)",
        )


def flavors_and_images(purpose: str) -> Iterator[Adder]:
    """``--flavor`` and ``--image``, which can be repeated; ``{}``: the kind."""
    return _named(purpose, "flavor", "image")


_ZONE_OF_BUILD = _zone(
    "ask for this availability zone; ZONE:HOST, ZONE:HOST:NODE and ZONE::NODE also "
    "name a host, as in Nova"
)
_DESTINATION_OF_BUILD = _destination(
    "ask for this host, as openstack server create --host does: the name of its "
    "nova-compute; unlike with ZONE:HOST the host filters run",
    "ask for this compute node, as --hypervisor-hostname does there",
)
_DESTINATION_OF_MOVE = _destination(
    "move it to this host, as openstack server migrate --host does: the name of its "
    "nova-compute; the host filters run",
    "move it to this compute node",
)
_PLACING = (
    repeatable(
        "--hint",
        dest="hints",
        metavar="KEY=VALUE",
        type=_pair,
        help="a scheduler hint (can be repeated, also with one key)",
    ),
    option(
        "--server-group",
        metavar="GROUP",
        help="a member of this server group: name or ID",
    ),
    *(
        repeatable(
            f"--{kind}-property",
            metavar="KEY=VALUE",
            type=_pair,
            help=f"as if the {kind} had this property; an empty VALUE removes it "
            "(can be repeated)",
        )
        for kind in ("flavor", "image")
    ),
)

#: The zone and the project, and whether the root disk is a volume.
OWNER = (
    _ZONE_OF_BUILD,
    option("--project", help="ask for this project: name or ID (default: your own)"),
    option(
        "--project-domain",
        metavar="DOMAIN",
        help="the domain of --project: name or ID",
    ),
    flag("--boot-from-volume", help="the root disk is a volume"),
)

#: The flavor, the image, and all other options of a request.
REQUEST = (
    option("flavor", nargs="?", metavar="FLAVOR", help="a flavor: name or ID"),
    option(
        "--flavor", dest="flavor_option", metavar="FLAVOR", help="the same as FLAVOR"
    ),
    option(
        "image",
        nargs="?",
        metavar="IMAGE",
        help="an image: name or ID; - for none (boot from a volume)",
    ),
    option("--image", dest="image_option", metavar="IMAGE", help="the same as IMAGE"),
    arguments.intermixed,
    group(
        "request",
        "",
        *OWNER,
        *_parts("boot from this volume, with - for the image: name or ID"),
        *_PLACING,
        option(
            "--policy",
            choices=groups.POLICIES,
            metavar="POLICY",
            help="as if the servers were in a new group with this policy "
            f"({', '.join(groups.POLICIES)})",
        ),
        *_DESTINATION_OF_BUILD,
        option(
            "--remote-address",
            metavar="ADDRESS",
            help="the user's address, as nova-api sees it; only custom filters read it",
        ),
    ),
    arguments.SCHEDULER,
)

#: The time that a Python with Nova may take.
PYTHON_TIMEOUT = option(
    "--nova-python-timeout",
    type=base.seconds,
    default=TIMEOUT,
    metavar="SECONDS",
    help="how long it may take (default: %(default)g)",
)


def python(is_required: bool = False) -> tuple[Adder, Adder]:
    """The options of a Python that has Nova."""
    named = option(
        "--nova-python",
        required=is_required,
        metavar="PATH|COMMAND",
        help="a Python that has Nova in it, its virtual environment, or a command that "
        "starts one, such as 'podman exec -i nova_scheduler python3'",
    )
    return named, PYTHON_TIMEOUT


#: What servers of several flavors have in common.
KIND = (
    group(
        "request",
        "",
        option(
            "--image",
            help="with this image: name or ID (default: one without properties)",
        ),
        *OWNER,
    ),
    group("Nova", "", *python()),
)


def kind(args: argparse.Namespace) -> ServerSpec:
    """Servers of the options of :data:`KIND`, without a flavor; raises BadUsage."""
    if args.project is None and args.project_domain is not None:
        raise BadUsage("--project-domain requires --project")
    return ServerSpec(
        image=args.image or "",
        zone=args.availability_zone,
        project=args.project,
        project_domain=args.project_domain,
        boot_from_volume=args.boot_from_volume,
    )


def _of_server(*options: Adder) -> tuple[Adder, Adder]:
    request = group(
        "request",
        "Supply what Nova does not show of the server's request, or override it.",
        *options,
        *_parts("the volume that it boots from: name or ID"),
        *_PLACING,
    )
    return request, arguments.SCHEDULER


#: Options for the request of an existing server, and of its move.
GIVEN = _of_server(_ZONE_OF_BUILD, *_DESTINATION_OF_BUILD)
GIVEN_FOR_MOVE = _of_server(
    _zone("as if it were pinned to this availability zone"), *_DESTINATION_OF_MOVE
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
    """The request of the options of :data:`GIVEN`; raises BadUsage."""
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


def count(text: str) -> int:
    """A number of servers or hosts, for argparse."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"not a number above 0: {text}")
