"""The recorder's list (dll/recorder/layout.h) as a debugger's script reads it: with the struct module, each node by
one read."""

import struct

ROOT_SYMBOL = "mqbridge_recorder"
_ROOT_MAGIC = 0x4D515252


class Layout:
    """Where the fields are, in the byte order of the target; their offsets are the same on every platform."""

    def __init__(self, order):
        self.root = struct.Struct(order + "IHHHHHHIIQII")
        self.list = struct.Struct(order + "QII")
        self.node = struct.Struct(order + "IIQ")
        # node, status, flags, peer, peer_world, tag, actual_peer, actual_peer_world, actual_tag, length,
        # actual_length, buffer
        self.operation = struct.Struct(order + "IIQIIiiiiiiQQQ")


def order_of(root):
    """By the magic number of the root's first bytes. ValueError: there is no recorder."""
    for order in "<>":
        if struct.unpack(order + "I", root[:4]) == (_ROOT_MAGIC,):
            return order
    raise ValueError(f"no recorder at {ROOT_SYMBOL}")


def walk(read, root_address, answer):
    """All queues. `read(address, size)` gives bytes."""
    root = read(root_address, 40)
    layout = Layout(order_of(root))
    communicator = layout.root.unpack(root)[9]
    while communicator:
        node = read(communicator, 112)
        for op_class in range(3):
            first = layout.list.unpack_from(node, 64 + 16 * op_class)[0]
            answer.begin_queue(op_class)
            walk_queue(read, layout.operation, first, answer)
        communicator = layout.node.unpack_from(node)[2]


def walk_queue(read, operation, address, answer):
    size, unpack, add = operation.size, operation.unpack, answer.add
    while address:
        fields = unpack(read(address, size))
        address = fields[2]
        add(fields[13], fields[7], fields[4] & 1)
