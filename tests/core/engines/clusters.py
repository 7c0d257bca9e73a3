"""A Dask cluster of this machine, in processes that a test starts and may kill."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from tvcs_core.engines.address import read_address
from tvcs_core.engines.cluster import Cluster

ROOT = Path(__file__).parents[3]


class LocalCluster:
    """A scheduler and workers; use it as a context."""

    def __init__(self, folder, *, n_workers=2, options=(), protocol="tcp", tls=None):
        self.folder, self.file = Path(folder), Path(folder) / "scheduler.json"
        self._n_workers, self._options = n_workers, list(options)
        self._secure, self._tls = [], tls
        if tls is not None:
            self._secure = ["--tls-ca-file", tls / "ca.pem", "--tls-cert", tls / "cert.pem"]
            self._secure += ["--tls-key", tls / "key.pem"]
        self._protocol = protocol
        self._started = []
        self.workers = []

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        try:
            self.scheduler = self.start_scheduler()
            for _ in range(self._n_workers):
                self.start_worker()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        for process, log in self._started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            log.close()

    def start_scheduler(self, port=0):
        words = ["scheduler", "--scheduler-file", self.file, "--no-dashboard", "--no-jupyter"]
        words += ["--host", "127.0.0.1", "--port", port, "--protocol", self._protocol]
        self.file.unlink(missing_ok=True)
        process = self._start([w for w in words if w != "--no-jupyter"])
        for _ in range(600):
            with contextlib.suppress(OSError, ValueError):
                self.address = json.loads(self.file.read_text())["address"]
                return process
            time.sleep(0.05)
        raise TimeoutError(self.logs())

    def start_worker(self, *options, env=None):
        words = ["worker", self.address, "--nthreads", "1", "--no-dashboard"]
        words += ["--local-directory", self.folder / f"worker{len(self._started)}"]
        words += [*self._options, *options]
        self.workers.append(self._start(words, env))
        return self.workers[-1]

    def wait_for_workers(self, number):
        from distributed import Client, Security

        security = None
        if self._tls is not None:
            ca, cert, key = (str(self._tls / f"{name}.pem") for name in ("ca", "cert", "key"))
            security = Security(
                tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True
            )
        with Client(self.address, set_as_default=False, security=security) as client:
            client.wait_for_workers(number, timeout=60)

    def engine(self, **options):
        return Cluster(read_address(str(self.file)), **options)

    def logs(self):
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def _start(self, words, env=None):
        log = (self.folder / f"{len(self._started)}.log").open("w")
        words = [sys.executable, "-m", "dask", *map(str, [*words, *self._secure])]
        env = os.environ | {"PYTHONPATH": str(ROOT)} | (env or {})
        process = subprocess.Popen(
            words, stdout=log, stderr=log, cwd=self.folder, env=env, start_new_session=True
        )
        self._started.append((process, log))
        return process


def make_keys(folder):
    """Write a key and a certificate that signs itself, as `--tls` wants them."""
    folder.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=tvcs", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    shutil.copy(folder / "cert.pem", folder / "ca.pem")


class SlowLink:
    """Passes on what is sent to a scheduler and what it answers, late and so many bytes a second.

    Use it as a context; its address stands for that of the scheduler.
    """

    CHUNK = 1 << 14

    def __init__(self, address, *, rate, delay):
        host, port = address.removeprefix("tcp://").split(":")
        self._to, self._rate, self._delay = (host, int(port)), rate, delay
        self._sockets, self._threads = [], []
        self.passed = 0

    def __enter__(self):
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._door.getsockname()[1]}"
        self._start(self._accept)
        return self

    def __exit__(self, *error):
        for one in (self._door, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for one in (self._door, *self._sockets):
            one.close()

    def _start(self, target, *given):
        self._threads.append(threading.Thread(target=target, args=given))
        self._threads[-1].start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                caller, _ = self._door.accept()
                scheduler = socket.create_connection(self._to)
                self._sockets += [caller, scheduler]
                self._start(self._pass, caller, scheduler)
                self._start(self._pass, scheduler, caller)

    def _pass(self, come, go):
        with contextlib.suppress(OSError):
            while data := come.recv(self.CHUNK):
                time.sleep(self._delay + len(data) / self._rate)
                go.sendall(data)
                self.passed += len(data)
        for one in (come, go):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
