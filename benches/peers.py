"""What the scripts that time libraries of Python share. It is imported before those, to have them use one thread."""

import importlib
import os
import sys
import time

for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "BLOSC_NTHREADS",
):
    os.environ[variable] = "1"

QUICK = "--quick" in sys.argv


def optional(name):
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def needed(name):
    """A module without which nothing is timed."""
    module = optional(name)
    if module is None:
        print(f"{name} is not installed: nothing is timed")
        sys.exit(0)
    return module


def part(count):
    return count // 100 if QUICK else count


def seconds(run, repeats=1):
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats
