#include "tests/e2e/harness/whole_stub.h"

#include "tests/e2e/harness/process_stub.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <memory>
#include <set>
#include <sstream>

namespace mqbridge::e2e {
namespace {

using test::Answer;

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

/// The hexadecimal numbers behind the last colon, or behind the packet's letter, between commas.
std::array<std::uint64_t, 3> numbers_of(std::string_view text) {
  std::array<std::uint64_t, 3> numbers{};
  for (auto& number : numbers) {
    const std::string_view one = text.substr(0, text.find(','));
    std::from_chars(one.data(), one.data() + one.size(), number, 16);
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return numbers;
}

/// Files that a stub has open: descriptors count from 3.
using OpenFiles = std::vector<std::string>;

Answer open_file(OpenFiles& open, pid_t process, pid_t shown, std::string_view payload) {
  constexpr std::string_view name = "vFile:open:";
  const std::string path = from_hex(payload.substr(name.size(), payload.find(',') - name.size()));
  const std::string own = fmt::format("/proc/{}/", shown);
  const bool known = path == own + "maps" || path == own + "environ" || path == own + "status";
  const std::string text =
      known ? content(fmt::format("/proc/{}/{}", process, path.substr(own.size()))) : "";
  if (text.empty())
    return Answer::packet("F-1,2");
  open.push_back(text);
  return Answer::packet(fmt::format("F{:x}", open.size() + 2));
}

Answer read_file(const OpenFiles& open, std::string_view payload) {
  const auto [descriptor, count, offset] = numbers_of(payload.substr(payload.rfind(':') + 1));
  if (descriptor < 3 || descriptor - 3 >= open.size())
    return Answer::packet("F-1,9");
  const std::string& text = open[descriptor - 3];
  const std::string piece = text.substr(std::min<std::size_t>(offset, text.size()), count);
  return Answer::packet(fmt::format("F{:x};{}", piece.size(), piece));
}

void serve_files(test::ScriptedStub& stub, pid_t process, pid_t shown) {
  const auto open = std::make_shared<OpenFiles>();
  stub.on("vFile:setfs:", Answer::packet("F0"));
  stub.on("vFile:close:", Answer::packet("F0"));
  stub.on("vFile:open:", [open, process, shown](std::string_view payload) {
    return open_file(*open, process, shown, payload);
  });
  stub.on("vFile:pread:", [open](std::string_view payload) { return read_file(*open, payload); });
}

std::string executable(pid_t process) {
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process)).string();
}

template <class Type>
Type object_at(pid_t process, std::uint64_t address) {
  Type object{};
  const std::string bytes = test::memory_of(process, address, sizeof object);
  std::memcpy(&object, bytes.data(), std::min(bytes.size(), sizeof object));
  return object;
}

std::uint64_t auxv_value(const std::string& vector, std::uint64_t type) {
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= vector.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, vector.data() + at, sizeof entry);
    if (entry.a_type == type)
      return entry.a_un.a_val;
  }
  return 0;
}

} // namespace

void front_process_without_libraries(test::ScriptedStub& stub, pid_t process, pid_t shown) {
  front_process(stub, process, shown);
  stub.serve_objects({{"auxv:", auxiliary_vector(process)}, {"exec-file:", executable(process)}});
  serve_files(stub, process, shown);
}

void front_process_as_gdbserver(test::ScriptedStub& stub, pid_t process, pid_t shown) {
  front_process_without_libraries(stub, process, shown);
  stub.serve_objects({{"libraries-svr4:", library_list(process)}});
}

void patch_memory(test::ScriptedStub& stub, pid_t process, Patches patches) {
  stub.on("m", [process, patches = std::move(patches)](std::string_view payload) {
    const auto [address, length, none] = numbers_of(payload.substr(1));
    std::string bytes = test::memory_of(process, address, length);
    for (const auto& [at, patch] : patches)
      for (std::size_t i = 0; i < patch.size(); ++i)
        if (at + i >= address && at + i - address < bytes.size())
          bytes[at + i - address] = patch[i];
    return Answer::packet(bytes.empty() ? "E01" : test::to_hex(bytes));
  });
}

std::string library_element(const std::string& path, std::uint64_t bias) {
  return fmt::format(R"(<library name="{}" lm="0x10" l_addr="{:#x}" l_ld="0x20"/>)", path, bias);
}

std::string library_list(pid_t process) {
  std::istringstream maps(content(fmt::format("/proc/{}/maps", process)));
  std::set<std::string> seen{executable(process)};
  std::string list = "<library-list-svr4 version=\"1.0\">";
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    const std::string path = slash == std::string::npos ? "" : line.substr(slash);
    // A library's first mapping is that of its header: its bias.
    if (path.find(".so") != std::string::npos && seen.insert(path).second)
      list += library_element(path, std::stoull(line, nullptr, 16));
  }
  return list + "</library-list-svr4>";
}

std::vector<std::uint64_t> link_map_entries(pid_t process) {
  const std::string vector = auxiliary_vector(process);
  const std::uint64_t table = auxv_value(vector, AT_PHDR);
  std::uint64_t bias = 0;
  std::uint64_t dynamic = 0;
  for (std::uint64_t i = 0; i < auxv_value(vector, AT_PHNUM); ++i) {
    const auto header = object_at<Elf64_Phdr>(process, table + i * sizeof(Elf64_Phdr));
    bias = header.p_type == PT_PHDR ? table - header.p_vaddr : bias;
    dynamic = header.p_type == PT_DYNAMIC ? header.p_vaddr : dynamic;
  }
  std::vector<std::uint64_t> entries;
  for (std::uint64_t at = bias + dynamic;; at += sizeof(Elf64_Dyn)) {
    const auto entry = object_at<Elf64_Dyn>(process, at);
    if (entry.d_tag == DT_NULL)
      break;
    if (entry.d_tag != DT_DEBUG)
      continue;
    auto next = word_at(process, entry.d_un.d_ptr + offsetof(r_debug, r_map));
    for (; next != 0; next = word_at(process, next + offsetof(link_map, l_next)))
      entries.push_back(next);
  }
  return entries;
}

std::uint64_t word_at(pid_t process, std::uint64_t address) {
  return object_at<std::uint64_t>(process, address);
}

std::string word_bytes(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string auxiliary_vector(pid_t process) {
  return content(fmt::format("/proc/{}/auxv", process));
}

std::string with_auxv_value(std::string vector, std::uint64_t type, std::uint64_t value) {
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= vector.size(); at += sizeof(Elf64_auxv_t))
    if (vector.compare(at, sizeof type, word_bytes(type)) == 0)
      vector.replace(at + sizeof type, sizeof value, word_bytes(value));
  return vector;
}

} // namespace mqbridge::e2e
