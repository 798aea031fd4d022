#include "host/mpi/helper_threads.h"

#include "host/mpi/program_frames.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mqbridge {
namespace {

/// How the names of libraries begin that run threads of their own beside those of the MPI itself:
/// run-time systems, transports, drivers of networks and graphics cards.
constexpr std::array<std::string_view, 18> libraries = {
    "libopen-",  "libpmix",  "libprrte", "libpmi",    "mca_",   "libucs",
    "libuct",    "libucp",   "libucm",   "libfabric", "libpsm", "libibverbs",
    "librdmacm", "libevent", "libhwloc", "libcuda",   "libmlx", "libefa"};

/// The same where they are linked into the program. No name that a program may have for itself.
constexpr auto functions = std::to_array<std::string_view>(
    {"orte_progress_thread_engine", "ucs_async_thread_func", "MPIDI_OFI_progress_thread"});

} // namespace

bool is_helper(const ThreadStack& stack) {
  if (stack.end != StackEnd::outermost)
    return false;
  const auto first = std::find_if_not(stack.frames.rbegin(), stack.frames.rend(), is_runtime_frame);
  if (first == stack.frames.rend())
    return false;
  if (first->function && std::ranges::find(functions, *first->function) != functions.end())
    return true;
  const auto name = module_name(*first);
  return is_mpi_frame(*first) ||
         std::ranges::any_of(libraries, [&](auto one) { return name.starts_with(one); });
}

} // namespace mqbridge
