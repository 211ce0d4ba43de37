"""Model files from the Hugging Face Hub: tokenizer and configuration only, at a revision that is pinned and told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from render_core.errors import ConfigurationError
from render_core.model.files import PATTERNS


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A downloaded repository: its folder and the commit it was taken at (40 hex digits)."""

    root: Path
    revision: str


def fetch_snapshot(repository: str, revision: str | None) -> Snapshot:
    """Download what a renderer needs of a repository, or find it in the local cache.

    Args:
        repository: `owner/name`.
        revision: branch, tag or commit; None takes the default branch.

    Raises:
        ConfigurationError: the name is no repository id, or the repository cannot be had.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:  # builds for Lambda leave it out
        raise ConfigurationError(
            f"{repository!r} is no model directory here, and huggingface_hub, which could fetch it, is not installed."
        ) from None
    try:
        root = Path(snapshot_download(repository, revision=revision, allow_patterns=list(PATTERNS)))
    except HFValidationError:
        raise ConfigurationError(
            f"{repository!r} is neither a model directory nor a repository id (owner/name)."
        ) from None
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigurationError(f"The model {repository!r} cannot be fetched: {reason}") from None
    return Snapshot(root, root.name)
