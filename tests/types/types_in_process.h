#pragma once

#include "host/types/types.h"

#include <filesystem>
#include <memory>

namespace mqbridge::test {

/// The types of one file's DWARF, read by the code of mqbridge-indexer in this very process: for
/// sweeps over thousands of files, and to see with sanitizers what it does. Without an alternate
/// file and split DWARF. WorkScope ends it. Errors: those of ElfFile::open, and dwarf.corrupt.
Result<std::unique_ptr<TypeSource>> types_in_process(const std::filesystem::path& path);

} // namespace mqbridge::test
