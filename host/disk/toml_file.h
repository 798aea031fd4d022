#pragma once

#include "rsp/result.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <toml++/toml.h>
#include <utility>

namespace mqbridge {

// A configuration in TOML. In a header alone: only the rooms that read one are linked with the
// library.

/// Names what is wrong in such a file, with its line.
class TomlFaults {
public:
  explicit TomlFaults(std::filesystem::path path) : path_(std::move(path)) {}

  Failure unknown_key(const toml::key& key, std::string hint) const {
    return fail("config.unknown_key",
                fmt::format("{}: the key \"{}\" is not known", where(key.source()), key.str()),
                std::move(hint));
  }
  Failure wrong_value(const toml::node& value, std::string_view key,
                      std::string_view expected) const {
    return fail("config.value",
                fmt::format("{}: \"{}\" is not {}", where(value.source()), key, expected),
                fmt::format("write {} there", expected));
  }

private:
  std::string where(const toml::source_region& source) const {
    return fmt::format("{}:{}", path_.string(), source.begin.line);
  }

  std::filesystem::path path_;
};

/// `example`: what such a file may have. Errors: config.open, config.syntax.
inline Result<toml::table> read_toml(const std::filesystem::path& path, std::string_view example) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();
  if (!file.is_open() || file.bad() || (text.str().empty() && errno != 0))
    return fail("config.open", fmt::format("{}: {}", path.string(), std::strerror(errno)),
                "name a file that can be read after --config");
  try {
    return toml::parse(text.str());
  } catch (const toml::parse_error& error) {
    return fail(
        "config.syntax",
        fmt::format("{}:{}: {}", path.string(), error.source().begin.line, error.description()),
        fmt::format("write TOML, for example: {}", example));
  }
}

} // namespace mqbridge
