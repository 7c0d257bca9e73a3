"""The address of a Dask scheduler, and the check that the connection is safe."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tvcs_core.files.errors import DataError

PEM = ("ca.pem", "cert.pem", "key.pem")


@dataclass(frozen=True)
class Address:
    """The checked address of a scheduler.

    Attributes
    ----------
    url
        ``tcp://host:8786`` or ``tls://host:8786``.
    file
        The scheduler file that gave the address; None if there was none.
    identity
        Identity of the scheduler that wrote the file; empty if the file has none.
    tls
        Folder of ca.pem, cert.pem and key.pem; for ``tls://`` only.
    """

    url: str
    file: Path | None = None
    identity: str = ""
    tls: Path | None = None

    def describe(self) -> str:
        """Describe the address with the file that gave it."""
        return f"{self.url}, of {self.file}," if self.file is not None else self.url


def read_address(cluster: str, *, tls: Path | None = None, trust_network: bool = False) -> Address:
    """Read ``--cluster``: an address or a scheduler file.

    Plain ``tcp://`` carries pickles that anybody on the network can read and replace, which lets
    them run any program. So another host is refused unless the user trusts the network.
    """
    address = _from_file(Path(cluster)) if _is_file(cluster) else Address(_with_protocol(cluster))
    parts = urlsplit(address.url)
    if parts.scheme not in ("tcp", "tls") or parts.hostname is None or _port(address.url) is None:
        raise ValueError(
            "--cluster must be tcp://HOST:PORT, tls://HOST:PORT or a scheduler file, found "
            f"{cluster!r}"
        )
    if parts.scheme == "tls":
        return Address(address.url, address.file, address.identity, _checked(tls))
    if tls is not None:
        raise ValueError(f"--tls needs an address tls://HOST:PORT, found {address.url}")
    if not trust_network and not is_this_host(parts.hostname):
        raise ValueError(
            f"{address.url} is another host, and plain tcp:// lets anybody on the network run "
            "programs here and there; use tls:// with --tls DIR, or give --trust-network"
        )
    return address


def is_this_host(name: str) -> bool:
    """Return whether a name resolves to addresses of this machine only."""
    try:
        resolved = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return bool(resolved) and all(_is_own(family, host) for family, _, _, _, host in resolved)


def _is_own(family: int, address: tuple[object, ...]) -> bool:
    """Return whether this machine can listen at an address, so that the address is its own."""
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except OSError:
        return False
    return True


def _is_file(cluster: str) -> bool:
    return "://" not in cluster and (cluster.endswith(".json") or Path(cluster).is_file())


def _with_protocol(cluster: str) -> str:
    return cluster if "://" in cluster else f"tcp://{cluster}"


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None


def _from_file(path: Path) -> Address:
    try:
        content = json.loads(path.read_bytes())
        url, identity = str(content["address"]), str(content.get("id", ""))
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", path=path) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(
            "must be the file that `dask scheduler --scheduler-file` writes", path=path
        ) from None
    return Address(_with_protocol(url), path, identity)


def _checked(folder: Path | None) -> Path:
    if folder is None:
        raise ValueError("a cluster at tls:// needs --tls DIR, a folder of " + ", ".join(PEM))
    for name in PEM:
        if not (folder / name).is_file():
            raise DataError(f"must be there: --tls needs {', '.join(PEM)}", path=folder / name)
    return folder
