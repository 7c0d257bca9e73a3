"""The peak of a program's memory, as a function for scripts that run in a process of their own."""

PEAK = '''
def peak_memory():
    """Bytes that this program has held at most."""
    import pathlib, sys
    status = pathlib.Path("/proc/self/status")
    if status.exists():  # ru_maxrss of Linux begins with the peak of the process that started us
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    import resource
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
'''
