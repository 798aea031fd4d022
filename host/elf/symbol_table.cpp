#include "host/elf/symbol_table.h"

#include "host/disk/cache_records.h"
#include "host/elf/bytes.h"
#include "host/limits.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <utility>

namespace mqbridge {
namespace {

// Smaller tables are read and hashed in less time than a record of them is found.
constexpr std::uint64_t worth_keeping = 4096;

constexpr RecordKind record_kind{"symbols", 1, std::uint64_t{256} << 20};

// Whether a symbol names a place in this object's memory. Absolute symbols do not (they do not move
// with the load bias), nor do common ones (they have no address yet) and thread-local ones (they
// have an offset in the TLS block).
bool names_a_place(unsigned type, unsigned section) {
  if (type == STT_SECTION || type == STT_FILE || type == STT_TLS || type == STT_COMMON)
    return false;
  return section != SHN_UNDEF && section != SHN_ABS && section != SHN_COMMON;
}

} // namespace

int binding_rank(const ElfSymbol& symbol) {
  return symbol.is_local ? 2 : symbol.is_weak ? 1 : 0;
}

SymbolTable::Names::Names(std::vector<std::byte> bytes)
    : bytes_(std::move(bytes)), left_(bytes_.size() * limits::symbol_names) {}

std::string_view SymbolTable::Names::text() const {
  return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
}

std::string_view SymbolTable::Names::at(std::uint64_t offset) {
  if (offset >= bytes_.size())
    return {};
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(limits::symbol_name, left_));
  const auto rest = text().substr(offset, most);
  const auto end = rest.find('\0');
  left_ -= end == std::string_view::npos ? rest.size() : end;
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

SymbolTable::RawSymbol SymbolTable::decode(const std::byte* entry) const {
  const auto word = [&](std::size_t at) {
    return load_integer<std::uint32_t>(entry + at, format_.byte_order);
  };
  const auto wide = [&](std::size_t at) {
    return load_integer<std::uint64_t>(entry + at, format_.byte_order);
  };
  // Elf32_Sym has value and size before st_info, Elf64_Sym behind it.
  const std::size_t info_at = format_.is_64 ? 4 : 12;
  const auto info = std::to_integer<unsigned>(entry[info_at]);
  const auto section = load_integer<std::uint16_t>(entry + info_at + 2, format_.byte_order);
  const auto type = info & 0xfU;
  const auto binding = info >> 4U;
  const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
  std::uint64_t value = format_.is_64 ? wide(8) : word(4);
  if (function && format_.marked_functions)
    value &= ~std::uint64_t{1};
  return {.name = word(0),
          .symbol = {.name = {},
                     .address = {value},
                     .size = format_.is_64 ? wide(16) : word(8),
                     .is_function = function,
                     .is_local = binding == STB_LOCAL,
                     .is_weak = binding == STB_WEAK},
          .has_address = names_a_place(type, section)};
}

void SymbolTable::prepare() {
  if (hash_)
    return;
  hash_ = read_hash();
  if (!hash_)
    hash_ = load_record();
  if (!hash_)
    hash_ = build();
}

std::unique_ptr<SymbolHash> SymbolTable::read_hash() const {
  if (place_.hash_size == 0)
    return nullptr;
  auto table = GnuHash::read(read_range(file_.open(), place_.hash_offset, place_.hash_size),
                             format_.is_64, format_.byte_order, place_.count);
  return table ? std::make_unique<GnuHash>(std::move(*table)) : nullptr;
}

std::unique_ptr<SymbolHash> SymbolTable::load_record() const {
  if (key_.empty() || place_.count < worth_keeping)
    return nullptr;
  const auto bytes = CacheRecords(record_kind).load(key_);
  auto table = bytes ? BuiltHash::from_bytes(*bytes) : std::nullopt;
  return table ? std::make_unique<BuiltHash>(std::move(*table)) : nullptr;
}

std::unique_ptr<SymbolHash> SymbolTable::build() {
  const auto fd = file_.open();
  const auto symbols = read_range(fd, place_.offset, place_.count * format_.entry_size());
  Names names(read_range(fd, place_.names_offset, place_.names_size));
  std::vector<BuiltHash::Entry> entries;
  for (std::size_t i = 1; !symbols.empty() && i < place_.count; ++i) {
    const auto raw = decode(symbols.data() + i * format_.entry_size());
    const auto name = raw.has_address ? names.at(raw.name) : std::string_view();
    if (!name.empty())
      entries.push_back({gnu_hash(name), static_cast<std::uint32_t>(i)});
  }
  auto table = std::make_unique<BuiltHash>(entries);
  if (!key_.empty() && place_.count >= worth_keeping && !names.text().empty())
    to_be_saved_ = table->to_bytes();
  return table;
}

void SymbolTable::save() {
  if (const auto bytes = std::exchange(to_be_saved_, {}); !bytes.empty())
    CacheRecords(record_kind).store(key_, bytes);
}

std::optional<ElfSymbol> SymbolTable::find(std::string_view name) {
  if (name.empty())
    return std::nullopt;
  prepare();
  const auto candidates = hash_->candidates(gnu_hash(name));
  std::optional<ElfSymbol> best;
  const auto fd = candidates.empty() ? FileDescriptor() : file_.open();
  for (const auto index : candidates) {
    auto symbol = read_if_named(fd, index, name);
    if (symbol && (!best || binding_rank(*symbol) < binding_rank(*best)))
      best = std::move(symbol);
  }
  return best;
}

std::optional<ElfSymbol> SymbolTable::read_if_named(const FileDescriptor& fd, std::uint32_t index,
                                                    std::string_view name) const {
  std::array<std::byte, sizeof(Elf64_Sym)> entry{};
  const auto size = format_.entry_size();
  if (!fd || index >= place_.count ||
      read_at(fd, place_.offset + index * size, std::span(entry).first(size)) != size)
    return std::nullopt;
  auto raw = decode(entry.data());
  if (!raw.has_address || raw.name >= place_.names_size ||
      name.size() >= place_.names_size - raw.name)
    return std::nullopt;
  const auto found = read_range(fd, place_.names_offset + raw.name, name.size() + 1);
  if (found.empty() || std::memcmp(found.data(), name.data(), name.size()) != 0 ||
      found.back() != std::byte{0})
    return std::nullopt;
  raw.symbol.name = name;
  return std::move(raw.symbol);
}

std::vector<ElfSymbol> SymbolTable::ending_with(std::string_view suffix) const {
  std::vector<ElfSymbol> found;
  const auto fd = file_.open();
  Names names(read_range(fd, place_.names_offset, place_.names_size));
  // Most tables have no such symbol, which is seen without decoding any.
  std::string end(suffix);
  end += '\0';
  const auto text = names.text();
  if (text.empty() || ::memmem(text.data(), text.size(), end.data(), end.size()) == nullptr)
    return found;
  const auto symbols = read_range(fd, place_.offset, place_.count * format_.entry_size());
  for (std::size_t i = 1; !symbols.empty() && i < place_.count; ++i) {
    auto raw = decode(symbols.data() + i * format_.entry_size());
    const auto name = raw.has_address ? names.at(raw.name) : std::string_view();
    if (name.empty() || !name.ends_with(suffix))
      continue;
    raw.symbol.name = name;
    found.push_back(std::move(raw.symbol));
  }
  return found;
}

} // namespace mqbridge
