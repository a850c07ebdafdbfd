"""Which of several images of one name a request for a server means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from osc_traitsched.core.errors import AmbiguousName
from osc_traitsched.core.names import Namesake
from osc_traitsched.core.nova.question import Body


def is_open_to(
    image: Body, project: str | None, accepted: Callable[[], Collection[str]]
) -> bool:
    """Tell whether Nova finds an image for a project's users.

    :param project: its ID; None for users who are logged in to none
    :param accepted: the IDs of the projects that took the image when it was shared with
        them; called for a shared image of another project only
    """
    if image["visibility"] in ("public", "community"):
        return True
    if project is None or image.get("owner") == project:
        return project is not None
    return image["visibility"] == "shared" and project in accepted()


def of_others(images: Iterable[Body], project: str | None) -> dict[str, str]:
    """Return the owners of those of the images that are another project's, by ID.

    :param project: the caller's, by its ID
    """
    owners = {image["id"]: image.get("owner") or project for image in images}
    return {k: owner for k, owner in owners.items() if owner and owner != project}


def public_or_own(images: Iterable[Body], project: str | None) -> tuple[Body, ...]:
    """Return the images that are public, or the caller's own: any user can make others.

    :param project: the caller's, by its ID
    """
    images = tuple(images)
    others = of_others(images, project)
    return tuple(
        each
        for each in images
        if each["id"] not in others or each["visibility"] == "public"
    )


def likeliest(
    found: Sequence[Body], is_open: Callable[[Body], bool]
) -> tuple[Body, ...]:
    """Return those of the images of one name that are meant: one, if that is clear.

    First those that a server can be booted from, then all others; of both those that
    are not hidden first, since a newer image has taken a hidden one's place.

    :param is_open: tells whether whoever boots may use an image, as :func:`is_open_to`
    """
    seen = [image for image in found if not _is_hidden(image)]
    hidden = [image for image in found if _is_hidden(image)]
    for some in (seen, hidden):
        bootable = [i for i in some if i["status"] == "active" and is_open(i)]
        if bootable:
            return tuple(bootable)
    return tuple(seen or hidden)


def only(name: str, found: Sequence[Body]) -> Body:
    """Return the one image of a name.

    :param found: one at least
    :raises AmbiguousName: where there are more
    """
    if len(found) > 1:
        raise AmbiguousName("image", name, map(namesake, found))
    return found[0]


def namesake(image: Body) -> Namesake:
    """Return what tells an image from others of its name."""
    return Namesake(
        image["id"],
        owner=image.get("owner") or "",
        visibility=image["visibility"],
        created=image.get("created_at") or "",
        is_hidden=_is_hidden(image),
    )


def _is_hidden(image: Body) -> bool:
    return bool(image.get("os_hidden"))
