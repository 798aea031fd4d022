#pragma once

#include "host/disk/file_on_disk.h"
#include "host/elf/elf_file.h"
#include "host/elf/symbol_hash.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Where one symbol table is in its file.
struct SymbolTablePlace {
  std::uint64_t offset = 0;
  std::uint64_t count = 0; ///< of symbols, the first one (nothing) included
  std::uint64_t names_offset = 0;
  std::uint64_t names_size = 0;
  std::uint64_t hash_offset = 0; ///< .gnu.hash, of .dynsym
  std::uint64_t hash_size = 0;   ///< 0: it has none
  bool is_dynamic = false;       ///< .dynsym, which is loaded with the file
};

/// How symbols are written in a file.
struct SymbolFormat {
  bool is_64 = true;
  ByteOrder byte_order = ByteOrder::little;
  bool marked_functions = false; ///< the lowest bit of their address is a mark (ARM, MIPS)

  std::size_t entry_size() const { return is_64 ? 24 : 16; }
};

/// Order of preference among symbols of one name: global before weak before local.
int binding_rank(const ElfSymbol& symbol);

/// One symbol table. It reads only the parts that somebody asks for. One thread at a time.
class SymbolTable {
public:
  /// `key` identifies the table among those of all files; empty: nothing is kept.
  SymbolTable(FileOnDisk file, const SymbolTablePlace& place, SymbolFormat format, std::string key)
      : file_(std::move(file)), place_(place), format_(format), key_(std::move(key)) {}

  /// The best symbol of that name; of two equal ones the first.
  std::optional<ElfSymbol> find(std::string_view name);
  /// In table order.
  std::vector<ElfSymbol> ending_with(std::string_view suffix) const;
  /// Keeps results that took long for the next run. Not to be called while a target is held.
  void save();

private:
  /// A string table. Names may overlap in it so often that looking at all of them would never end:
  /// after limits::symbol_names times its size it finds no more names.
  class Names {
  public:
    explicit Names(std::vector<std::byte> bytes);
    std::string_view text() const;
    std::string_view at(std::uint64_t offset); ///< empty: none, or one without end

  private:
    std::vector<std::byte> bytes_;
    std::uint64_t left_;
  };
  struct RawSymbol {
    std::uint64_t name = 0;
    ElfSymbol symbol; ///< without its name
    bool has_address = false;
  };

  void prepare();
  std::unique_ptr<SymbolHash> read_hash() const;
  std::unique_ptr<SymbolHash> load_record() const;
  std::unique_ptr<SymbolHash> build();
  RawSymbol decode(const std::byte* entry) const;
  std::optional<ElfSymbol> read_if_named(const FileDescriptor& fd, std::uint32_t index,
                                         std::string_view name) const;

  FileOnDisk file_;
  SymbolTablePlace place_;
  SymbolFormat format_;
  std::string key_;
  std::unique_ptr<SymbolHash> hash_; ///< null: nothing was looked up yet
  std::vector<std::byte> to_be_saved_;
};

} // namespace mqbridge
