#pragma once

#include "host/memory/address.h"
#include "host/process/address_space.h"
#include "host/stacks/python/python_layout.h"
#include "host/stacks/python/python_stack.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge {

/// The types by which Python's objects are told from anything else.
struct PythonTypes {
  TargetAddress code;
  TargetAddress text;
  TargetAddress bytes;
  std::optional<TargetAddress> frame = {}; ///< needed where frames are objects
};

struct PythonThreads {
  std::vector<PythonThread> threads; ///< those in Python whose frames were read as a whole
  std::size_t lost = 0;              ///< other threads: damaged, or too deep
};

/// Reads what all threads do in Python, and what the functions are called. `interpreter`: the
/// address of the first one. Errors: those of Memory.
Result<PythonThreads> read_python(const AddressSpace& space, const PythonLayout& layout,
                                  std::uint64_t interpreter, const PythonTypes& types);

} // namespace mqbridge
