"""How a family is told from a model's files, for automatic selection. Names of directories are no evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a model.

    Attributes:
        encoder: the code that makes its prompts in place of a template, by its --tokenizer-mode name, or None.
        architectures: of config.json.
        templates: the source of its chat templates, joined.
    """

    encoder: str | None
    architectures: Sequence[str]
    templates: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """One rule: the parsers of the models that it describes.

    Attributes:
        tool, reasoning: parser names.
        encoder: models whose prompts this encoder makes are meant.
        architectures: only models of one of these are meant; empty for any.
        template, absent: texts that the chat templates must hold, all of them, and texts that none may hold.
    """

    tool: str | None = None
    reasoning: str | None = None
    encoder: str | None = None
    architectures: tuple[str, ...] = ()
    template: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    def reason(self, evidence: Evidence) -> tuple[int, str] | None:
        """How strongly the rule applies, and why; None when it does not."""
        if self.encoder is not None and self.encoder == evidence.encoder:
            return 2, f"prompts are encoded by {self.encoder}"
        if any(text not in evidence.templates for text in self.template) or any(
            text in evidence.templates for text in self.absent
        ):
            return None
        if self.architectures:
            shared = [name for name in evidence.architectures if name in self.architectures]
            return (1, f"the architecture is {shared[0]}") if shared else None
        if not self.template:
            return None
        return 0, "the chat template has " + " and ".join(map(repr, self.template))
