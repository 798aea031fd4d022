#pragma once

#include "host/elf/symbol_table.h"

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The symbols of one ELF file, read when somebody asks for them. Thread-safe. It does not find a
/// symbol whose name lies outside of the string table, nor any symbol once another file has taken
/// the place of this one.
class ElfSymbols {
public:
  /// .dynsym first: of two equal symbols the one in the first table counts.
  explicit ElfSymbols(std::vector<SymbolTable> tables) : tables_(std::move(tables)) {}
  /// Keeps results for the next run if they took long.
  ~ElfSymbols();
  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;

  /// As ElfFile's, valid as long as this.
  const ElfSymbol* find(std::string_view name);
  std::vector<const ElfSymbol*> ending_with(std::string_view suffix);

private:
  std::mutex mutex_;
  std::vector<SymbolTable> tables_;
  // Symbols that were found; never erased. Names that were not found are not remembered: there
  // could be any number of them.
  std::map<std::string, ElfSymbol, std::less<>> by_name_;
  std::map<std::string, std::vector<ElfSymbol>, std::less<>> by_suffix_;
};

} // namespace mqbridge
