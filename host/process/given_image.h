#pragma once

#include "host/elf/elf_file.h"

#include <filesystem>

namespace mqbridge {

/// A file that the user says is loaded in the target (`--image FILE[@BIAS]`), where neither an
/// auxiliary vector nor a list of libraries tells.
struct GivenImage {
  std::filesystem::path file;
  LoadBias bias = {};
};

} // namespace mqbridge
