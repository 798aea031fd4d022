#pragma once

#include "host/stacks/stack.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// The file's name, without its path; empty: of no file.
std::string_view module_name(const StackFrame& frame);

/// Of a library of an MPI, or of a wrapper that belongs to none of its callers: the C++ binding.
bool is_mpi_frame(const StackFrame& frame);
/// Of the C library, the run-time libraries of compilers, or the kernel's vDSO; where they are
/// linked into the program, only what begins it and its threads.
bool is_runtime_frame(const StackFrame& frame);
/// Of mpi4py's compiled module.
bool is_mpi4py_frame(const StackFrame& frame);

/// "mpi4py.MPI.Comm.Recv", or "mpi4py" where the module has no symbols.
std::string mpi4py_function(const StackFrame& frame);

} // namespace mqbridge
