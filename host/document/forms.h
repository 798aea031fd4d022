#pragma once

#include "host/document/json_writer.h"

#include <cstdint>

namespace mqbridge {

// Each value of the document is described once, by a function of the files *_members.h:
//
//   void describe(auto& form, Tag& tag) {
//     form.member("any", tag.any);
//     form.member("value", tag.value);
//   }
//
// `form` is a MemberWriter, which writes the members in this order, a MemberReader, which reads
// them, a TsvMembers, which sets the columns of their names, or a test's own. The analysis is only
// written, so it is never described to a MemberReader.
//
// A further argument of one of the following types gives the form in JSON where the member's type
// does not. For a word it is the enumerator that stands for all words which this version does not
// know; without it such a word is a complaint.

/// A number as "0x1f".
inline constexpr struct AsAddress {
} as_address;
/// An empty text is null.
inline constexpr struct OrNull {
} or_null;
/// The member is absent where its value is not known.
inline constexpr struct IfKnown {
} if_known;
/// Null where it is not known, and never absent.
inline constexpr struct Present {
} present;
/// False is null, as in documents of versions that did not have the member.
inline constexpr struct TrueOrNull {
} true_or_null;
/// Absent in documents of earlier versions; then it is false.
inline constexpr struct FlagOrAbsent {
} flag_or_absent;
/// The number of a thread, which scripts compare and never count with.
inline constexpr struct AsText {
} as_text;
/// Ranks of this job. -1 stands for a member of another job; the document has null there.
inline constexpr struct PlacesInJob {
} places_in_job;
/// Null in a line of NDJSON: it needs all ranks.
inline constexpr struct OfWholeJob {
} of_whole_job;
/// The debug DLL's values that differ from what the operation has now.
inline constexpr struct RawValues {
} raw_values;
/// 4 or 8.
inline constexpr struct PointerSize {
} as_pointer_size;
/// A number within bounds, which the document keeps.
struct Within {
  std::int64_t least;
  std::int64_t most;
};

/// Whether a value of this type may be none; its object is null then. Such a type converts to bool.
template <class T>
inline constexpr bool may_be_none = false;

/// Layouts of objects and arrays: a line for each member, or one for all.
inline constexpr auto own_lines = JsonWriter::Layout::lines;
inline constexpr auto one_line = JsonWriter::Layout::one_line;

} // namespace mqbridge
