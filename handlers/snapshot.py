"""SnapStart: what runs before the memory of the function is kept, and after it is back in a new environment."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable


def register(rehearse: Callable[[], None], restored: Callable[[], None]) -> bool:
    """Have `rehearse` called before the snapshot is taken and `restored` in every environment made of it.

    Returns False, having done nothing, where the module of Lambda's Python runtimes is absent.
    """
    try:
        from snapshot_restore_py import register_after_restore, register_before_snapshot
    except ImportError:
        return False
    register_before_snapshot(before_snapshot, rehearse)
    register_after_restore(after_restore, restored)
    return True


def before_snapshot(rehearse: Callable[[], None]) -> None:
    """Leaves nothing for the first request to build, and no garbage; raises what `rehearse` raises."""
    rehearse()
    gc.collect()
    # Collections then pass over what was loaded, which would otherwise be read back page by page.
    gc.freeze()


def after_restore(restored: Callable[[], None]) -> None:
    """Every environment of one snapshot would else draw the same numbers; `secrets` asks the kernel anyway."""
    random.seed()
    restored()
