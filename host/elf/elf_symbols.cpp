#include "host/elf/elf_symbols.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace mqbridge {
namespace {

// Sorts by name, the best symbol of each name first. Most global symbols stand in both tables: one
// of the two is enough.
void sort_symbols(std::vector<ElfSymbol>& symbols) {
  std::stable_sort(symbols.begin(), symbols.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(std::string_view(a.name), binding_rank(a)) <
           std::make_tuple(std::string_view(b.name), binding_rank(b));
  });
  const auto same = [](const ElfSymbol& a, const ElfSymbol& b) {
    return a.name == b.name && a.address == b.address && a.is_local == b.is_local;
  };
  symbols.erase(std::unique(symbols.begin(), symbols.end(), same), symbols.end());
}

} // namespace

ElfSymbols::~ElfSymbols() {
  for (auto& table : tables_)
    table.save();
}

const ElfSymbol* ElfSymbols::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_name_.find(name); known != by_name_.end())
    return &known->second;
  std::optional<ElfSymbol> best;
  for (auto& table : tables_) {
    if (best && binding_rank(*best) == 0)
      break;
    auto symbol = table.find(name);
    if (symbol && (!best || binding_rank(*symbol) < binding_rank(*best)))
      best = std::move(symbol);
  }
  return best ? &by_name_.emplace(std::string(name), std::move(*best)).first->second : nullptr;
}

std::vector<const ElfSymbol*> ElfSymbols::ending_with(std::string_view suffix) {
  const std::lock_guard lock(mutex_);
  auto known = by_suffix_.find(suffix);
  if (known == by_suffix_.end()) {
    std::vector<ElfSymbol> symbols;
    for (const auto& table : tables_) {
      auto more = table.ending_with(suffix);
      std::move(more.begin(), more.end(), std::back_inserter(symbols));
    }
    sort_symbols(symbols);
    known = by_suffix_.emplace(std::string(suffix), std::move(symbols)).first;
  }
  std::vector<const ElfSymbol*> found;
  for (const auto& symbol : known->second)
    found.push_back(&symbol);
  return found;
}

} // namespace mqbridge
