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

MissingSplit TypeReader::missing() const {
  return parts_ ? parts_->split().missing() : MissingSplit();
}

std::string TypeReader::alternate_defect() const {
  return parts_ ? parts_->alternate_defect() : std::string();
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
  // Without any DWARF every answer lacks everything.
  return parts_ ? std::exchange(*fault_, {}) : *fault_;
}

} // namespace mqbridge
