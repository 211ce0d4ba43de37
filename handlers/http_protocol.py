"""uvicorn's HTTP/1.1 protocol with a limit for what stands before a body, and with this service's errors."""

from __future__ import annotations

from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from handlers.envelope import error_response

MAX_HEAD_BYTES = 64 * 1024
"""Of a request line with its headers, besides the network chunk (up to 256 KiB) in which they begin."""


class HttpProtocol(HttpToolsProtocol):
    """One connection; it ends when a request cannot be parsed or is too long before its body begins."""

    _is_in_head = False
    _is_first_chunk = False
    _head_bytes = 0

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = self._is_first_chunk = True
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_in_head or self.transport.is_closing():
            return
        if self._is_first_chunk:  # it may begin with the end of the request before
            self._is_first_chunk = False
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The request line and headers are too long."
            )

    def send_400_response(self, msg: str) -> None:
        self._refuse(HTTPStatus.BAD_REQUEST, msg)

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        response = error_response(status, status.phrase.replace(" ", "") + "Error", message)
        lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), b"connection: close"]
        lines += [name + b": " + value for name, value in response.raw_headers]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + bytes(response.body))
        self.transport.close()
