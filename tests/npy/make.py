"""Writes the .npy fixtures of this directory with NumPy; see README.md.

Usage: python make.py    (needs only numpy; the output goes next to this file)
"""
import os
import numpy as np
from numpy.lib import format as npy

HERE = os.path.dirname(os.path.abspath(__file__))


def pattern(dtype, shape):
    """The values in row-major order; computed in integers, then converted."""
    dtype = np.dtype(dtype)
    i = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64)
    if dtype.kind == "b":
        v = i % 3 == 0
    elif dtype.kind == "u":
        v = i * 7 % 23
    elif dtype.kind == "c":
        p = i * 7 % 23 - 11
        v = np.empty(i.shape, np.complex128)
        v.real = p
        v.imag = -p  # an integer negation: zero stays +0.0
    else:
        v = i * 7 % 23 - 11
    return v.astype(dtype).reshape(shape)


def write(name, array, version=(1, 0)):
    with open(os.path.join(HERE, name + ".npy"), "wb") as f:
        npy.write_array(f, array, version=version)


SHAPE = (2, 3, 4)
for t in ["b1", "i1", "u1"]:
    a = pattern(t, SHAPE)
    name = "bool" if t == "b1" else t
    write(name + "_c", a)
    write(name + "_f", np.asfortranarray(a))
for t in ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
    for mark, end in [("<", "le"), (">", "be")]:
        a = pattern(mark + t, SHAPE)
        write(f"{t}_{end}_c", a)
        write(f"{t}_{end}_f", np.asfortranarray(a))

write("rank0", pattern("<f8", ()))
write("rank1", pattern("<f8", (7,)))
write("empty", pattern("<f8", (0, 3)))
write("rank5", pattern("<i2", (2, 1, 3, 2, 4)))
write("rank5_f", np.asfortranarray(pattern("<i2", (2, 1, 3, 2, 4))))

write("v1", pattern("<f8", SHAPE), (1, 0))
write("v2", pattern("<f8", SHAPE), (2, 0))
write("v3", pattern("<f8", SHAPE), (3, 0))

# Outside the numeric types; structured and object are to be refused by a reader.
s = np.zeros(3, dtype=[("a", "<i4"), ("b", "<f8")])
s["a"] = [1, 2, 3]
s["b"] = [0.5, 1.5, 2.5]
write("structured", s)
write("object", np.array([1, "two", None], dtype=object))
write("unicode", np.array(["ab", "cdef", ""], dtype="<U4"))
