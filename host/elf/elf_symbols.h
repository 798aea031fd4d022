#pragma once

#include "host/elf/symbol_table.h"

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The symbols of one ELF file, found as they are asked for. Thread-safe. Symbols whose name lies
/// outside of the string table are not there, and none are once another file has taken the place of
/// this one.
class ElfSymbols {
public:
  /// .dynsym first: of two symbols that are alike it is the one of the first table that counts.
  explicit ElfSymbols(std::vector<SymbolTable> tables) : tables_(std::move(tables)) {}
  /// Keeps for the next run what took long to work out.
  ~ElfSymbols();
  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;

  /// As ElfFile's, valid as long as this.
  const ElfSymbol* find(std::string_view name);
  std::vector<const ElfSymbol*> ending_with(std::string_view suffix);

private:
  std::mutex mutex_;
  std::vector<SymbolTable> tables_;
  // What was found; never erased. Names that are not there are not remembered: there is no end of
  // them.
  std::map<std::string, ElfSymbol, std::less<>> by_name_;
  std::map<std::string, std::vector<ElfSymbol>, std::less<>> by_suffix_;
};

} // namespace mqbridge
