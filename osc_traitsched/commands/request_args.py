"""What a request is made of: the options, and the question they ask."""

from __future__ import annotations

import argparse
import dataclasses

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.connection import Cloud
from osc_traitsched.commands import scheduler_args
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova import releases
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import SchedulerSettings

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
    """Return the question that the options ask.

    :raises NothingMatches: for a flavor, image or project that is not there
    :raises BadUsage: for image properties without an image
    """
    if args.image == NO_IMAGE and args.image_property:
        raise BadUsage("--image-property goes with an image")
    image = None if args.image == NO_IMAGE else lookup.image(cloud, args.image)
    found = Question(
        flavor=lookup.flavor(cloud, args.flavor),
        image=image,
        aggregates=read.aggregates(cloud.compute),
        assumptions=assumptions(cloud, args),
        zone=args.availability_zone,
        project=lookup.project(cloud, args.project),
        boot_from_volume=args.boot_from_volume or image is None,
        count=servers,
        on_behalf=args.project is not None,
        is_what_if=bool(args.flavor_property or args.image_property),
    )
    found = found.with_flavor(dict(args.flavor_property))
    return found.with_image(dict(args.image_property)) if image is not None else found


def assumptions(cloud: Cloud, args: argparse.Namespace) -> SchedulerSettings:
    """Return what the options say of the scheduler, and what the cloud tells of it.

    :raises BadUsage: for options that do not go together
    :raises BadConfiguration: for a file or a value that can't be
    """
    found = scheduler_args.assumptions(args, cloud.compute_maximum)
    if found.release < releases.OWNER_NOVA_RELEASE:
        return found
    new = lookup.all_computes_are_new(cloud)
    return dataclasses.replace(found, all_computes_new=new)


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
