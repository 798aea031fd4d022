#include "host/process/auxv.h"

#include "host/memory/reader.h"

#include <bit>
#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

std::map<std::uint64_t, std::uint64_t> parse_as(std::span<const std::byte> bytes, ByteOrder order,
                                                std::size_t word) {
  std::map<std::uint64_t, std::uint64_t> values;
  for (std::size_t at = 0; at + 2 * word <= bytes.size(); at += 2 * word) {
    const auto type = decode_unsigned(bytes.subspan(at, word), order);
    if (type == AT_NULL)
      break;
    values.emplace(type, decode_unsigned(bytes.subspan(at + word, word), order));
  }
  return values;
}

bool plausible(const std::map<std::uint64_t, std::uint64_t>& values, std::size_t word) {
  const auto entry = values.find(AT_PHENT);
  const auto page = values.find(AT_PAGESZ);
  const auto header = word == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  constexpr std::uint64_t largest_page = std::uint64_t{1} << 24; // no kernel's is that large
  return entry != values.end() && entry->second == header && page != values.end() &&
         std::has_single_bit(page->second) && page->second >= 512 && page->second <= largest_page;
}

} // namespace

std::optional<std::uint64_t> AuxiliaryVector::find(std::uint64_t type) const {
  const auto found = values.find(type);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

Result<AuxiliaryVector> AuxiliaryVector::parse(std::string_view bytes) {
  for (const int word : {8, 4}) {
    for (const auto order : {ByteOrder::little, ByteOrder::big}) {
      auto values =
          parse_as(std::as_bytes(std::span(bytes)), order, static_cast<std::size_t>(word));
      if (plausible(values, static_cast<std::size_t>(word)))
        return AuxiliaryVector{order, word, std::move(values)};
    }
  }
  return fail(
      "auxv.corrupt",
      fmt::format("the auxiliary vector that the stub gave ({} bytes) makes sense in no byte "
                  "order and word size",
                  bytes.size()),
      "record the packets with --trace FILE and look at the qXfer:auxv reply");
}

std::vector<MappedRange> stack_of(const AuxiliaryVector& auxv) {
  const auto random = auxv.find(AT_RANDOM);
  const auto name = auxv.find(AT_EXECFN);
  if (!random || !name || *name < *random)
    return {};
  return {{{*random}, {*name}, true, true, "[stack]"}};
}

} // namespace mqbridge
