#include "host/disk/text_file.h"

#include <fmt/format.h>
#include <fstream>

namespace mqbridge {

Result<std::string> read_text_file(std::string_view path, std::size_t limit) {
  std::ifstream file{std::string(path), std::ios::binary};
  std::string text(limit, '\0');
  file.read(text.data(), static_cast<std::streamsize>(limit));
  if (!file.is_open() || file.bad())
    return fail("file.read", fmt::format("cannot read {}", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

} // namespace mqbridge
