// What mqbridge-indexer answers, as mqbridge reads it: it reads foreign files with foreign code,
// and may say anything. Input: a byte of flags, then its messages, each behind its length (2
// bytes); an honest beginning is said for it where the flags want one.

#include "host/elf/elf_file.h"
#include "host/limits.h"
#include "host/types/type_indexer.h"
#include "rsp/packet/printable.h"
#include "tests/builders/elf_builder.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/fuzz_input.h"

#include <array>
#include <cstring>
#include <elf.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;
using wire::Encoder;
using wire::IndexerKind;

constexpr std::uint64_t ready_is_said = 1;
constexpr std::uint64_t names_are_said = 2;

Encoder message(IndexerKind kind) {
  Encoder encoder;
  encoder.put(kind);
  return encoder;
}

/// Says what the fuzzer wrote, whatever it is asked, and then is dead.
class PlayedIndexer final : public sandbox::Conversation {
public:
  PlayedIndexer(std::vector<Encoder> first, FuzzInput& then)
      : first_(std::move(first)), then_(then) {}

  Result<void> send(const Encoder& message) override {
    require(message.message().size() <= wire::max_message);
    return {};
  }
  Result<void> send(const Encoder& message, const FileDescriptor& descriptor) override {
    std::array<char, SELFMAG> magic{};
    require(::pread(descriptor.get(), magic.data(), magic.size(), 0) == SELFMAG);
    require(std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0);
    return send(message);
  }
  void begin_answer() override {}
  Failure protocol_violation() override { return fail("dwarf.protocol", "it makes no sense"); }

private:
  Result<std::span<const std::byte>> next_message() override {
    if (said_ < first_.size())
      return first_[said_++].message();
    if (then_.empty())
      return fail("dwarf.crashed", "it has ended");
    return std::as_bytes(std::span(then_.take(then_.number(2))));
  }

  std::vector<Encoder> first_;
  std::size_t said_ = 0;
  FuzzInput& then_;
};

/// struct X, twice, and a typedef of the same name.
std::vector<Encoder> honest_names() {
  std::vector<NamedPlace> places;
  for (const auto kind : {NameKind::structure, NameKind::type_definition})
    places.push_back({name_hash(kind, "X"), *TypePlace::pack(0, true, 11)});
  std::ranges::sort(places, {}, &NamedPlace::name);
  auto names = message(IndexerKind::names);
  for (const auto& place : places)
    names.put(place);
  auto end = message(IndexerKind::names_end);
  end.put(0U).put(0U).text("").text("").put(0U);
  return {std::move(names), std::move(end)};
}

std::vector<Encoder> said_for_it(std::uint64_t flags) {
  std::vector<Encoder> first;
  if ((flags & (ready_is_said | names_are_said)) != 0)
    first.push_back(message(IndexerKind::ready));
  if ((flags & names_are_said) != 0)
    for (auto& each : honest_names())
      first.push_back(std::move(each));
  return first;
}

/// Fit to be shown on a terminal.
void check(const Error& error) {
  require(!error.code.empty() && !error.message.empty());
  require(readable(error.message) == error.message);
}

void check(const TypeLayout& layout) {
  std::size_t bytes = 0;
  for (const auto& field : layout.fields)
    bytes += field.name.size();
  require(layout.fields.size() <= limits::type_fields && bytes <= limits::type_field_bytes);
}

void ask(TypeIndexer& indexer) {
  const auto names = indexer.names();
  if (!names)
    return check(names.error());
  require(names->bytes().size() <= limits::type_names * sizeof(NamedPlace));
  for (const std::string_view name : {"X", "struct X", "union X"}) {
    const auto layout = indexer.layout(AskedName(name), *names);
    if (!layout)
      return check(layout.error());
    if (*layout)
      check(**layout);
  }
}

void play(const ElfFile& elf, FuzzInput& input) {
  static const FilePaths paths;
  auto channel = std::make_unique<PlayedIndexer>(said_for_it(input.number(1)), input);
  const auto indexer = TypeIndexer::start(std::move(channel), true, elf, paths);
  if (!indexer)
    return check(indexer.error());
  ask(**indexer);
  for (const auto& warning : (*indexer)->take_warnings())
    check(warning);
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  static const test::FuzzFile place;
  static const auto elf = [] {
    test::ElfBuilder builder(test::elf_shapes[0]);
    builder.add_section(".debug_info", SHT_PROGBITS, "some");
    place.replace(builder.bytes());
    return ElfFile::open(place.path());
  }();
  test::require(elf.has_value());
  test::FuzzInput input(data, size);
  play(**elf, input);
  return 0;
}
