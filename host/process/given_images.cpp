#include "host/process/given_images.h"

#include "host/limits.h"
#include "host/process/memory_image.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace mqbridge {
namespace {

constexpr std::size_t compared_bytes = 256;

/// Bytes of one file, and those that the target has in their place.
struct Sample {
  std::size_t image = 0;
  bool is_note = false;
  TargetAddress address;
  std::vector<std::byte> expected;
  std::vector<std::byte> found;
};

std::optional<Sample> take_sample(const Image& image, const ElfSegment& segment,
                                  std::size_t longest) {
  Sample sample;
  sample.address = image.bias(segment.address);
  sample.expected.resize(std::min<std::uint64_t>(segment.size, longest));
  sample.expected.resize(image.file->read(segment.address, sample.expected));
  if (sample.expected.empty())
    return std::nullopt;
  sample.found.resize(sample.expected.size());
  return sample;
}

/// Takes samples of segments that are not writable: the process writes to the others.
std::vector<Sample> samples_of(const Image& image) {
  std::vector<Sample> samples;
  for (const auto& note : image.file->notes()) {
    if (auto sample = take_sample(image, note, limits::note)) {
      sample->is_note = true;
      samples.push_back(std::move(*sample));
    }
  }
  for (const auto& segment : image.file->segments()) {
    if (segment.writable)
      continue;
    if (auto sample = take_sample(image, segment, compared_bytes)) {
      samples.push_back(std::move(*sample));
      break;
    }
  }
  return samples;
}

constexpr std::string_view not_the_targets_file =
    "give the file that runs there, and where it was loaded: --image FILE@BIAS";

std::optional<Error> compare(const Sample& sample, std::size_t read, const ElfFile& file,
                             const Platform& platform) {
  const auto name = file.path().string();
  if (sample.is_note) {
    const auto running = find_build_id(std::span(sample.found).first(read), platform.byte_order);
    if (running.empty() || file.build_id().empty() || running == file.build_id())
      return std::nullopt;
    return Error{
        "image.build_id",
        fmt::format("{} is another build than the one at {:#x}: build-id {} here, {} in the target",
                    name, sample.address.value, file.build_id(), running),
        std::string(not_the_targets_file)};
  }
  if (read < sample.expected.size())
    return Error{"image.mismatch",
                 fmt::format("{} is not loaded there: the target has no memory at {:#x}, where the "
                             "file's first {} bytes should be",
                             name, sample.address.value + read, sample.expected.size()),
                 std::string(not_the_targets_file)};
  const auto differs = std::mismatch(sample.expected.begin(), sample.expected.end(),
                                     sample.found.begin(), sample.found.end());
  if (differs.first == sample.expected.end())
    return std::nullopt;
  return Error{
      "image.mismatch",
      fmt::format(
          "{} is not what is loaded at {:#x}: the file has {:#04x}, the target "
          "{:#04x}",
          name,
          (sample.address + static_cast<std::uint64_t>(differs.first - sample.expected.begin()))
              .value,
          std::to_integer<unsigned>(*differs.first), std::to_integer<unsigned>(*differs.second)),
      std::string(not_the_targets_file)};
}

Result<void> compare_with_memory(std::span<const Image> images, Memory& memory,
                                 const Platform& platform) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (auto& sample : samples_of(images[i])) {
      sample.image = i;
      samples.push_back(std::move(sample));
    }
  }
  std::vector<MemoryRange> ranges;
  ranges.reserve(samples.size());
  for (auto& sample : samples)
    ranges.push_back({sample.address, sample.found});
  if (auto done = memory.read_ranges(ranges); !done)
    return done;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (auto fault = compare(samples[i], ranges[i].read, *images[samples[i].image].file, platform))
      return Failure(std::move(*fault));
  return {};
}

} // namespace

Result<ElfFiles> open_given_images(std::span<const GivenImage> given, ElfCache& files) {
  ElfFiles opened;
  for (const auto& image : given) {
    auto file = files.open(image.file);
    if (!file)
      return forward(std::move(file));
    opened.push_back(std::move(*file));
  }
  return opened;
}

Result<std::vector<Image>> load_given_images(std::span<const GivenImage> given,
                                             const ElfFiles& opened, ElfCache& files,
                                             Memory& memory, const Platform& platform) {
  std::vector<Image> images;
  for (std::size_t i = 0; i < given.size(); ++i) {
    Image image;
    image.target_path = given[i].file.string();
    image.bias = {given[i].bias.value, platform.last_address()};
    image.file = opened[i];
    auto debug = files.debug_of(*image.file);
    if (!debug)
      return forward(std::move(debug));
    image.debug = std::move(*debug);
    images.push_back(std::move(image));
  }
  if (auto done = compare_with_memory(images, memory, platform); !done)
    return forward(std::move(done));
  return images;
}

} // namespace mqbridge
