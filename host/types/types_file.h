#pragma once

#include "host/memory/platform.h"
#include "host/types/indexer_options.h"
#include "host/types/types.h"
#include "rsp/result.h"

#include <filesystem>
#include <memory>
#include <string>

namespace mqbridge {

/// A --types FILE, and the target for which it was made.
struct TypesFile {
  std::shared_ptr<TypeSource> source = nullptr;
  std::string architecture = {}; ///< this and the next two as in Platform
  ByteOrder byte_order = ByteOrder::little;
  int pointer_size = 8;

  bool is_for(const Platform& platform) const;
};

/// Reads a --types FILE: a pack or a carrier (any ELF with DWARF), told apart by its first bytes.
/// `indexer` reads the DWARF of a carrier. Errors: those of read_type_pack, ElfFile::open and
/// open_dwarf_types.
Result<TypesFile> read_types_file(const std::filesystem::path& path, IndexerOptions indexer = {});
/// The types alone.
Result<std::shared_ptr<TypeSource>> open_types_file(const std::filesystem::path& path,
                                                    IndexerOptions indexer = {});

} // namespace mqbridge
