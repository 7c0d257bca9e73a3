"""Attacks on a desk, all from this machine: idle connections, and wrong passwords.

    python -m benchmarks.serve_attacks idle 8000 20         20 s of it, against port 8000

`benchmarks.speed.serve --attack` starts it in a process of its own, by turns with quiet. It
connects from the loopback network alone, opens at most `IDLE` connections, and ends by itself.
"""

import argparse
import http.client
import resource
import select
import socket
import threading
import time
from urllib.parse import urlencode

IDLE = 1020
"""Connections that stay open and send nothing; a process may have 1,024 files as a rule."""
ADDRESSES = 60
"""Addresses that wrong passwords come from."""
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PAUSE = 0.02
"""Seconds after which connections that the desk has closed are opened again."""


def idle(port: int, until: float) -> str:
    """Keep connections open that send nothing, and open anew those that are closed."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit[0] < IDLE + 50:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(IDLE + 50, limit[1]), limit[1]))
    poll, held, opened, refused = select.poll(), {}, 0, 0
    while time.monotonic() < until:
        while len(held) < IDLE and time.monotonic() < until:
            one = socket.socket()
            try:
                one.settimeout(1.0)
                one.connect(("127.0.0.1", port))
            except OSError:
                refused += 1
                one.close()
                break
            held[one.fileno()] = one
            poll.register(one.fileno(), select.POLLIN)
            opened += 1
        for number, _ in poll.poll(0):
            poll.unregister(number)
            held.pop(number).close()
        time.sleep(PAUSE)
    for one in held.values():
        one.close()
    return f"{opened} connections opened, {refused} not accepted, {len(held)} open at the end"


def passwords(port: int, until: float) -> str:
    """Give wrong passwords from many addresses of the loopback network, each as fast as it can."""
    answers: dict[int | str, int] = {}
    lock = threading.Lock()

    def guess(address: str) -> None:
        k = 0
        while time.monotonic() < until:
            k += 1
            form = urlencode({"password": f"guess {k} of {address}"})
            connection = http.client.HTTPConnection(
                "127.0.0.1", port, timeout=10.0, source_address=(address, 0)
            )
            try:
                connection.request("POST", "/operator/login", form, FORM)
                what: int | str = connection.getresponse().status
            except (OSError, http.client.HTTPException) as error:
                what = type(error).__name__
            finally:
                connection.close()
            with lock:
                answers[what] = answers.get(what, 0) + 1
            time.sleep(0.2)

    threads = [
        threading.Thread(target=guess, args=(f"127.0.0.{k}",)) for k in range(1, ADDRESSES + 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "answers " + ", ".join(f"{what}: {n}" for what, n in sorted(answers.items(), key=str))


ATTACKS = {"idle": idle, "passwords": passwords}


def main() -> None:
    """Attack a desk for some seconds and print what it answered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attack", choices=ATTACKS)
    parser.add_argument("port", type=int)
    parser.add_argument("seconds", type=float)
    given = parser.parse_args()
    print(ATTACKS[given.attack](given.port, time.monotonic() + given.seconds))


if __name__ == "__main__":
    main()
