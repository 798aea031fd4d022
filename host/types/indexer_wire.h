#pragma once

#include "host/confined/messages.h"
#include "host/types/type_names.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The messages between a TypeIndexer and its process, mqbridge-indexer (host/confined/messages.h).
/// That process reads foreign files with foreign code: whatever it sends is checked by its reader.
/// Either asks and waits for the answer; the indexer asks only while it owes one.
namespace mqbridge::wire {

enum class IndexerKind : std::uint8_t {
  // Parent to indexer.
  start = 1,   ///< sandboxed, pointer size, whether the main file refers to an alternate one
  file,        ///< its number, with its descriptor: an answer, or a given file after start
  no_file,     ///< an answer; or, after start, there are no more
  read_names,  ///< answered by names..., names_end
  read_layout, ///< name; candidates: kind, place of each. Answered by fields..., layout
  candidates,  ///< an answer: places
  // Indexer to parent: questions.
  want_package,    ///< answered by file, no_file
  want_split,      ///< index, directory, name; answered by file, no_file
  want_candidates, ///< kind, name; answered by candidates
  // Answers.
  ready,      ///< to start
  names,      ///< some NamedPlaces, sorted
  names_end,  ///< MissingDwarf
  fields,     ///< some of the fields of the layout that follows: name, offset, size
  layout,     ///< whether one of the candidates is complete, its size
  fault,      ///< file number, text: instead of any of the above
  no_sandbox, ///< text: it cannot confine itself, and ends
};

inline constexpr std::size_t max_names_chunk = 3000;      ///< NamedPlaces of one message
inline constexpr std::size_t max_fields_chunk = 8 * 1024; ///< bytes at which one is sent
inline constexpr std::size_t max_missing_names = 3;

/// Other parts of a file's DWARF that could not be used.
struct MissingDwarf {
  std::uint32_t units = 0;     ///< units whose split file is missing, or is of another build
  std::uint32_t all_units = 0; ///< units that were looked for
  std::string alternate = {};  ///< the fault of the alternate file; empty: none
  std::string package = {};    ///< the fault of the package; empty: none
  std::vector<std::string> first = {}; ///< names of some of the missing units
};
void describe(auto& form, MissingDwarf& missing) {
  form(missing.units, missing.all_units, missing.alternate, missing.package);
  form.list(missing.first, max_missing_names);
}

static_assert(max_names_chunk * sizeof(NamedPlace) + 1 <= max_message);
static_assert(max_fields_chunk + max_text + 32 <= max_message);

} // namespace mqbridge::wire
