#include "host/stacks/thread_beginnings.h"

#include <algorithm>
#include <array>

namespace mqbridge {

bool begins_thread(std::string_view function) {
  constexpr auto beginnings = std::to_array<std::string_view>(
      {"_start", "__start", "_start_c", "generic_start_main", "clone", "__clone", "__clone2",
       "clone3", "__clone3", "__clone_internal", "__GI___clone", "start_thread", "thread_start",
       "__thread_start"});
  return function.starts_with("__libc_start_") ||
         std::ranges::find(beginnings, function) != beginnings.end();
}

} // namespace mqbridge
