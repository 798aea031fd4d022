#include "host/stacks/unwinder/jumps.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <elf.h>
#include <elfutils/libdw.h>
#include <span>
#include <string_view>
#include <utility>

namespace mqbridge::unwinder {
namespace {

constexpr std::size_t longest = 12; ///< bytes of a function that only jumps: with a landing pad

using Code = std::array<std::uint8_t, longest>;

/// The `bits` lowest bits of a number, as a signed one.
std::int64_t extended(std::uint64_t value, unsigned bits) {
  const auto sign = std::uint64_t{1} << (bits - 1);
  value &= (sign << 1) - 1;
  return static_cast<std::int64_t>(value ^ sign) - static_cast<std::int64_t>(sign);
}

std::uint64_t number_of(std::span<const std::uint8_t> bytes, ByteOrder order) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | bytes[order == ByteOrder::big ? i : bytes.size() - 1 - i];
  return value;
}

/// The distance that a first instruction jumps, from its own place. nullopt: it is no jump.
std::optional<std::int64_t> jump_of(const Code& code, const Architecture& architecture) {
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  const auto& pad = architecture.landing_pad;
  const std::size_t at = !pad.empty() && text.starts_with(pad) ? 4 : 0;
  for (const auto& jump : architecture.jumps) {
    const auto distance = ((std::uint64_t{1} << jump.bits) - 1) << jump.shift;
    const auto instruction = number_of(std::span(code).subspan(at, jump.size), jump.order);
    if (jump.size != 0 && (instruction & ~distance) == jump.opcode)
      return static_cast<std::int64_t>(at + (jump.from_end ? jump.size : 0)) +
             jump.unit * extended(instruction >> jump.shift, jump.bits);
  }
  return std::nullopt;
}

/// The sorted table of functions' beginnings that linkers put before unwind tables (.eh_frame_hdr
/// of the LSB), in the encoding that all linkers use.
class Beginnings {
public:
  Beginnings(Modules& modules, Elf* elf, GElf_Addr bias, ByteOrder byte_order)
      : modules_(modules), byte_order_(byte_order) {
    constexpr std::array<std::uint8_t, 4> known = {1, 0x1b, 0x03, 0x3b};
    std::array<std::uint8_t, 12> header{};
    std::size_t segments = 0;
    GElf_Phdr segment;
    ::elf_getphdrnum(elf, &segments);
    for (std::size_t i = 0; i < segments; ++i) {
      if (::gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr ||
          segment.p_type != PT_GNU_EH_FRAME)
        continue;
      table_ = bias + segment.p_vaddr;
      if (modules_.read(table_, std::as_writable_bytes(std::span(header))) &&
          std::equal(known.begin(), known.end(), header.begin()))
        count_ = number_of(std::span(header).last(4), byte_order_);
      return;
    }
  }

  /// The last beginning that is not behind `address`.
  std::optional<std::uint64_t> before(std::uint64_t address) const {
    std::optional<std::uint64_t> best;
    std::uint64_t first = 0;
    for (std::uint64_t behind = count_; first < behind;) {
      const auto middle = first + (behind - first) / 2;
      std::array<std::uint8_t, 4> place{};
      if (!modules_.read(table_ + 12 + 8 * middle, std::as_writable_bytes(std::span(place))))
        return std::nullopt;
      const auto at =
          table_ + static_cast<std::uint64_t>(extended(number_of(place, byte_order_), 32));
      if (at <= address) {
        best = at;
        first = middle + 1;
      } else {
        behind = middle;
      }
    }
    return best;
  }

private:
  Modules& modules_;
  ByteOrder byte_order_;
  std::uint64_t table_ = 0;
  std::uint64_t count_ = 0;
};

/// The goal of a function that does nothing but jump; nullopt: it does more.
std::optional<std::uint64_t> goal_of(Modules& modules, std::uint64_t address,
                                     const GElf_Sym& function, const Architecture& architecture) {
  const auto size = static_cast<std::size_t>(function.st_size);
  if (GELF_ST_TYPE(function.st_info) != STT_FUNC || size == 0 || size > longest)
    return std::nullopt;
  Code code{};
  if (!modules.read(address, std::as_writable_bytes(std::span(code)).first(size)))
    return std::nullopt;
  const auto jump = jump_of(code, architecture);
  if (!jump)
    return std::nullopt;
  return address + static_cast<std::uint64_t>(*jump);
}

/// Code behind the last function that has unwind tables belongs to none of them.
bool has_unwind_table(Dwfl_Module* module, std::uint64_t address) {
  Dwarf_Addr bias = 0;
  auto* tables = ::dwfl_module_eh_cfi(module, &bias);
  Dwarf_Frame* frame = nullptr;
  if (tables == nullptr || ::dwarf_cfi_addrframe(tables, address - bias, &frame) != 0)
    return false;
  std::free(frame); // libdw allocates it with malloc()
  return true;
}

/// MPI_X and PMPI_X are one function: tools may replace the former.
std::string_view without_profiling(std::string_view name) {
  return name.starts_with("PMPI_") ? name.substr(1) : name;
}

/// The name of the function that jumps to `start`; nullopt: none does, or several do.
std::optional<std::string> name_of_jump(Modules& modules, Dwfl_Module* module,
                                        const Architecture& architecture, std::uint64_t start) {
  std::optional<std::string> found;
  const int count = ::dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr at = 0;
    const char* name =
        ::dwfl_module_getsym_info(module, i, &symbol, &at, nullptr, nullptr, nullptr);
    if (name == nullptr || goal_of(modules, at, symbol, architecture) != start)
      continue;
    if (found && without_profiling(*found) != without_profiling(name))
      return std::nullopt;
    if (!found)
      found = name;
  }
  return found;
}

} // namespace

std::optional<JumpedTo> jumped_to(Modules& modules, Dwfl_Module* module, std::uint64_t address) {
  GElf_Addr bias = 0;
  GElf_Ehdr header;
  auto* elf = ::dwfl_module_getelf(module, &bias);
  if (elf == nullptr || ::gelf_getehdr(elf, &header) == nullptr ||
      !has_unwind_table(module, address))
    return std::nullopt;
  const auto order = header.e_ident[EI_DATA] == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
  const auto start = Beginnings(modules, elf, bias, order).before(address);
  if (!start)
    return std::nullopt;
  auto name = name_of_jump(modules, module, architecture_of(header), *start);
  return name ? std::optional(JumpedTo{std::move(*name), *start}) : std::nullopt;
}

} // namespace mqbridge::unwinder
