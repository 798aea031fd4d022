#include "host/process/core/core_path.h"

#include <fmt/format.h>
#include <string>
#include <system_error>

namespace mqbridge {
namespace {

bool exists(std::string_view name) {
  std::error_code error;
  return !name.empty() && std::filesystem::exists(name, error);
}

/// The place of the '@' that ends the core's name; npos: all of `text` is the name.
std::size_t end_of_core(std::string_view text) {
  if (exists(text))
    return std::string_view::npos;
  for (auto at = text.rfind('@'); at != std::string_view::npos && at > 0;
       at = text.rfind('@', at - 1)) {
    if (exists(text.substr(0, at)))
      return at;
  }
  return text.rfind('@');
}

} // namespace

Result<CorePath> parse_core_path(std::string_view text) {
  const auto end = end_of_core(text);
  const auto core = text.substr(0, end);
  const auto executable = end == std::string_view::npos ? "" : text.substr(end + 1);
  if (core.empty() || (end != std::string_view::npos && executable.empty()))
    return fail("target.syntax",
                fmt::format("core:{}: it names no {}", text,
                            core.empty() ? "core file" : "executable behind the @"),
                "give the core file, and the executable if the core does not find it: "
                "core:FILE@EXECUTABLE");
  CorePath path{core, std::nullopt};
  if (!executable.empty())
    path.executable = executable;
  return path;
}

} // namespace mqbridge
