"""Token ids as numbers in one block of memory: long prompts become JSON without a Python object for every id.

That takes numpy, whose arrays orjson writes by itself. Without it (in a function, where it would weigh more than all
the rest) ids are lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

_BLOCK: Final = 1024


class PackedIds(Sequence[int]):
    """Ids as an engine packs them: a sequence like a list of int, but for its own methods and what it costs."""

    __slots__ = ("array",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Any) -> None:
        """
        Args:
            array: a numpy array of uint32, of shape (tokens,).
        """
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> PackedIds: ...
    def __getitem__(self, index: int | slice) -> int | PackedIds:
        return PackedIds(self.array[index]) if isinstance(index, slice) else int(self.array[index])

    def __iter__(self) -> Iterator[int]:
        ids: list[int] = self.array.tolist()
        return iter(ids)

    def __reversed__(self) -> Iterator[int]:
        for block in blocks_from_end(self):
            yield from reversed(block)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"PackedIds({list(self)})"

    def between(self, prefix: Sequence[int], suffix: Sequence[int]) -> PackedIds:
        """The same ids with others before and after."""
        import numpy

        return PackedIds(
            numpy.concatenate((prefix, self.array, suffix), dtype=numpy.uint32, casting="unsafe")
        )


def packer() -> Any:
    """What makes PackedIds of little-endian uint32 bytes, which stay in use; None without numpy."""
    try:
        import numpy
    except ImportError:
        return None
    kind = numpy.dtype("<u4")
    return lambda packed: PackedIds(numpy.frombuffer(packed, kind))


def surrounded(prefix: Sequence[int], ids: Sequence[int], suffix: Sequence[int]) -> Sequence[int]:
    """Ids with others before and after."""
    if not (prefix or suffix):
        return ids
    return ids.between(prefix, suffix) if isinstance(ids, PackedIds) else [*prefix, *ids, *suffix]


def blocks_from_end(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Pieces of the ids, the last first; lists where they are packed."""
    for end in range(len(ids), 0, -_BLOCK):
        block = ids[max(0, end - _BLOCK) : end]
        yield list(block) if isinstance(block, PackedIds) else block
