"""Numbers of layers and heads as people see them, in tables, figures, widgets and messages.

Inside, in tensors, records and arguments, both are indices from 0.
"""

FIRST = 1
"""The number of the first layer and the first head; the widgets' JavaScript is given it, too."""


def layer_name(layer: int) -> str:
    """Return the name of the layer with an index, such as `layer 3`."""
    return f"layer {layer + FIRST}"


def head_name(layer: int, head: int) -> str:
    """Return the name of a head of a layer, such as `layer 3, head 2`."""
    return f"{layer_name(layer)}, head {head + FIRST}"


def head_number(layer: int, head: int) -> str:
    """Return the short name of a head, `layer.head`, such as `3.2`."""
    return f"{layer + FIRST}.{head + FIRST}"
