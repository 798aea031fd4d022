#include "host/mpi/helper_threads.h"

#include "host/mpi/mpi_support.h"
#include "host/mpi/program_frames.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mqbridge {
namespace {

/// Libraries that run threads of their own for any MPI, by the beginnings of their names:
/// launchers' interfaces, transports, drivers of networks and graphics cards.
constexpr auto common_libraries = std::to_array<std::string_view>(
    {"libpmi", "libucs", "libuct", "libucp", "libucm", "libfabric", "libpsm", "libibverbs",
     "librdmacm", "libevent", "libhwloc", "libcuda", "libmlx", "libefa"});

/// Functions that begin such threads, for libraries that are linked into the program. A program has
/// no function of its own with such a name.
constexpr auto common_functions = std::to_array<std::string_view>({"ucs_async_thread_func"});

bool starts_helper(const StackFrame& first, Names libraries, Names functions) {
  const auto module = module_name(first);
  return std::ranges::count(functions, first.c_function()) != 0 ||
         std::ranges::any_of(libraries, [&](auto one) { return module.starts_with(one); });
}

} // namespace

bool is_helper(const ThreadStack& stack) {
  if (stack.end != StackEnd::outermost)
    return false;
  const auto first = std::find_if_not(stack.frames.rbegin(), stack.frames.rend(), is_runtime_frame);
  if (first == stack.frames.rend())
    return false;
  return is_mpi_frame(*first) || starts_helper(*first, common_libraries, common_functions) ||
         std::ranges::any_of(known_mpis(), [&](const auto* mpi) {
           const auto& helpers = mpi->facts().helpers;
           return starts_helper(*first, helpers.library_beginnings, helpers.functions);
         });
}

} // namespace mqbridge
