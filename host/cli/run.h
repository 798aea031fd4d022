#pragma once

#include <span>
#include <string_view>

namespace mqbridge {

/// The whole program. `arguments` without the program's name. Returns the exit status of
/// docs/reference/cli.md. Results go to stdout or -o, everything else to stderr. Call it once, from
/// the main thread, before any other thread was started: it sets up the process's signals.
/// `version` is a number, which documents name too; `build` is for people.
int run(std::span<const char* const> arguments, std::string_view version, std::string_view build);

} // namespace mqbridge
