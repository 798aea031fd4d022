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

/// A place where a type may be defined, and what it would be there.
struct TypeCandidate {
  NameKind kind = NameKind::structure;
  TypePlace place;
};

/// Reads the types of one file's DWARF with libdwarf: versions 2 to 5, 32- and 64-bit format,
/// compressed, type units. What is wrong with the DWARF ends an answer early and is a fault, to be
/// taken before the next question. Without a budget of
/// this thread (WorkScope) it may take for ever: libdwarf is slow on some corrupt input, and one
/// call of it is not ended. One thread.
class TypeReader {
public:
  /// `pointer_size` of the platform, in bytes; `questions` outlives this.
  TypeReader(GivenFiles files, unsigned pointer_size, Questions& questions);

  /// All types that have a name, as TypeNames takes them.
  std::vector<NamedPlace> names();
  /// What split DWARF names() lacked.
  MissingSplit missing() const;
  /// What is wrong with the alternate file that was given; empty: nothing.
  std::string alternate_defect() const;

  /// The first of the candidates that has that name there and is complete; nullopt: none.
  std::optional<TypeLayout> layout(std::string_view name,
                                   std::span<const TypeCandidate> candidates);

  /// nullopt: the last answer is whole.
  std::optional<DwarfFault> take_fault();

private:
  Questions& questions_;
  unsigned pointer_size_;
  std::shared_ptr<DwarfFault> fault_ = std::make_shared<DwarfFault>();
  std::unique_ptr<DwarfParts> parts_; ///< null: they could not be opened
};

} // namespace mqbridge
