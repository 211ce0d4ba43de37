"""What one rendering of a chat template may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TemplateBudget:
    """Limits of one rendering.

    Attributes:
        seconds: wall-clock time.
        max_chars: the longest text, in characters, whether output or intermediate. Intermediate texts that are
            alive at the same time may hold twice as much together.
        max_items: the most elements that containers built by the template may hold together, and the most nodes
            of a value that is printed, dumped, compared or sorted.
    """

    seconds: float = 10.0
    max_chars: int = 64 * 1024 * 1024
    max_items: int = 4 * 1024 * 1024


class BudgetExceededError(Exception):
    """Raised inside a rendering that has used up its budget. The text names the limit."""
