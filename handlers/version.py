"""The version of this distribution."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """The installed version; `unknown` where the code was copied without its metadata."""
    try:
        return version("render-core")
    except PackageNotFoundError:
        return "unknown"
