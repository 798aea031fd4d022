#include "host/types/indexer/type_reader.h"

#include "host/types/indexer/dwarf_layout.h"
#include "host/types/indexer/name_collector.h"

#include <utility>

namespace mqbridge {

TypeReader::TypeReader(GivenFiles files, unsigned pointer_size, Questions& questions)
    : questions_(questions), pointer_size_(pointer_size) {
  const auto main = files.main.number;
  parts_ = DwarfParts::open(std::move(files), questions, fault_);
  if (!parts_ && !fault_->any())
    *fault_ = {"there is no DWARF in it", main};
}

std::vector<NamedPlace> TypeReader::names() {
  return parts_ ? NameCollector(*parts_).collect() : std::vector<NamedPlace>();
}

wire::MissingDwarf TypeReader::missing() const {
  auto missing = parts_ ? parts_->split().missing() : wire::MissingDwarf();
  if (parts_)
    missing.alternate = parts_->alternate_defect();
  return missing;
}

std::optional<TypeLayout> TypeReader::layout(std::string_view name,
                                             std::span<const TypeCandidate> candidates) {
  if (!parts_)
    return std::nullopt;
  for (const auto& [kind, place] : candidates) {
    DwarfLayout layout(*parts_, questions_, pointer_size_);
    auto found = layout.of(named_type(*parts_, place, kind, name));
    if (fault_->any())
      return std::nullopt;
    if (found)
      return found;
  }
  return std::nullopt;
}

std::optional<DwarfFault> TypeReader::take_fault() {
  if (!fault_->any())
    return std::nullopt;
  // Without any DWARF the fault holds for every answer.
  return parts_ ? std::exchange(*fault_, {}) : *fault_;
}

} // namespace mqbridge
