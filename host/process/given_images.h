#pragma once

#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/process/elf_cache.h"
#include "host/process/given_image.h"
#include "host/process/image_set.h"
#include "rsp/result.h"

#include <memory>
#include <span>
#include <vector>

namespace mqbridge {

using ElfFiles = std::vector<std::shared_ptr<const ElfFile>>;

/// The files of the images that the user gave, in order. Errors: those of ElfFile::open.
Result<ElfFiles> open_given_images(std::span<const GivenImage> given, ElfCache& files);

/// Those files as loaded images, each compared with the target's memory, in one round trip: by its
/// build-id where that is loaded, and by the first bytes of its first read-only segment. Separate
/// debug files are looked for. Errors: image.build_id and image.mismatch (name both), those of
/// ElfFile::open for a broken debug file, and a lost connection.
Result<std::vector<Image>> load_given_images(std::span<const GivenImage> given,
                                             const ElfFiles& opened, ElfCache& files,
                                             Memory& memory, const Platform& platform);

} // namespace mqbridge
