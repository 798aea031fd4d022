#include "host/stacks/unwinder/modules.h"

#include <algorithm>
#include <cstring>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <string>

namespace mqbridge::unwinder {
namespace {

/// libdwfl need not look for files: they are given with the modules.
int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
  return -1;
}

} // namespace

const Architecture& architecture_of(const GElf_Ehdr& header) {
  return mqbridge::architecture_of(header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS64);
}

Modules::Modules(Files& files, std::span<const wire::ModulePlace> places) : files_(files) {
  static const Dwfl_Callbacks callbacks = {find_no_elf, &Modules::find_debug, nullptr, nullptr};
  dwfl_ = ::dwfl_begin(&callbacks);
  for (const auto& place : places) {
    const auto number = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({.modules = this, .number = number, .place = place});
  }
}

Modules::~Modules() {
  ::dwfl_end(dwfl_);
  for (const auto& entry : entries_)
    ::dwarf_end(entry.alternate);
}

std::optional<std::uint32_t> Modules::number_at(std::uint64_t address) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return address >= entry.place.start && address < entry.place.end;
  });
  return found != entries_.end() ? std::optional(found->number) : std::nullopt;
}

Dwfl_Module* Modules::at(std::uint64_t address) {
  const auto number = number_at(address);
  return number ? load(entries_[*number]) : nullptr;
}

Dwfl_Module* Modules::any() {
  for (auto& entry : entries_)
    if (auto* module = load(entry))
      return module;
  return nullptr;
}

Dwfl_Module* Modules::load(Entry& entry) {
  if (entry.was_asked_for)
    return entry.module;
  entry.was_asked_for = true;
  auto file = files_.file(entry.number);
  if (!file)
    return nullptr;
  const auto name = std::to_string(entry.number);
  ::dwfl_report_begin_add(dwfl_);
  entry.module =
      ::dwfl_report_elf(dwfl_, name.c_str(), name.c_str(), file.get(), entry.place.bias, true);
  ::dwfl_report_end(dwfl_, nullptr, nullptr);
  if (entry.module == nullptr)
    return nullptr;
  file.release(); // the module closes it
  void** of = nullptr;
  ::dwfl_module_info(entry.module, &of, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *of = &entry;
  return entry.module;
}

Modules::Entry& Modules::entry_of(Dwfl_Module* module) {
  void** of = nullptr;
  ::dwfl_module_info(module, &of, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return *static_cast<Entry*>(*of);
}

int Modules::find_debug(Dwfl_Module*, void** of, const char*, Dwarf_Addr, const char*, const char*,
                        GElf_Word, char**) {
  const auto& entry = *static_cast<const Entry*>(*of);
  return entry.modules->files_.debug(entry.number).release();
}

Dwarf* Modules::dwarf(Dwfl_Module* module, Dwarf_Addr& bias) {
  auto* dwarf = ::dwfl_module_getdwarf(module, &bias);
  auto& entry = entry_of(module);
  if (dwarf != nullptr && !entry.has_dwarf) {
    entry.has_dwarf = true;
    find_alternate(entry, dwarf);
  }
  return dwarf;
}

// libdw would look for the file by its name, which this process may not do.
void Modules::find_alternate(Entry& entry, Dwarf* dwarf) {
  const char* name = nullptr;
  const void* build_id = nullptr;
  if (::dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) <= 0)
    return;
  entry.alternate_file = files_.alternate(entry.number);
  if (entry.alternate_file)
    entry.alternate = ::dwarf_begin(entry.alternate_file.get(), DWARF_C_READ);
  if (entry.alternate != nullptr)
    ::dwarf_setalt(dwarf, entry.alternate);
}

// Reads piece by piece. For the whole file libelf would ask how long it is, which the sandbox lets
// nobody do.
bool Modules::read(std::uint64_t address, std::span<std::byte> into) {
  auto* module = at(address);
  GElf_Addr bias = 0;
  auto* elf = module != nullptr ? ::dwfl_module_getelf(module, &bias) : nullptr;
  std::size_t segments = 0;
  if (elf == nullptr || ::elf_getphdrnum(elf, &segments) != 0)
    return false;
  address -= bias;
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (::gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr ||
        segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0 || address < segment.p_vaddr)
      continue;
    const auto from = address - segment.p_vaddr;
    if (from >= segment.p_filesz || into.size() > segment.p_filesz - from)
      continue;
    const auto* const data = ::elf_getdata_rawchunk(
        elf, static_cast<std::int64_t>(segment.p_offset + from), into.size(), ELF_T_BYTE);
    if (data == nullptr || data->d_size != into.size())
      return false;
    std::memcpy(into.data(), data->d_buf, into.size());
    return true;
  }
  return false;
}

} // namespace mqbridge::unwinder
