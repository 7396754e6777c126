"""Random programs over ragged tensors, with the results of awkward-array, as vectors for `tests/vectors.rs`.

    pip install awkward
    python tests/data/ragged_programs.py FOLDER [PROGRAMS [SEED]]
    LENSOR_VECTORS=FOLDER cargo test --release --test vectors -- --nocapture

Only what means the same in both is drawn: awkward aligns axes of different depth otherwise, and refuses other things. All elements are small integers, so that results are equal, not close.
"""

import json
import random
import sys
from pathlib import Path

import awkward as ak
import numpy as np


class Program:
    """A program so far: its text, its value, and the extents of its axes."""

    def __init__(self, text, value, form):
        self.text, self.value, self.form = text, value, form

    @property
    def last(self):
        return len(self.form) - 1

    def is_ragged(self):
        return "var" in self.form


def leaf(name, inputs):
    """An input with one or two var axes, and perhaps a fixed one behind."""
    form = [random.randint(0, 5)] + ["var"] * random.choice([1, 1, 2]) + random.choice([[], [], [2]])

    def draw(form):
        if not form:
            return random.randint(-9, 9)
        count = random.choice([0, 1, 2, 3, 9]) if form[0] == "var" else form[0]
        return [draw(form[1:]) for _ in range(count)]

    rows = draw(form)
    inputs[name] = {"dtype": "i64", "form": form, "rows": rows}
    # From the innermost axis outwards, as empty lists say nothing of what would lie in them.
    flat = rows
    counts = []
    for _ in form[1:]:
        counts.append(np.array([len(row) for row in flat], np.int64))
        flat = [item for row in flat for item in row]
    value = ak.Array(np.array(flat, np.int64))
    for own, extent in reversed(list(zip(counts, form[1:]))):
        value = ak.unflatten(value, own) if extent == "var" else ak.to_regular(ak.unflatten(value, own), axis=1)
    return Program(name, value, form)


def elementwise(p, inputs):
    kind = random.choice(["neg", "abs", "number", "self", "column"])
    call = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum}
    name = random.choice(list(call))
    if kind in ("neg", "abs"):
        return Program([kind, p.text], {"neg": np.negative, "abs": np.abs}[kind](p.value), p.form)
    if kind == "number":
        number = random.randint(-5, 5)
        return Program([name, p.text, number], call[name](p.value, number), p.form)
    if kind == "column" and len(p.form) == 2:
        column = [random.randint(-9, 9) for _ in range(p.form[0])]
        own = f"d{len(inputs)}"
        inputs[own] = {"dtype": "i64", "shape": [p.form[0], 1], "data": column}
        other = ak.Array(np.array(column, np.int64).reshape(-1, 1))
        return Program([name, p.text, own], call[name](p.value, other), p.form)
    other = Program(["mul", p.text, -1], p.value * -1, p.form)
    return Program([name, p.text, other.text], call[name](p.value, other.value), p.form)


def at(axis, selector):
    return (slice(None),) * axis + (selector,)


def view(p, _inputs):
    axis = random.randint(0, p.last)
    kind = random.choice(["clip", "flip", "list", "integer", "keep", "concat", "nest", "flatten"])
    if kind == "clip" and p.form[axis] == "var":
        start, stop = random.choice([None, 0, 1, 2]), random.choice([None, 0, 1, 2, 5])
        if start is not None and stop is not None and stop < start:
            return p
        value = p.value[at(axis, slice(start, stop))]
        return Program(["clip", p.text, axis, {"range": [start, stop, 1]}], value, p.form)
    if kind == "flip":
        return Program(["flip", p.text, axis], p.value[at(axis, slice(None, None, -1))], p.form)
    if kind == "list" and p.form[0] != "var" and p.form[0] > 0:
        rows = [random.randrange(p.form[0]) for _ in range(random.randint(1, 4))]
        return Program(["select", p.text, rows], p.value[rows], [len(rows)] + p.form[1:])
    if kind == "integer" and p.form[1] == "var" and p.form[0] > 0 and ak.min(ak.num(p.value, axis=1)) > 0:
        return Program(["select", p.text, "all", 0], p.value[:, 0], [p.form[0]] + p.form[2:])
    if kind == "keep" and p.form[-1] == "var":
        number = random.randint(-5, 5)
        mask = ["less", p.text, number]
        return Program(["keep", p.text, p.last, mask], p.value[p.value < number], p.form)
    if kind == "concat":
        axis = random.randint(0, 1)
        form = list(p.form)
        form[axis] = "var" if form[axis] == "var" else 2 * form[axis]
        other = ["add", p.text, 1]
        return Program(["concat", axis, p.text, other], ak.concatenate([p.value, p.value + 1], axis=axis), form)
    if kind == "nest" and len(p.form) < 4:
        cut = random.randint(0, p.form[0])
        value = ak.unflatten(p.value, [cut, 0, p.form[0] - cut], axis=0)
        return Program(["nest", [3], [0, cut, cut, p.form[0]], p.text], value, [3, "var"] + p.form[1:])
    if kind == "flatten" and p.form[1] == "var":
        value = ak.flatten(p.value, axis=1)
        return Program(["flatten", p.text, 1], value, [len(value)] + p.form[2:])
    return p


def order(p, _inputs):
    if p.form[-1] != "var":
        return p
    if random.random() < 0.5:
        return Program(["argsort", p.text, {"axis": p.last}], ak.argsort(p.value, axis=-1, stable=True), p.form)
    falling = random.random() < 0.5
    value = ak.sort(p.value, axis=-1, ascending=not falling)
    return Program(["sort", p.text, {"axis": p.last, "descending": falling}], value, p.form)


def fold(p):
    """Ends a program: a fold of the last axis or the first one, or padding."""
    kind = random.choice(["sum", "prod", "min_over", "max_over", "argmin", "argmax", "padded", "first"])
    keepdims = random.random() < 0.3
    if kind == "first" and p.form[1:] == ["var"]:
        value = ak.sum(p.value, axis=0)
        return Program(["sum", p.text, {"axes": [0], "keepdims": False}], value, ["var"])
    if p.form[-1] != "var":
        return p
    if kind == "padded" and len(p.form) == 2:
        extent = int(ak.max(ak.num(p.value, axis=1))) if len(p.value) > 0 else 0
        value = ak.fill_none(ak.pad_none(p.value, extent, axis=1, clip=True), -7)
        return Program(["padded", p.text, 1, None, -7], value, [p.form[0], extent])
    names = {"min_over": ak.min, "max_over": ak.max, "argmin": ak.argmin, "argmax": ak.argmax}
    options = {"axes": [p.last], "keepdims": keepdims}
    form = p.form[:-1] + ([1] if keepdims else [])
    if kind == "prod":
        small = Program(["min", ["max", p.text, -2], 2], np.minimum(np.maximum(p.value, -2), 2), p.form)
        return Program(["prod", small.text, options], ak.prod(small.value, axis=-1, keepdims=keepdims), form)
    if kind in names:
        value = ak.fill_none(names[kind](p.value, axis=-1, keepdims=keepdims, mask_identity=True), -1)
        return Program([kind, p.text, {**options, "or": -1}], value, form)
    return Program(["sum", p.text, options], ak.sum(p.value, axis=-1, keepdims=keepdims), form)


def expected(p):
    rows = ak.to_list(p.value)
    if p.is_ragged():
        return {"dtype": "i64", "form": p.form, "rows": rows}
    data = np.array(rows, np.int64).ravel().tolist()
    return {"dtype": "i64", "shape": p.form, "data": data}


def main():
    folder, count = Path(sys.argv[1]), int((sys.argv[2:] or [1000])[0])
    random.seed(int((sys.argv[3:] or [0])[0]))
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "ragged.jsonl", "w") as lines:
        for number in range(count):
            inputs = {}
            p = leaf("a", inputs)
            for _ in range(random.randint(1, 4)):
                if p.is_ragged() and p.form[0] != "var":
                    p = random.choice([elementwise, elementwise, view, view, view, order])(p, inputs)
            if p.is_ragged() and p.form[0] != "var" and random.random() < 0.6:
                p = fold(p)
            if p.text == "a":
                continue
            program = {"name": f"awkward-{number}", "inputs": inputs, "program": p.text, "tol": 0}
            lines.write(json.dumps({**program, "expect": expected(p)}) + "\n")


if __name__ == "__main__":
    main()
