"""Classes that a program takes for its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["lookalike"]


def lookalike(base: type, members: Mapping[str, Any], *under: type) -> Any:
    """Make a subclass that shows as its base does and whose objects have no further attributes.

    Args:
        base: A class of the program or of a driver.
        members: What the subclass overrides; `__slots__` may be among it.
        under: Classes that come below `base` in the method resolution order, so that they get what
            the methods of `base` call by `super()`.

    Raises:
        TypeError: The base refuses subclasses.
    """
    shown = {
        "__slots__": (),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    return type(base)(base.__name__, (base, *under), {**shown, **members})
