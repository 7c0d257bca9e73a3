"""Ctrl-C that Python would lose is raised again.

An exception in a destructor or in a callback from C has nobody to go to: Python prints it and goes
on. LLVM calls back for every function that numba compiles, so Ctrl-C while kernels are compiled was
lost now and then.
"""

import _thread
import signal
import sys
import threading

AGAIN = 0.05  # seconds, by when the callback has returned


def raise_lost_interrupts() -> None:
    """From now on a `KeyboardInterrupt` that has nobody to go to strikes again a moment later."""
    before = sys.unraisablehook

    def hook(lost: "sys.UnraisableHookArgs", /) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            before(lost)
            return
        again = threading.Timer(AGAIN, _interrupt_main)
        again.daemon = True  # it does not keep a program that ends meanwhile
        again.start()

    sys.unraisablehook = hook


def _interrupt_main() -> None:
    """Send SIGINT to the main thread, which wakes it; where threads get none, it waits its turn."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()
