#include "host/process/target_description.h"

#include "host/limits.h"
#include "rsp/commands/xml.h"

#include <algorithm>
#include <array>
#include <pugixml.hpp>

namespace mqbridge {
namespace {

/// One name of GDB (bfd/cpu-*.c), or how a group of them begins; lldb-server has names of its own.
struct GdbName {
  std::string_view begin;
  std::string_view architecture; ///< how the names of `uname -m` begin
  std::string_view other = {};   ///< another one that the same machine runs
  int widest_pointer = 8;
};

/// The first that fits counts.
constexpr std::array gdb_names = {
    GdbName{"i386:x86-64", "x86_64", "i386"},
    GdbName{"i386:x64-32", "x86_64", "i386", 4},
    GdbName{"x86_64", "x86_64", "i386"},
    GdbName{"i386", "i386", "x86_64", 4},
    GdbName{"aarch64:ilp32", "aarch64", "arm", 4},
    GdbName{"aarch64", "aarch64", "arm"},
    GdbName{"arm64", "aarch64", "arm"},
    GdbName{"arm", "arm", "", 4},
    GdbName{"s390:31-bit", "s390", "", 4},
    GdbName{"s390", "s390"},
    GdbName{"powerpc:common64", "ppc"},
    GdbName{"powerpc:common", "ppc", "", 4},
    GdbName{"powerpc", "ppc"},
    GdbName{"mips", "mips"},
    GdbName{"m68k", "m68k", "", 4},
    GdbName{"riscv:rv32", "riscv", "", 4},
    GdbName{"riscv", "riscv"},
    GdbName{"sparc:v9", "sparc"},
    GdbName{"sparc", "sparc", "", 4},
    GdbName{"hppa", "parisc"},
    GdbName{"alpha", "alpha"},
    GdbName{"ia64", "ia64"},
    GdbName{"sh", "sh4", "", 4},
    GdbName{"Loongarch", "loongarch"},
    GdbName{"loongarch", "loongarch"},
};

} // namespace

TargetDescription parse_target_description(std::string_view xml) {
  pugi::xml_document document;
  TargetDescription description;
  if (!rsp::load_xml(document, xml).empty())
    return description;
  const auto target = document.child("target");
  const std::string_view text = target.child("architecture").text().get();
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos)
    description.architecture = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  for (const auto include : target.children("xi:include"))
    if (description.includes.size() < limits::description_files)
      if (const auto annex = include.attribute("href"))
        description.includes.emplace_back(annex.value());
  return description;
}

bool describes(std::string_view name, const Platform& platform) {
  const auto known = std::find_if(gdb_names.begin(), gdb_names.end(), [&](const GdbName& each) {
    return name.starts_with(each.begin);
  });
  if (known == gdb_names.end())
    return true;
  const std::string_view architecture = platform.architecture;
  const bool runs = architecture.starts_with(known->architecture) ||
                    (!known->other.empty() && architecture.starts_with(known->other));
  return runs && platform.pointer_size <= known->widest_pointer;
}

} // namespace mqbridge
