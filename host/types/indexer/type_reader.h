#pragma once

#include "host/types/indexer/dwarf_parts.h"
#include "host/types/indexer/questions.h"
#include "host/types/types.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A place where a type may be defined, and the kind that it would have there.
struct TypeCandidate {
  NameKind kind = NameKind::structure;
  TypePlace place;
};

/// Reads the types of one file's DWARF with libdwarf: versions 2 to 5, 32- and 64-bit format,
/// compressed, type units. A fault in the DWARF ends an answer early; take it before the next
/// question. Without a time limit for this thread (WorkScope) it may run for ever: libdwarf is slow
/// on some corrupt input. A single call of libdwarf cannot be interrupted. One thread.
class TypeReader {
public:
  /// `pointer_size` of the platform, in bytes; `questions` outlives this.
  TypeReader(GivenFiles files, unsigned pointer_size, Questions& questions);

  /// All types that have a name, as TypeNames takes them.
  std::vector<NamedPlace> names();
  /// The parts of the DWARF that names() lacked.
  wire::MissingDwarf missing() const;

  /// The layout of the first candidate that has that name there and is complete; nullopt: none is.
  std::optional<TypeLayout> layout(std::string_view name,
                                   std::span<const TypeCandidate> candidates);

  /// The fault of the last answer; nullopt: it is whole.
  std::optional<DwarfFault> take_fault();

private:
  Questions& questions_;
  unsigned pointer_size_;
  std::shared_ptr<DwarfFault> fault_ = std::make_shared<DwarfFault>();
  std::unique_ptr<DwarfParts> parts_; ///< null: they could not be opened
};

} // namespace mqbridge
