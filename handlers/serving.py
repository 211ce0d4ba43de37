"""`render-core serve`: what must hold before a model is loaded, the sockets, and uvicorn until a signal."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import signal
import socket
import ssl
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from handlers.settings import Settings
from render_core import validate_options
from render_core.errors import ConfigurationError
from render_core.version import __version__

if TYPE_CHECKING:
    from render_core import Model

logger = logging.getLogger("render_core")

KEEP_ALIVE_SECONDS = 95
"""Above the 90 s for which routers keep idle connections (router-clients.md, 1 and 3): they close first."""

DRAIN_SECONDS = 25
"""Below the 30 s after which Kubernetes kills."""


# `localhost` often names ::1 where IPv6 is turned off; the other address then serves, as in asyncio.
_FAMILY_IS_OFF = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class BindError(Exception):
    """The address cannot be bound."""


def serve(settings: Settings) -> None:
    """Loads the model, then serves it until SIGTERM or SIGINT.

    Raises ConfigurationError for settings that cannot work and BindError when the port cannot be had, both
    before the model is loaded if that can be known.
    """
    check_exposure(settings)
    check_certificates(settings)
    validate_options(settings.model_options())
    _close(bound_sockets(settings))
    log_to_stderr(settings)
    if os.getpid() == 1:
        # Process 1 has no default action for signals: a container would not stop while it loads.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
    if settings.workers > 1:
        from handlers.workers import supervise

        sockets = bound_sockets(settings)
        logger.info("%d workers start for %s", settings.workers, address(settings, sockets))
        supervise(settings, uvicorn_options(settings), sockets)
        return
    from render_core import load_model

    _run(load_model(settings.model, settings.model_options()), settings)


def check_exposure(settings: Settings) -> None:
    """Raises ConfigurationError when others could reach a service that asks for no key."""
    if not (is_loopback(settings.host) or settings.api_key or settings.insecure_no_auth):
        raise ConfigurationError(
            f"--host {settings.host} is open to other machines: give --api-key, or --insecure-no-auth"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address. Of names, only `localhost` is trusted."""
    try:
        address = ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return host.lower() == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def check_certificates(settings: Settings) -> None:
    """Raises ConfigurationError unless certificate, key, authorities and ciphers can be used together."""
    if settings.ssl_certfile is None:
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # An empty password makes an encrypted key an error instead of a question on the terminal.
        context.load_cert_chain(settings.ssl_certfile, settings.ssl_keyfile, password="")
    except (OSError, ValueError) as reason:
        key = f"--ssl-keyfile {settings.ssl_keyfile}" if settings.ssl_keyfile else "no --ssl-keyfile"
        raise ConfigurationError(
            f"--ssl-certfile {settings.ssl_certfile} with {key}: no certificate and key that fit ({reason})"
        ) from None
    try:
        if settings.ssl_ca_certs:
            context.load_verify_locations(settings.ssl_ca_certs)
    except OSError as reason:
        raise ConfigurationError(f"--ssl-ca-certs {settings.ssl_ca_certs}: {reason}") from None
    try:
        if settings.ssl_ciphers:
            context.set_ciphers(settings.ssl_ciphers)
    except ssl.SSLError as reason:
        raise ConfigurationError(f"--ssl-ciphers: {reason}") from None


def bound_sockets(settings: Settings) -> list[socket.socket]:
    """Sockets bound to every address of the host, not yet listening.

    Raises ConfigurationError for a host that does not resolve, BindError for an address that cannot be bound.
    """
    host, port = settings.host, settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as reason:
        raise ConfigurationError(f"--host {host}: {getattr(reason, 'strerror', None) or reason}") from None
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    for family, kind, protocol, _, address in dict.fromkeys(found):
        try:
            sockets.append(_bound(family, kind, protocol, (address[0], port, *address[2:])))
            port = sockets[0].getsockname()[1]
        except OSError as reason:
            missing = reason
            if reason.errno not in _FAMILY_IS_OFF:
                break
    if missing and not (sockets and missing.errno in _FAMILY_IS_OFF):
        _close(sockets)
        raise BindError(f"cannot bind {host} port {port}: {missing.strerror}")
    return sockets


def _bound(family: int, kind: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


def _close(sockets: Sequence[socket.socket]) -> None:
    for each in sockets:
        each.close()


def log_to_stderr(settings: Settings) -> None:
    """The service's own log, without a line for every request unless that is wanted."""
    level = settings.log_level.upper()
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("render_core.access").setLevel("INFO" if settings.access_log else "WARNING")
    # Its notices about starting and stopping say less than ours.
    logging.getLogger("uvicorn").setLevel(max(logging.getLevelName(level), logging.WARNING))


def _run(model: Model, settings: Settings) -> None:
    import uvicorn

    from handlers.service import create_service

    # Only now: part of the model loads while the server is imported.
    model.wait_until_ready()
    model.load_hot_tokenizer(wait=False)
    for line in model.describe():
        logger.info("%s", line)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            logger.info("render-core %s serves %s", __version__, address(settings, sockets or []))

    server = Server(uvicorn.Config(create_service(model, settings), **uvicorn_options(settings)))

    def stop(*_: object) -> None:
        server.should_exit = True

    # uvicorn has handlers of its own while it serves, and afterwards raises the signal again for these.
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    server.run(bound_sockets(settings))


def uvicorn_options(settings: Settings) -> dict[str, Any]:
    """How uvicorn serves, whatever the application."""
    from handlers.http_protocol import HttpProtocol

    return {
        "http": HttpProtocol,
        "ws": "none",
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": DRAIN_SECONDS,
        "ssl_certfile": settings.ssl_certfile,
        "ssl_keyfile": settings.ssl_keyfile,
        "ssl_ca_certs": settings.ssl_ca_certs,
        "ssl_cert_reqs": settings.ssl_cert_reqs,
        "ssl_ciphers": settings.ssl_ciphers,
    }


def address(settings: Settings, sockets: Sequence[socket.socket]) -> str:
    """The URL under which the service is found."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    port = sockets[0].getsockname()[1] if sockets else settings.port
    return f"{'https' if settings.ssl_certfile else 'http'}://{host}:{port}"
