"""Compiled templates of requests, the recently used ones kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from render_core.template.compiled import CompiledTemplate, compile_template
from render_core.template.failures import TemplateFailure

_MAX_ENTRIES: Final = 64
_MAX_SOURCE_BYTES: Final = 4 * 1024 * 1024


class TemplateCache:
    """Compiles each template once, failures included. Bounded by entries and by source bytes. Thread-safe."""

    def __init__(self, max_entries: int = _MAX_ENTRIES, max_source_bytes: int = _MAX_SOURCE_BYTES) -> None:
        self._max_entries = max_entries
        self._max_source_bytes = max_source_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._source_bytes = 0

    def compiled(self, source: str) -> CompiledTemplate:
        """The compiled template.

        Raises:
            TemplateRejectedError
        """
        return self._entry(source).compiled()

    def __len__(self) -> int:
        return len(self._entries)

    def _entry(self, source: str) -> _Entry:
        with self._lock:
            if source in self._entries:
                self._entries.move_to_end(source)
                return self._entries[source]
            entry = _Entry(source)
            self._entries[source] = entry
            self._source_bytes += entry.source_bytes
            while len(self._entries) > self._max_entries or self._source_bytes > self._max_source_bytes:
                _, evicted = self._entries.popitem(last=False)
                self._source_bytes -= evicted.source_bytes
            return entry


class _Entry:
    """One template, compiled by the first who asks for it while the others wait."""

    def __init__(self, source: str) -> None:
        self.source_bytes = len(source.encode(errors="surrogatepass"))
        self._source = source
        self._lock = threading.Lock()
        self._outcome: CompiledTemplate | TemplateFailure | None = None

    def compiled(self) -> CompiledTemplate:
        with self._lock:
            if self._outcome is None:
                try:
                    self._outcome = compile_template(self._source)
                except TemplateFailure as failure:
                    self._outcome = type(failure)(failure.message)
        if isinstance(self._outcome, TemplateFailure):
            raise type(self._outcome)(self._outcome.message)
        return self._outcome
