"""What a request is made of: the options, and the question they ask."""

from __future__ import annotations

import argparse

from osc_traitsched.app import request
from osc_traitsched.app.request import ServerRequest
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.commands import scheduler_args
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova.question import Question

#: Instead of an image: boot from a volume that has no image metadata.
NO_IMAGE = "-"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the flavor, the image, and what else makes a request."""
    parser.add_argument("flavor", help="a flavor: name or ID")
    parser.add_argument(
        "image", help="an image: name or ID; - for none (boot from a volume)"
    )
    group = parser.add_argument_group("request")
    group.add_argument(
        "--availability-zone", metavar="ZONE", help="the availability zone to ask for"
    )
    group.add_argument(
        "--project", help="on behalf of this project: name or ID (default: your own)"
    )
    group.add_argument(
        "--boot-from-volume", action="store_true", help="the root disk is a volume"
    )
    for what in ("flavor", "image"):
        group.add_argument(
            f"--{what}-property",
            metavar="KEY=VALUE",
            type=_pair,
            action="append",
            default=[],
            help=f"what if the {what} had this property; an empty VALUE takes the "
            "key away (repeat for more)",
        )
    scheduler_args.add_options(parser)


def add_named(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add ``--flavor`` and ``--image``, each for some of those that there are.

    :param purpose: what each is named for, with ``{}`` for what it is
    """
    for what in ("flavor", "image"):
        parser.add_argument(
            f"--{what}",
            dest=f"{what}s",
            metavar=what.upper(),
            action="append",
            default=[],
            help=f"{purpose.format(what)}: name or ID (repeat for more)",
        )


def question(cloud: Cloud, args: argparse.Namespace, servers: int = 1) -> Question:
    """Return the question that the options ask of a cloud.

    :raises BadUsage: for options that do not go together
    :raises BadConfiguration: for a file or a value that can't be
    :raises NothingMatches: for a flavor, image or project that is not there
    """
    asked = _server_request(args, servers)
    return request.question(cloud, asked, scheduler_args.settings(args))


def _server_request(args: argparse.Namespace, servers: int) -> ServerRequest:
    """Return the server that the options ask for.

    :raises BadUsage: for image properties without an image
    """
    image = None if args.image == NO_IMAGE else args.image
    if image is None and args.image_property:
        raise BadUsage("--image-property goes with an image")
    return ServerRequest(
        flavor=args.flavor,
        image=image,
        zone=args.availability_zone,
        project=args.project,
        boot_from_volume=args.boot_from_volume,
        count=servers,
        flavor_properties=dict(args.flavor_property),
        image_properties=dict(args.image_property),
    )


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"not KEY=VALUE: {text}")
    return key, value


def count(text: str) -> int:
    """Return a number of servers or hosts, for argparse."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"not a number above 0: {text}")
