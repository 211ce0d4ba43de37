"""The fast engines. They only encode, without special tokens around the text; a certificate says where exactly."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from render_core.errors import ConfigurationError
from render_core.tokenizer.cuts import Cuts
from render_core.tokenizer.packed_ids import packer

_LEAST_PACKED_CHARS: Final = 512
_PIECE_CHARS: Final = 32 * 1024
_MAX_PIECES: Final = 16


class Encoder(Protocol):
    """Encodes a text to token ids, added tokens in it included. Raises UnicodeEncodeError for lone surrogates."""

    def __call__(self, text: str) -> Sequence[int]: ...


class Fastokens:
    """The hot engine: slow to load, fastest to encode; both release the GIL. An Encoder.

    Long texts are cut where that makes no difference, and their pieces shared out over the processor's cores.
    """

    def __init__(self, path: Path, cut_tokens: Sequence[str] = ()) -> None:
        """
        Args:
            path: tokenizer.json.
            cut_tokens: what `cuts.provable_cuts` found.
        """
        import fastokens

        self._tokenizer = fastokens.Tokenizer.from_file(str(path))
        self._cuts = Cuts(cut_tokens)
        self._pack = packer()
        # The first call builds what all use. This one lets others run meanwhile; `encode` does not.
        self._packed("ready")

    def __call__(self, text: str) -> Sequence[int]:
        if self._pack is None or len(text) < _LEAST_PACKED_CHARS:
            return self._listed(text)
        packed: Sequence[int] = self._pack(self._packed(text))
        return packed

    def in_every_way(self, text: str) -> list[int]:
        """The ids as all ways of this class to encode give them. Raises ValueError when these differ."""
        ids = self._listed(text)
        if memoryview(self._packed(text)).cast("I").tolist() != ids:
            raise ValueError("the engine's ways to encode differ")
        return ids

    def _listed(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, False).ids
        return ids

    def _packed(self, text: str) -> bytes:
        pieces = self._cuts.pieces(text, min(_MAX_PIECES, len(text) // _PIECE_CHARS))
        packed: bytes = self._tokenizer.encode_batch_flat(pieces, False)[0]
        return packed


def load_kitoken(path: Path) -> Encoder:
    """The cold engine: loads in milliseconds from its own file, and releases the GIL meanwhile."""
    tokenizer = import_kitoken().Kitoken.from_file(str(path))

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, True)
        return ids

    return encode


def kitoken_file(serialized: bytes) -> bytes:
    """The cold engine's own file for a tokenizer.json document.

    Raises:
        ValueError: the engine cannot represent this tokenizer.
    """
    try:
        definition: bytes = import_kitoken().Kitoken.from_tokenizers(serialized).to_bytes()
    except Exception as error:  # noqa: BLE001 (the library raises nothing more special)
        raise ValueError(str(error)) from None
    return definition


def import_kitoken() -> Any:
    """The module kitoken, imported by a thread that never ends.

    When the thread that first imported it (0.11.1) has ended, the next call from any other crashes the process: memory
    of the library goes with that thread. The main thread may import it, and any other leaves it to one that waits.
    """
    name = "kitoken"
    if name not in sys.modules and threading.current_thread() is not threading.main_thread():
        imported = threading.Event()

        def home() -> None:
            try:
                importlib.import_module(name)
            finally:
                imported.set()
            threading.Event().wait()

        threading.Thread(target=home, name="kitoken-home", daemon=True).start()
        imported.wait()
    return importlib.import_module(name)


def _import_fastokens() -> None:
    importlib.import_module("fastokens")
    packer()


def imports(engine: str) -> Callable[[], None]:
    """What imports the libraries of a fast engine, holding Python's lock for some tens of milliseconds."""
    return _import_fastokens if engine == "fastokens" else lambda: None  # the other is imported by `loader`


def loader(engine: str, cut_tokens: Sequence[str] = ()) -> Callable[[Path], Encoder]:
    """The loader of a fast engine by name.

    Args:
        cut_tokens: for an engine that cuts texts.

    Raises:
        ConfigurationError: no such engine.
    """
    match engine:
        case "fastokens":
            return partial(Fastokens, cut_tokens=cut_tokens)
        case "kitoken":
            import_kitoken()  # by the caller, who may be the main thread; the loading may be done by one that ends
            return load_kitoken
    raise ConfigurationError(f"Unknown tokenizer engine {engine!r}; known are: fastokens, kitoken.")


def encoder_to_certify(engine: str, path: Path) -> Encoder:
    """A fast engine that encodes each text in all the ways it ever would. Raises ValueError where these differ."""
    encode = loader(engine)(path)
    return encode.in_every_way if isinstance(encode, Fastokens) else encode
