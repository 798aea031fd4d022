#pragma once

#include "host/stacks/python/python_stack.h"
#include "host/stacks/unwind.h"
#include "rsp/result.h"

#include <span>
#include <vector>

namespace mqbridge {

/// Puts the functions of Python before those in C that run them, as inlined functions are put:
/// with the same address. Where a thread's stack in C does not fit to what it does in Python, it
/// stays as it is, and a warning says so (python.damaged).
void merge_python(std::span<const PythonThread> python, std::vector<UnwoundThread>& threads,
                  Warnings& warnings);

} // namespace mqbridge
