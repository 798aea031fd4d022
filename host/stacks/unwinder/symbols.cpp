#include "host/stacks/unwinder/symbols.h"

#include "host/stacks/unwinder/function_name.h"
#include "host/stacks/unwinder/jumps.h"
#include "host/stacks/unwinder/scopes.h"

#include <dwarf.h>
#include <elf.h>
#include <string_view>

namespace mqbridge::unwinder {
namespace {

std::optional<std::int64_t> line_number(std::int64_t value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

/// The file's name as the compiler wrote it. If the unit's name is not absolute, libdw puts the
/// unit's directory before the file's name.
std::optional<std::string> source_file(const char* path, Dwarf_Die& unit) {
  if (path == nullptr || std::string_view(path) == "???")
    return std::nullopt;
  const std::string_view full = path;
  Dwarf_Attribute attribute;
  const char* directory = ::dwarf_formstring(::dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  const char* name = ::dwarf_diename(&unit);
  if (directory == nullptr || name == nullptr || name[0] == '/')
    return std::string(full);
  const std::string_view before = directory;
  if (full.size() > before.size() + 1 && full.starts_with(before) && full[before.size()] == '/')
    return std::string(full.substr(before.size() + 1));
  return std::string(full);
}

void set_line_of_code(Dwarf_Die& unit, std::uint64_t address, Call& call) {
  int line = 0;
  auto* entry = ::dwarf_getsrc_die(&unit, address);
  if (entry == nullptr || ::dwarf_lineno(entry, &line) != 0)
    return;
  call.line = line_number(line);
  if (call.line)
    call.file = source_file(::dwarf_linesrc(entry, nullptr, nullptr), unit);
}

std::optional<std::uint64_t> number(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (::dwarf_formudata(::dwarf_attr(&die, name, &attribute), &value) != 0)
    return std::nullopt;
  return value;
}

/// Sets the line in which an inlined function was called.
void set_line_of_call(Dwarf_Die& unit, Dwarf_Die& inlined, Call& call) {
  const auto line = number(inlined, DW_AT_call_line);
  const auto file = number(inlined, DW_AT_call_file);
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (!line || !file || ::dwarf_getsrcfiles(&unit, &files, &count) != 0 || *file >= count)
    return;
  call.line = line_number(static_cast<std::int64_t>(*line));
  if (call.line)
    call.file = source_file(::dwarf_filesrc(files, *file, nullptr, nullptr), unit);
}

bool has_size_for(const GElf_Sym& symbol, std::uint64_t offset) {
  return symbol.st_size == 0 ? GELF_ST_TYPE(symbol.st_info) != STT_OBJECT : offset < symbol.st_size;
}

std::vector<Call> from_dwarf(Modules& modules, Dwfl_Module* module, std::uint64_t address) {
  Dwarf_Addr bias = 0;
  auto unit = unit_at(modules, module, address, bias);
  if (!unit)
    return {};
  address -= bias;
  auto scopes = scopes_at(*unit, address);
  std::vector<Call> calls(std::max<std::size_t>(scopes.size(), 1));
  set_line_of_code(*unit, address, calls.front());
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    auto& [die, name] = scopes[i];
    auto& call = calls[i];
    call.function = std::move(name);
    call.inlined = ::dwarf_tag(&die) == DW_TAG_inlined_subroutine;
    Dwarf_Addr entry = 0;
    if (call.inlined && i + 1 < scopes.size())
      set_line_of_call(*unit, die, calls[i + 1]);
    else if (::dwarf_entrypc(&die, &entry) == 0)
      call.begins_at = entry + bias;
  }
  return calls;
}

void from_symbol_table(Modules& modules, Dwfl_Module* module, std::uint64_t address, Call& call) {
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name =
      ::dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || name[0] == '\0' || !has_size_for(symbol, offset)) {
    if (auto function = call.function ? std::nullopt : jumped_to(modules, module, address)) {
      call.function = function_name(function->name.c_str());
      call.begins_at = function->begins_at;
    }
    return;
  }
  const bool moved_away = std::string_view(name).find(".cold") != std::string_view::npos;
  if (!call.function || !moved_away)
    call.begins_at = address - offset;
  if (!call.function)
    call.function = function_name(name);
}

} // namespace

// clang writes no .debug_aranges: then each unit is asked for its ranges.
std::optional<Dwarf_Die> unit_at(Modules& modules, Dwfl_Module* module, std::uint64_t address,
                                 Dwarf_Addr& bias) {
  if (modules.dwarf(module, bias) == nullptr)
    return std::nullopt;
  if (auto* unit = ::dwfl_module_addrdie(module, address, &bias))
    return *unit;
  for (Dwarf_Die* unit = nullptr; (unit = ::dwfl_module_nextcu(module, unit, &bias)) != nullptr;)
    if (::dwarf_haspc(unit, address - bias) > 0)
      return *unit;
  return std::nullopt;
}

std::vector<Call> calls_at(Modules& modules, std::uint64_t address) {
  auto* module = modules.at(address);
  if (module == nullptr)
    return {Call()};
  auto calls = from_dwarf(modules, module, address);
  if (calls.empty())
    calls.emplace_back();
  if (!calls.back().function || !calls.back().begins_at)
    from_symbol_table(modules, module, address, calls.back());
  return calls;
}

} // namespace mqbridge::unwinder
