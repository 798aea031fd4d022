#include "host/mpi/helper_threads.h"

#include "host/mpi/mpi_support.h"

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

/// The same where they are linked into the program.
constexpr std::array<std::string_view, 6> functions = {
    "progress_engine",       "pmix_progress_engine", "orte_progress_thread_engine",
    "ucs_async_thread_func", "listen_thread",        "MPIDI_OFI_progress_thread"};

/// What the C library starts every thread with.
bool begins_threads(const StackFrame& frame) {
  constexpr std::array<std::string_view, 4> c_library = {"libc.so", "libc-", "libpthread", "ld-"};
  constexpr std::array<std::string_view, 6> starts = {
      "start_thread", "__libc_start_call_main", "clone", "clone3", "__clone", "thread_start"};
  const auto path = std::string_view(frame.module ? *frame.module : "");
  const auto name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
  return std::ranges::any_of(c_library, [&](auto one) { return name.starts_with(one); }) ||
         (frame.function && std::ranges::find(starts, *frame.function) != starts.end());
}

} // namespace

bool is_helper(const ThreadStack& stack) {
  if (stack.end != StackEnd::outermost)
    return false;
  const auto first = std::find_if_not(stack.frames.rbegin(), stack.frames.rend(), begins_threads);
  if (first == stack.frames.rend())
    return false;
  if (first->function && std::ranges::find(functions, *first->function) != functions.end())
    return true;
  if (!first->module)
    return false;
  const std::string_view name =
      std::string_view(*first->module).substr(first->module->rfind('/') + 1);
  return mpi_libraries().have(*first->module) ||
         std::ranges::any_of(libraries, [&](auto one) { return name.starts_with(one); });
}

} // namespace mqbridge
