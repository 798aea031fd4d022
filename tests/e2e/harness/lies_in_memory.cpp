#include "tests/e2e/harness/lie.h"
#include "tests/e2e/harness/whole_stub.h"
#include "tests/support/process_table.h"
#include "tests/support/stub_wire.h"

#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <memory>
#include <random>

namespace mqbridge::e2e {
namespace {

using test::Answer;
using Change = std::function<std::string(std::string payload)>;

/// Replies to reads of memory, changed.
auto changes_reads(Change change) {
  return [change = std::move(change)](const Liar& liar) {
    liar.stub.tamper([change](std::size_t, std::string_view asked, Answer honest) {
      if (!asked.starts_with('m') || honest.bytes.starts_with("$E"))
        return honest;
      constexpr std::size_t framing = 4;
      return Answer::packet(change(honest.bytes.substr(1, honest.bytes.size() - framing)));
    });
  };
}

auto replaces_reads(std::string payload) {
  return changes_reads([payload = std::move(payload)](const std::string&) { return payload; });
}

/// Where the executable's ELF header is.
std::uint64_t executable_header(pid_t process) {
  return test::mapping_of(process, "many_receives");
}

auto patches_header(std::size_t offset, std::string bytes) {
  return [offset, bytes = std::move(bytes)](const Liar& liar) {
    patch_memory(liar.stub, liar.process, {{executable_header(liar.process) + offset, bytes}});
  };
}

auto random_from(std::uint32_t seed, double share) {
  return [=](const Liar& liar) {
    const auto random = std::make_shared<std::mt19937>(seed);
    changes_reads([random, share](std::string digits) {
      std::bernoulli_distribution hit(share);
      for (char& digit : digits)
        if (hit(*random))
          digit = "0123456789abcdef"[(*random)() % 16];
      return digits;
    })(liar);
  };
}

/// The requests are in the second half of the heap: what is not read there is no end of a list.
void refuses_half_of_the_heap(const Liar& liar) {
  const std::uint64_t first = test::mapping_of(liar.process, "[heap]");
  std::uint64_t end = first;
  while (!test::memory_of(liar.process, end, 1).empty())
    end += 4096;
  const std::uint64_t middle = first + (end - first) / 2;
  liar.stub.tamper([=](std::size_t, std::string_view asked, Answer honest) {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    const bool read =
        std::sscanf(std::string(asked).c_str(), "m%" SCNx64 ",%" SCNx64, &address, &size) == 2;
    return read && address < end && address + size > middle ? Answer::packet("E01") : honest;
  });
}

std::vector<Lie> in_replies() {
  return {
      {"ReadsFail", replaces_reads("E01"), {"target.platform"}, "no ELF header stands before"},
      {"ReadsAreEmpty", replaces_reads(""), {"memory.unsupported"}, "does not answer `m`"},
      {"ReadsAreOk", replaces_reads("OK"), {"stub.garbage"}, "not hexadecimal"},
      {"ReadsAreOneByte",
       changes_reads([](const std::string& d) { return d.substr(0, 2); }),
       {"memory.unreadable"},
       "cannot be read"},
      {"ReadsAreShort",
       changes_reads([](const std::string& d) { return d.substr(0, d.size() / 4 * 2); }),
       {"memory.unsupported"},
       "does not answer `m`"},
      {"ReadsAreLong",
       changes_reads([](const std::string& d) { return d + "00"; }),
       {"stub.garbage"},
       "more than it was asked"},
      {"ReadsAreTwiceAsLong",
       changes_reads([](const std::string& d) { return d + d; }),
       {"stub.garbage"},
       "more than it was asked"},
      {"ReadsAreOdd",
       changes_reads([](const std::string& d) { return d.substr(1); }),
       {"stub.garbage"},
       "not hexadecimal"},
      {"ReadsAreNoHex",
       changes_reads([](std::string d) { return d.replace(d.size() / 2, 1, "g"); }),
       {"stub.garbage"},
       "not hexadecimal"},
      {"ReadsAreZeros",
       changes_reads([](const std::string& d) { return std::string(d.size(), '0'); }),
       {"target.platform"},
       "no ELF header stands before"},
      {"ReadsAreAllOnes",
       changes_reads([](const std::string& d) { return std::string(d.size(), 'f'); }),
       {"target.platform"},
       "no ELF header stands before"},
      {"ReadsAreStopReplies",
       replaces_reads("T05thread:p1267.1267;"),
       {"stub.garbage"},
       "not hexadecimal"},
      {"ReadsAreExits", replaces_reads("W00"), {"stub.garbage"}, "not hexadecimal"},
      {"ReadsOfWhatIsMappedFail",
       refuses_half_of_the_heap,
       {"walk.unreadable"},
       "the process has mapped and its stub does not read"},
      {"ReadsArePads",
       changes_reads([](const std::string& d) { return "+++" + d; }),
       {"stub.garbage"},
       "more than it was asked"},
  };
}

std::vector<Lie> in_content() {
  std::vector<Lie> all = {
      {"HeaderNoElf",
       patches_header(0, "\x7f"
                         "ELG"),
       {"target.platform"},
       "no ELF header stands before"},
      {"HeaderOfNoClass",
       patches_header(EI_CLASS, "\7"),
       {"target.platform"},
       "no ELF header stands before"},
      {"HeaderOfNoByteOrder",
       patches_header(EI_DATA, "\7"),
       {"target.platform"},
       "no ELF header stands before"},
      {"HeaderOfAnotherClass",
       patches_header(EI_CLASS, "\1"),
       {"target.platform"},
       "little-endian, 32-bit"},
      {"HeaderOfAnotherByteOrder",
       patches_header(EI_DATA, "\2"),
       {"target.platform"},
       "big-endian, 64-bit"},
      {"HeaderOfNoMachine",
       patches_header(offsetof(Elf64_Ehdr, e_machine), "\xee\xee"),
       {"image.architecture"},
       "is for"},
      {"HeaderOfAnotherMachine",
       patches_header(offsetof(Elf64_Ehdr, e_machine), std::string("\x16\0", 2)),
       {"image.architecture"},
       "is for"},
      {"HeaderTableOutside",
       patches_header(offsetof(Elf64_Ehdr, e_phoff), times(8, "\xee")),
       {},
       "",
       Then::is_complete},
      {"HeaderTableOf65535",
       patches_header(offsetof(Elf64_Ehdr, e_phnum), "\xff\xff"),
       {},
       "",
       Then::is_complete},
      {"ProgramHeadersAllOnes",
       patches_header(sizeof(Elf64_Ehdr), times(13 * 56, "\xff")),
       {},
       "",
       Then::is_complete},
      {"ProgramHeadersAllZero",
       patches_header(sizeof(Elf64_Ehdr), std::string(13 * 56, '\0')),
       {},
       "",
       Then::is_complete},
  };
  for (std::uint32_t seed = 1; seed <= 6; ++seed)
    all.push_back({fmt::format("ReadsDifferEachTime{}", seed),
                   random_from(seed, 1e-4),
                   {},
                   "",
                   Then::varies});
  all.push_back(
      {"ReadsAreRandom", random_from(7, 1.0), {"target.platform"}, "no ELF header stands before"});
  return all;
}

/// Tells a process without a list of libraries, whose link map is changed.
auto chain(std::function<Patches(pid_t process, const std::vector<std::uint64_t>& entries)> lie) {
  return [lie = std::move(lie)](const Liar& liar) {
    const auto entries = link_map_entries(liar.process);
    liar.stub.on("qXfer:libraries-svr4:", Answer::packet(""));
    liar.stub.on("qSupported", Answer::packet("PacketSize=4000;QStartNoAckMode+;multiprocess+;"
                                              "qXfer:auxv:read+;qXfer:exec-file:read+"));
    patch_memory(liar.stub, liar.process, lie(liar.process, entries));
  };
}

auto points(std::size_t index, std::size_t offset, std::uint64_t value) {
  return chain([=](pid_t, const std::vector<std::uint64_t>& entries) {
    return Patches{{entries.at(index) + offset, word_bytes(value)}};
  });
}

} // namespace

std::vector<Lie> lies_in_memory() {
  std::vector<Lie> all = in_replies();
  const std::vector<Lie> more = in_content();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Lie> lies_in_link_map() {
  constexpr std::size_t next = offsetof(link_map, l_next);
  constexpr std::size_t name = offsetof(link_map, l_name);
  constexpr std::size_t bias = offsetof(link_map, l_addr);
  constexpr std::uint64_t unmapped = 0x10000;
  return {
      {"LinkMapOfItself",
       chain([](pid_t, const auto& entries) {
         return Patches{{entries.at(3) + next, word_bytes(entries.at(3))}};
       }),
       {"libraries.corrupt"},
       "does not end"},
      {"LinkMapInACircle",
       chain([](pid_t, const auto& entries) {
         return Patches{{entries.back() + next, word_bytes(entries.front())}};
       }),
       {"libraries.corrupt"},
       "does not end"},
      {"LinkMapIntoNothing", points(3, next, unmapped), {"memory.unreadable"}, "cannot be read"},
      {"LinkMapToTheEnd", points(3, next, UINT64_MAX - 4), {"memory.unreadable"}, "cannot be read"},
      {"LinkMapEndsEarly",
       points(0, next, 0),
       {"target.not_started"},
       "is stopped before its libraries"},
      {"LinkMapNameNowhere", points(3, name, unmapped), {}, "", Then::is_complete},
      {"LinkMapNameAtTheEnd", points(3, name, UINT64_MAX), {}, "", Then::is_complete},
      {"LinkMapNameWithoutEnd",
       chain([](pid_t process, const auto& entries) {
         return Patches{{word_at(process, entries.at(3) + name), times(8192, "a")}};
       }),
       {"memory.unreadable"},
       "cannot be read"},
      {"LinkMapBiasAnywhere", points(3, bias, 0xdeadbeefdeadbeef), {}, "", Then::is_complete},
      {"LinkMapWithoutEnd",
       [](const Liar& liar) {
         // Every word that looks like a next pointer leads on by one entry, for ever.
         chain([](pid_t, const auto& entries) {
           return Patches{{entries.at(1) + next, word_bytes(unmapped)}};
         })(liar);
         liar.stub.tamper([](std::size_t, std::string_view asked, Answer honest) {
           std::uint64_t address =
               std::stoull("0" + std::string(asked.substr(1, asked.find(',') - 1)), nullptr, 16);
           if (!asked.starts_with('m') || address < unmapped || address > 0x40000000)
             return honest;
           std::uint64_t length =
               std::stoull(std::string(asked.substr(asked.find(',') + 1)), nullptr, 16);
           std::string bytes;
           while (bytes.size() < length) {
             const std::uint64_t at = address + bytes.size();
             bytes += word_bytes(at % 40 == next ? at - next + 40 : at);
           }
           bytes.resize(length);
           return Answer::packet(test::to_hex(bytes));
         });
       },
       {"libraries.corrupt"},
       "does not end"},
  };
}

} // namespace mqbridge::e2e
