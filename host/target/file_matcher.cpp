#include "host/target/file_matcher.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace mqbridge {

Image FileMatcher::match(const LoadedObject& object, const std::string& running_id,
                         Warnings& warnings) {
  Image image;
  image.target_path = object.path;
  image.bias = object.bias;
  auto file = open(object.path);
  if (!file) {
    image.missing_reason = file.error().message;
    missing_.push_back(object.path);
    return image;
  }
  if (auto fault = compare(**file, running_id)) {
    image.missing_reason = fault->message;
    warnings.push_back(std::move(*fault));
    return image;
  }
  image.file = *file;
  if (auto debug = files_.debug_of(*image.file))
    image.debug = *debug;
  else
    warnings.push_back(std::move(debug).error());
  return image;
}

void FileMatcher::report_missing(Warnings& warnings) const {
  if (missing_.empty())
    return;
  constexpr std::size_t shown = 3;
  const auto first = std::span(missing_).first(std::min(shown, missing_.size()));
  warnings.push_back(
      {"image.missing",
       fmt::format("{} of the target's files are not on this host: {}{}", missing_.size(),
                   fmt::join(first, ", "), missing_.size() > shown ? ", ..." : ""),
       "copy the node's files, and give their top directory: --sysroot DIR"});
}

Result<std::shared_ptr<const ElfFile>> FileMatcher::open(const std::string& target_path) {
  auto path = find_target_file(files_.paths(), target_path);
  if (!path)
    return forward(std::move(path));
  return files_.open(*path);
}

std::optional<Error> FileMatcher::compare(const ElfFile& file,
                                          const std::string& running_id) const {
  const auto& ours = file.platform();
  if (ours.architecture != platform_.architecture)
    return Error{"image.architecture",
                 fmt::format("{} is for {}, the target runs {}", file.path().string(),
                             ours.architecture, platform_.architecture),
                 "give a directory tree with the node's own files: --sysroot DIR"};
  if (!running_id.empty() && !file.build_id().empty() && running_id != file.build_id())
    return Error{
        "image.build_id",
        fmt::format(
            "{} is another build than the one that runs: build-id {} here, {} in the target",
            file.path().string(), file.build_id(), running_id),
        "give a directory tree with the node's own files: --sysroot DIR"};
  return std::nullopt;
}

} // namespace mqbridge
