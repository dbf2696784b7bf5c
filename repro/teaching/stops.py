"""Explain how a call stopped: not written, too slow, or one of the usual first errors."""

import re

from repro.teaching.observing import TOO_LONG, Stop

EXPLANATIONS = {
    r"RuntimeError: mat1 and mat2 shapes cannot be multiplied|"
    r"RuntimeError: (inconsistent tensor size|size mismatch|Expected size for first two)|"
    r"ValueError: matmul": (
        "`a @ b` multiplies rows of `a` by columns of `b`, so the width of `a` must be the height "
        "of `b`. Is a transpose missing: `b.T`, or `b.mT` for a stack of matrices?"
    ),
    r"RuntimeError: einsum\(\): subscript": (
        "In `einsum` the same letter stands for the same axis, and here it names axes of different "
        "length. Rows of both are vectors of one width: `'qd,kd->qk'`, where the second is "
        "transposed by its letters."
    ),
    r"only (one element|length-1|0-dimensional)|cannot be converted to Scalar|"
    r"with \d+ elements cannot be converted": (
        "A function of `math`, `float` and `int` takes one number, and this is a tensor of many. "
        "Take torch's own: `torch.exp(x)`, `torch.log(x)`, `x.sqrt()`."
    ),
    r"must be Tensor, not (int|float)": (
        "A function of `torch` takes a tensor, and this is a plain number. Take `math.sqrt(n)`, "
        "`math.exp(x)` or `n ** 0.5`."
    ),
    r"IndexError: (index|list index|string index|tuple index).*out of": (
        "The index is past the border: a place outside the sentence does not exist. Ask first, "
        "`0 <= j < length`; and mind that -1 is the last entry in Python. Or has what you fill "
        "its axes in another order than you go through them?"
    ),
    r"Boolean value of Tensor|truth value of an array": (
        "`if`, `and`, `min`, `max` and `a < x < b` want one truth value, and a tensor has one for "
        "each number. Take `x.clamp(low, high)`, `torch.where`, and `&`, `|`, `~` for masks."
    ),
    r"must match the size of tensor|could not be broadcast|not broadcastable|"
    r"doesn't match the broadcast shape": (
        "Two shapes do not fit side by side. An axis that is missing is added at the front; to "
        "pair every row with every column, make one of them a column: `i[:, None]`. To divide by "
        "sums of rows, keep their axis: `keepdim=True`."
    ),
    r"The shape of the mask|mask.*shape": (
        "The mask has another shape than what it masks. Each axis must be equal, or 1."
    ),
    r"expected (scalar type|m1 and m2)|same dtype|result type .* can't be cast|"
    r"can only be floating point|not implemented for '(Long|Int|Bool)'|Input dtype must be": (
        "Whole numbers, truth values and fractions do not mix here. Make them fractions first: "
        "`x.float()`; for a mask, `x.bool()`."
    ),
    r"tensors used as (indices|indexes)|must be long|(slice|tuple|string) indices must be integers|"
    r"object cannot be interpreted as an integer|slice indices": (
        "A place or a size must be a whole number. `/` makes a fraction of whole numbers; `//` "
        "and `int` do not, and `x.long()` makes places of a tensor."
    ),
    r"shape '.*' is invalid for input of size|cannot reshape": (
        "The shape that you ask for has another count of numbers than there are. Multiply its "
        "parts and compare."
    ),
    r"view size is not compatible": (
        "After a transpose the numbers do not lie in that order, so `view` cannot. `reshape` can."
    ),
    r"Dimension out of range|axis .* is out of bounds|too many indices": (
        "There is no such axis: axes count from 0, and -1 is the last. Print the shape."
    ),
    r"NameError: name '(\w+)' is not defined|UnboundLocalError|referenced before assignment": (
        "A name is used before it has a value. Is the import missing, the cell above not run, or "
        "the name misspelled?"
    ),
    r"TypeError: .*(positional argument|unexpected keyword)": (
        "The number of arguments is wrong. Compare with the `def` of the exercise, and with the "
        "functions that you call."
    ),
    r"AttributeError: '(int|float|list|str|tuple|NoneType)' object has no attribute": (
        "This is no tensor. `torch.tensor(...)` and `torch.arange(n)` make one; a function "
        "without `return` gives None."
    ),
    r"AttributeError": "The object has no such name. Is it misspelled, or of another library?",
    r"'(int|float)' object is not (iterable|subscriptable)|type '(int|float)' has no len": (
        "This is one number, not a row of them. To go through 0, 1, 2, ... write `range(n)`; to "
        "have them as a tensor, `torch.arange(n)`."
    ),
    r"step must be greater than zero": (
        "A tensor cannot be read backwards with `[::-1]`. `x.flip(0)` turns the first axis round."
    ),
    r"must be tuple of ints": (
        "Here a shape is wanted, not a number: `(n,)` or `[n]`, even for a single axis."
    ),
    r"stack expects each tensor to be equal size": (
        "`torch.stack` puts tensors of one shape on each other, and these differ. `torch.cat` puts "
        "them one after another; a sum over a Python list needs neither."
    ),
    r"only integer scalar arrays can be converted|list indices must be integers": (
        "A Python list takes one whole number as its index. An array or a tensor takes many: "
        "`np.asarray(x)[indices]`."
    ),
    r"PermissionError: refused while grading": (
        "While it is graded, a notebook may not read or change what is outside its own folder."
    ),
    r"unsupported operand": (
        "These two kinds do not go together. Is one of them None, a list, or a text? "
        "`torch.tensor(...)` makes a tensor of a list."
    ),
    r"ZeroDivisionError": "You divide by 0. Which case has nothing to divide by, and what then?",
    r"RecursionError": "The function calls itself without an end.",
    r"(Can't call numpy|leaf Variable)": (
        "This number is learned. Stay with torch functions that make new tensors: nothing in "
        "place, no `numpy()`, no `float()`."
    ),
    r"MemoryError|can't allocate memory|not enough memory": (
        "It asks for more memory than there is. A small input needs hardly any: does a size grow "
        "in a loop?"
    ),
    r"ValueError: (too many|not enough) values to unpack": (
        "As many names must be left of `=` as there are values right of it. Print the shape."
    ),
    r"KeyError": "The dictionary has no such key. Print its keys.",
}


UNUSUAL = (
    "Python cannot do what this line asks for. Call the function in a cell of its own with the "
    "arguments below, and print the type and the shape of each part of the line."
)


def not_written(stop: Stop, name: str) -> str | None:
    """Name the function that is not written yet; None for another stop.

    Torch's errors of the same type have a text.
    """
    if stop.kind != "NotImplementedError" or stop.message:
        return None
    if stop.function == name:
        return "not written yet"
    return f"calls `{stop.function}`, which is not written yet"


def describe(stop: Stop) -> str:
    """Say what the usual reason of a stop is, where it is known, and in which line it stopped."""
    place = f" in line {stop.line}" if stop.line else ""
    if stop.kind == TOO_LONG:
        return f"still runs{place} after {stop.message} seconds; does every loop end?"
    said = f"stops{place} with {stop.kind}: {stop.message}"
    return f"{explain(stop) or UNUSUAL}\n{said}"


def explain(stop: Stop) -> str | None:
    """Return the usual reason of an error, if it is a usual one."""
    error = f"{stop.kind}: {stop.message}"
    return next((text for pattern, text in EXPLANATIONS.items() if re.search(pattern, error)), None)
