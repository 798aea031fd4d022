"""The MQD interface (dll/mqs_interface.h) for ctypes: what passes between a host and a debug DLL."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p

OK = 0
NO_INFORMATION = 1
END_OF_LIST = 2
FAILED = 100  # mqs_first_user_code
OP_CLASSES = (0, 1, 2)


class TypeSizes(Structure):
    _fields_ = [(name, c_int) for name in ("short", "int", "long", "long_long", "pointer")]


class Communicator(Structure):
    _fields_ = [("unique_id", c_uint64), ("local_rank", c_int64), ("size", c_int64), ("name", c_char * 64)]


class Operation(Structure):
    _fields_ = [
        ("status", c_int), ("desired_local_rank", c_int64), ("desired_global_rank", c_int64), ("tag_wild", c_int),
        ("desired_tag", c_int64), ("desired_length", c_int64), ("system_buffer", c_int), ("buffer", c_uint64),
        ("actual_local_rank", c_int64), ("actual_global_rank", c_int64), ("actual_tag", c_int64),
        ("actual_length", c_int64), ("extra_text", (c_char * 64) * 5),
    ]


def _table(name, entries):
    return type(name, (Structure,), {"_fields_": entries})


BasicCallbacks = _table("BasicCallbacks", [
    ("malloc", CFUNCTYPE(c_void_p, c_size_t)),
    ("free", CFUNCTYPE(None, c_void_p)),
    ("dprints", CFUNCTYPE(None, c_char_p)),
    ("errorstring", CFUNCTYPE(c_void_p, c_int)),
    ("put_image_info", CFUNCTYPE(None, c_void_p, c_void_p)),
    ("get_image_info", CFUNCTYPE(c_void_p, c_void_p)),
    ("put_process_info", CFUNCTYPE(None, c_void_p, c_void_p)),
    ("get_process_info", CFUNCTYPE(c_void_p, c_void_p)),
])

ImageCallbacks = _table("ImageCallbacks", [
    ("get_type_sizes", CFUNCTYPE(None, c_void_p, POINTER(TypeSizes))),
    ("find_function", CFUNCTYPE(c_int, c_void_p, c_char_p, c_int, POINTER(c_uint64))),
    ("find_symbol", CFUNCTYPE(c_int, c_void_p, c_char_p, POINTER(c_uint64))),
    ("find_type", CFUNCTYPE(c_void_p, c_void_p, c_char_p, c_int)),
    ("field_offset", CFUNCTYPE(c_int, c_void_p, c_char_p)),
    ("sizeof", CFUNCTYPE(c_int, c_void_p)),
])

ProcessCallbacks = _table("ProcessCallbacks", [
    ("get_global_rank", CFUNCTYPE(c_int, c_void_p)),
    ("get_image", CFUNCTYPE(c_void_p, c_void_p)),
    ("fetch_data", CFUNCTYPE(c_int, c_void_p, c_uint64, c_int, c_void_p)),
    ("target_to_host", CFUNCTYPE(None, c_void_p, c_void_p, c_void_p, c_int)),
])


def load(path):
    """A debug DLL with its entry points declared. OSError: it cannot be loaded."""
    dll = ctypes.CDLL(path)
    text = POINTER(c_char_p)
    for name, arguments in {
            "mqs_setup_basic_callbacks": [POINTER(BasicCallbacks)],
            "mqs_setup_image": [c_void_p, POINTER(ImageCallbacks)],
            "mqs_image_has_queues": [c_void_p, text],
            "mqs_setup_process": [c_void_p, POINTER(ProcessCallbacks)],
            "mqs_process_has_queues": [c_void_p, text],
            "mqs_update_communicator_list": [c_void_p],
            "mqs_setup_communicator_iterator": [c_void_p],
            "mqs_get_communicator": [c_void_p, POINTER(Communicator)],
            "mqs_next_communicator": [c_void_p],
            "mqs_setup_operation_iterator": [c_void_p, c_int],
            "mqs_next_operation": [c_void_p, POINTER(Operation)],
    }.items():
        getattr(dll, name).argtypes = arguments
    dll.mqs_setup_basic_callbacks.restype = None
    return dll
