#include "host/mpi/openmpi/types_check.h"

#include <array>

namespace mqbridge::openmpi {
namespace {

std::optional<std::uint64_t> read_word(const ElfFile& file, const ClassSymbol& symbol) {
  std::array<std::byte, 8> bytes{};
  const auto size = static_cast<std::size_t>(symbol.size_word_size);
  if (size > bytes.size() || file.read(symbol.size_word, std::span(bytes).first(size)) != size)
    return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto significance = file.platform().byte_order == ByteOrder::big ? size - 1 - i : i;
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * significance);
  }
  return value;
}

} // namespace

std::vector<SizeFact> size_facts(const Libraries& libraries) {
  std::vector<SizeFact> facts;
  for (const auto& library : libraries) {
    for (auto& fact : symbol_sizes(*library))
      facts.push_back(std::move(fact));
    for (const auto& symbol : class_symbols(*library)) {
      const auto size = read_word(*library, symbol);
      if (!size || *size == 0)
        continue;
      facts.push_back({std::string(symbol.type), *size, std::string(symbol.type) + "_class"});
    }
  }
  return facts;
}

Result<TypeComparison> check_types(TypeSource& types, const Libraries& libraries) {
  return compare_types([&](std::string_view name) { return types.find(name); },
                       size_facts(libraries));
}

Result<TypeComparison> check_ob1_types(TypeSource& types, const Libraries& libraries) {
  return compare_ob1_types([&](std::string_view name) { return types.find(name); },
                           size_facts(libraries));
}

} // namespace mqbridge::openmpi
