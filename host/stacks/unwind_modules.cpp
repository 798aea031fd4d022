#include "host/stacks/unwind_modules.h"

#include "host/elf/elf_reader.h"
#include "host/limits.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

namespace mqbridge {
namespace {

FileDescriptor descriptor_of(const std::shared_ptr<const ElfFile>& elf) {
  if (!elf)
    return FileDescriptor();
  auto file = reopen(*elf);
  return file ? std::move(*file) : FileDescriptor();
}

/// A file that exists only in memory.
FileDescriptor file_with(std::span<const std::byte> bytes) {
  FileDescriptor file(::memfd_create("vdso", MFD_CLOEXEC));
  const auto written = file ? ::write(file.get(), bytes.data(), bytes.size()) : -1;
  return written == static_cast<ssize_t>(bytes.size()) ? std::move(file) : FileDescriptor();
}

} // namespace

UnwindModules::UnwindModules(const CapturedStacks& captured, std::span<const Image> images,
                             const FilePaths& paths)
    : captured_(captured), paths_(paths) {
  for (const auto& image : images.first(std::min(images.size(), limits::loaded_objects)))
    add(image);
  add_vdso();
}

void UnwindModules::add(const Image& image) {
  if (!image.file || image.file->segments().empty())
    return;
  wire::ModulePlace place{.start = ~std::uint64_t{0}, .bias = image.bias.value};
  for (const auto& segment : image.file->segments()) {
    const auto start = image.bias(segment.address).value;
    place.start = std::min(place.start, start);
    place.end = std::max(place.end, start + segment.memory_size);
  }
  places_.push_back(place);
  images_.push_back(&image);
}

void UnwindModules::add_vdso() {
  if (!captured_.pages || !captured_.vdso || captured_.vdso_size == 0)
    return;
  const auto start = captured_.vdso->value;
  places_.push_back({start, start + captured_.vdso_size, start});
  images_.push_back(nullptr);
}

std::optional<std::uint32_t> UnwindModules::number_at(std::uint64_t address) const {
  const auto found = std::ranges::find_if(places_, [&](const wire::ModulePlace& place) {
    return address >= place.start && address < place.end;
  });
  if (found == places_.end())
    return std::nullopt;
  return static_cast<std::uint32_t>(found - places_.begin());
}

std::string UnwindModules::path(std::uint32_t number) const {
  return images_[number] != nullptr ? images_[number]->target_path : "[vdso]";
}

std::string UnwindModules::identity(std::uint32_t number) const {
  const auto* image = images_[number];
  if (image == nullptr)
    return {};
  return image->file->identity() + '\n' + (image->debug ? image->debug->identity() : "");
}

std::uint64_t UnwindModules::file_address(std::uint32_t number, std::uint64_t address) const {
  const auto* image = images_[number];
  const auto width = image != nullptr ? image->bias.last_address : ~std::uint64_t{0};
  return (address - places_[number].bias) & width;
}

FileDescriptor UnwindModules::file(std::uint32_t number) const {
  if (images_[number] != nullptr)
    return descriptor_of(images_[number]->file);
  std::vector<std::byte> bytes(captured_.vdso_size);
  if (!captured_.pages->copy(captured_.vdso->value, bytes))
    return FileDescriptor();
  return file_with(bytes);
}

FileDescriptor UnwindModules::debug(std::uint32_t number) const {
  return images_[number] != nullptr ? descriptor_of(images_[number]->debug) : FileDescriptor();
}

FileDescriptor UnwindModules::alternate(std::uint32_t number) const {
  const auto* image = images_[number];
  if (image == nullptr)
    return FileDescriptor();
  return find_alternate_file(paths_, image->debug ? *image->debug : *image->file).file;
}

} // namespace mqbridge
