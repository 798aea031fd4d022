#include "host/bridge/guesses.h"

#include "rsp/packet/hex.h"

namespace mqbridge {

std::vector<std::string> libraries_in(std::string_view list) {
  constexpr std::string_view name = " name=\"";
  constexpr std::size_t most = 200;
  std::vector<std::string> paths;
  for (auto at = list.find(name); at != list.npos && paths.size() < most;
       at = list.find(name, at)) {
    at += name.size();
    const auto path = list.substr(at, list.find('"', at) - at);
    if (path.starts_with('/') && path.find('&') == path.npos) // no character that XML escapes
      paths.emplace_back(path);
  }
  return paths;
}

std::vector<std::string> debug_files_of(std::string_view path, std::string_view beginning) {
  // NT_GNU_BUILD_ID of 20 bytes: the end of the note's header in either byte order, and its name.
  constexpr std::string_view little("\x14\0\0\0\x03\0\0\0GNU\0", 12);
  constexpr std::string_view big("\0\0\0\x14\0\0\0\x03GNU\0", 12);
  constexpr std::size_t size = 20;
  auto at = beginning.find(little);
  if (at == beginning.npos)
    at = beginning.find(big);
  if (at == beginning.npos || beginning.size() < at + little.size() + size)
    return {};
  const std::string id = rsp::encode_hex(beginning.substr(at + little.size(), size));
  const std::string name = id.substr(2) + ".debug";
  const std::string folder(path.substr(0, path.rfind('/') + 1));
  const std::string root = "/usr/lib/debug";
  return {root + "/.build-id/" + id.substr(0, 2) + "/" + name,
          folder + name,
          folder + ".debug/" + name,
          root + "/" + folder + name,
          root + folder + "/" + name,
          "target:" + root + folder + "/" + name};
}

} // namespace mqbridge
