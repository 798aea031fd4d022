#pragma once

#include "host/stacks/stack.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// The name of the frame's file, without its path; empty: it is in no file.
std::string_view module_name(const StackFrame& frame);

/// Whether the frame is in a library of an MPI, or in a wrapper that belongs to none of its
/// callers: the C++ binding.
bool is_mpi_frame(const StackFrame& frame);
/// Whether it is in the C library, the run-time libraries of compilers, or the kernel's vDSO. If
/// these are linked into the program, only the functions that begin the program and its threads
/// count.
bool is_runtime_frame(const StackFrame& frame);
/// Whether it is in mpi4py's compiled module.
bool is_mpi4py_frame(const StackFrame& frame);

/// The path of the object that has Python's interpreter; empty: of no function of Python it is
/// known that these frames, innermost first, have it.
std::string_view interpreter_of(std::span<const StackFrame> frames);
/// Whether the frame only runs functions of Python, which are frames, too: it is the interpreter's,
/// or mpi4py's.
bool only_runs_python(const StackFrame& frame, std::string_view interpreter);

/// "mpi4py.MPI.Comm.Recv", or "mpi4py" where the module has no symbols.
std::string mpi4py_function(const StackFrame& frame);

} // namespace mqbridge
