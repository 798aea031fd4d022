// What is kept from one run to the next, as somebody else may have left it: the record's own frame,
// then each kind of contents. The first byte chooses which.

#include "host/disk/cache_records.h"
#include "host/dump/known_files.h"
#include "host/dump/replay_records.h"
#include "host/elf/symbol_hash.h"
#include "host/limits.h"
#include "host/types/layout_memo.h"
#include "host/types/type_names.h"
#include "tests/builders/elf_builder.h"
#include "tests/fuzz/fuzz_input.h"

#include <algorithm>
#include <fstream>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;
using Bytes = std::span<const std::byte>;

void record(std::string_view file) {
  static const test::TestDirectory directory;
  static const CacheRecords records({"kind", 1, 4096}, directory.path());
  static const std::filesystem::path place = [] {
    require(records.store("key", {}));
    return std::filesystem::directory_iterator(directory / "kind")->path();
  }();
  std::ofstream(place, std::ios::binary | std::ios::trunc) << file;
  if (const auto contents = records.load("key"))
    require(contents->size() < file.size());
}

void runs(Bytes bytes) {
  constexpr std::uint64_t most_pages = 1000;
  const auto found = decode_runs(bytes, most_pages);
  if (!found)
    return;
  const auto written = encode_runs(*found);
  const auto again = decode_runs(written, most_pages);
  require(again && encode_runs(*again) == written);
}

/// Files that the last dump used.
void paths(Bytes bytes) {
  const auto found = decode_paths(bytes);
  require(found.size() <= limits::known_files);
  std::set<std::string> kept;
  for (const auto& path : found) {
    require(path.is_absolute());
    kept.insert(path.string());
  }
  require(decode_paths(encode_paths(kept)).size() == kept.size());
}

void layouts(Bytes bytes) {
  const auto memo = layout_memo(bytes);
  if (memo)
    require(std::ranges::equal(to_bytes(*memo), bytes) || layout_memo(to_bytes(*memo)));
}

/// No look-up may find more than there is.
template <class Hash>
void look_up(const Hash& hash, Bytes bytes) {
  for (const std::uint32_t value : {0U, 1U, 0x7fffffffU, 0xffffffffU, gnu_hash("main")})
    require(hash.candidates(value).size() <= bytes.size());
}

void built_hash(Bytes bytes) {
  if (const auto hash = BuiltHash::from_bytes(bytes))
    look_up(*hash, bytes);
}

/// Of an ELF file, not of a record; but a table to look names up in, too.
void gnu_hash_section(FuzzInput& input) {
  const auto flags = input.number(1);
  const auto symbols = input.number(4);
  const auto order = (flags & 1) != 0 ? ByteOrder::big : ByteOrder::little;
  const auto bytes = input.rest_bytes();
  const auto hash = GnuHash::read({bytes.begin(), bytes.end()}, (flags & 2) != 0, order, symbols);
  if (hash)
    look_up(*hash, bytes);
}

/// An index of the names of types.
void type_names(Bytes bytes) {
  const auto names = TypeNames::from({bytes.begin(), bytes.end()});
  if (!names)
    return;
  require(names->bytes().size() == bytes.size());
  for (const auto kind : {NameKind::structure, NameKind::type_definition})
    require(names->find(kind, "X").size() <= TypeNames::candidates_per_name);
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  test::FuzzInput input(data, size);
  switch (input.number(1)) {
  case 'f':
    record(input.rest());
    break;
  case 'p':
    runs(input.rest_bytes());
    break;
  case 'k':
    paths(input.rest_bytes());
    break;
  case 'l':
    layouts(input.rest_bytes());
    break;
  case 'b':
    built_hash(input.rest_bytes());
    break;
  case 'g':
    gnu_hash_section(input);
    break;
  default:
    type_names(input.rest_bytes());
  }
  return 0;
}
