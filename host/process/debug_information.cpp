#include "host/process/debug_information.h"

#include "host/files/debuginfod.h"

#include <fmt/format.h>
#include <memory>

namespace mqbridge {
namespace {

/// Asks the server for the debug file; nullptr: the server has none.
Result<std::shared_ptr<const ElfFile>> ask_for(const ElfFile& file, Debuginfod& server,
                                               ElfCache& files, const FetchContext& fetch) {
  auto found = server.find(Debuginfod::Kind::debuginfo, file.build_id(),
                           [&](std::uint64_t bytes, std::uint64_t) {
                             fetch.tell(fmt::format("debuginfod: debug information of {}, {} kB",
                                                    file.path().filename().string(), bytes / 1000));
                             return !fetch.over();
                           });
  if (!found)
    return forward(std::move(found));
  if (!*found)
    return nullptr;
  return files.open(**found);
}

} // namespace

bool find_debug_information(ImageSet& images, const std::function<bool(const Image&)>& wanted,
                            ElfCache& files, const FetchContext& fetch,
                            std::vector<Error>& warnings) {
  auto* server = files.debuginfod();
  bool found_some = false;
  for (std::size_t i = 0; server != nullptr && i < images.images().size(); ++i) {
    const auto& image = images.images()[i];
    const bool has_some = image.debug || !image.file || image.file->has_dwarf();
    if (has_some || !wanted(image))
      continue;
    auto found = ask_for(*image.file, *server, files, fetch);
    if (!found) {
      warnings.push_back(std::move(found).error());
    } else if (*found != nullptr) {
      images.set_debug(i, std::move(*found));
      found_some = true;
    }
  }
  return found_some;
}

} // namespace mqbridge
