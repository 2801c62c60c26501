"""TARGET: how an implementation is named, and how it is loaded.

An adapter's name (``llama.cpp``); or, for an adapter that takes an object, ``ADAPTER:MODULE:NAME``
and its options (``vllm:my.module:Mine,runner=V1``); ``exec:COMMAND``, a harness; or
``MODULE:CLASS``. The text alone says what is driven and how, so that it is also what reports carry,
and what a process of its own is started with.
"""

from __future__ import annotations

from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.adapters.object_path import load_object
from topnsigma_conformance.harness import EXEC, Harness
from topnsigma_conformance.implementation import Claims, Implementation
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, ImplementationCrashed


class TargetError(Exception):
    """The target cannot be loaded; the message says what was asked for and why it failed."""


def load_class(target: str) -> type[Implementation]:
    """The :class:`Implementation` subclass that ``target`` names.

    Args:
        target: see above; modules are importable from the current directory.

    Raises:
        TargetError: there is no such adapter, module or class, or it is not an Implementation.
    """
    name, _, object_path = target.partition(":")
    adapter = ADAPTERS.get(name)
    takes = "" if adapter is None else adapter.takes
    path = target if adapter is None else adapter.path
    if bool(takes) != bool(object_path) and adapter is not None:
        form = f"{name}:{takes}[,OPTION=VALUE…]" if takes else name
        raise TargetError(f"target must be {form}; got {target!r}")
    if adapter is None and ":" not in target.strip(":"):
        raise TargetError(
            f"target must be MODULE:CLASS or one of {', '.join(ADAPTERS)}; got {target!r}"
        )
    try:
        loaded = load_object(path)
    except (ImportError, ValueError) as error:
        raise TargetError(f"cannot load {target}: {error}") from error
    except (Exception, SystemExit) as error:
        # A module can do anything while it is imported, and leave the interpreter too.
        raise TargetError(f"cannot load {target}: {type(error).__name__}: {error}") from error
    if not (isinstance(loaded, type) and issubclass(loaded, Implementation)):
        raise TargetError(f"{target} is not a subclass of topnsigma_conformance.Implementation")
    return loaded


def load(
    target: str, device: str | None = None, timeout: float = DEFAULT_TIMEOUT
) -> Implementation:
    """Construct the implementation that ``target`` names, for ``device``.

    Args:
        target: see above.
        device: among those that it declares; the first of them by default.
        timeout: seconds that one answer of a harness may take.

    Raises:
        TargetError: it cannot be loaded or constructed, or claims what makes no sense.
    """
    if target.startswith(EXEC):
        return _harness(target.removeprefix(EXEC), device, timeout)
    loaded = load_class(target)
    try:
        path, options = _object_and_options(target)
        # Only classes of adapters that take an object are loaded with one.
        made = loaded(device, path, options) if path else loaded(device)  # type: ignore[call-arg]
        Claims.of(made)
    except (Exception, SystemExit) as error:
        raise TargetError(f"cannot construct {target}: {error}") from error
    return made


def _harness(command: str, device: str | None, timeout: float) -> Implementation:
    if device is not None:
        raise TargetError(f"device must not be given for a harness; got {device!r}")
    try:
        return Harness(command, timeout)
    except (ImplementationCrashed, ValueError) as error:
        raise TargetError(f"cannot start {command!r}: {error}") from error


def callable_target(path: str, *, arrays: str = "numpy", in_place: bool = False) -> str:
    """The target that stands for a plain function ``MODULE:FUNCTION``.

    Args:
        path: of the function.
        arrays: the adapter that calls it: ``numpy``, ``torch`` or ``jax``.
        in_place: the function writes into the logits that it is given.
    """
    return f"{arrays}:{path}" + (",in_place=true" if in_place else "")


def target_of(implementation: Implementation) -> str:
    """The target under which this object can be loaded."""
    target: str | None = getattr(implementation, "target", None)
    if target is not None:
        return target
    cls = type(implementation)
    path = f"{cls.__module__}:{cls.__qualname__}"
    return next((name for name, adapter in ADAPTERS.items() if adapter.path == path), path)


def _object_and_options(target: str) -> tuple[str, dict[str, str]]:
    """``MODULE:NAME`` and the options of a target; empty where its adapter takes no object.

    Raises:
        ValueError: an option without a value, or given twice.
    """
    name, _, rest = target.partition(":")
    if name not in ADAPTERS or not ADAPTERS[name].takes:
        return "", {}
    path, *entries = rest.split(",")
    options: dict[str, str] = {}
    for entry in entries:
        option, separator, value = entry.partition("=")
        if not separator or option in options:
            raise ValueError(f"options must be OPTION=VALUE, each OPTION once; got {rest!r}")
        options[option] = value
    return path, options
