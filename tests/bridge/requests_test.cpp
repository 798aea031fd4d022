#include "host/bridge/guesses.h"
#include "host/bridge/requests.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <random>
#include <regex>
#include <set>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Requests, WhatIsNotKnownToOnlyReadIsAChange) {
  for (const char* packet :
       {"M1000,1:00", "X1000,0:", "G00", "P1=00", "QTinit", "QNonStop:1", "b",
        "qXfer:siginfo:write::0:00", "vNew", "Y", "A", "t1000:cc,0", "QAgent:1"})
    EXPECT_EQ(kind_of(packet), RequestKind::change) << packet;
}

TEST(Requests, WhatLetsTheProcessRunIsKnown) {
  for (const char* packet :
       {"vCont;c", "vCont;s:p1.1;c", "c", "c1000", "C05", "s", "S05;1000", "vRun;",
        "vFlashErase:0,1000", "vAttach;1f", "bc", "bs", "i", "qRcmd,7265736574", "F-1,4,C"})
    EXPECT_EQ(kind_of(packet), RequestKind::run) << packet;
}

TEST(Requests, TheOthersHaveTheirKinds) {
  EXPECT_EQ(kind_of("m1000,4"), RequestKind::memory);
  EXPECT_EQ(kind_of("R00"), RequestKind::restart);
  EXPECT_EQ(kind_of("qSupported:swbreak+"), RequestKind::negotiation);
  EXPECT_EQ(kind_of("qXfer:threads:read::0,1000"), RequestKind::object);
  EXPECT_EQ(kind_of("qXfer:btrace:read::0,1000"), RequestKind::look);
  EXPECT_EQ(kind_of("vFile:pread:3,10,0"), RequestKind::file);
  EXPECT_EQ(kind_of("vFile:open:2f,0,1c0"), RequestKind::file);
  for (const char* packet : {"vFile:open:2f,601,1c0", "vFile:open:2f", "vFile:pwrite:3,0,x",
                             "vFile:unlink:2f", "vFile:new:1"})
    EXPECT_EQ(kind_of(packet), RequestKind::file_change) << packet;
  EXPECT_EQ(kind_of("Z0,1000,1"), RequestKind::breakpoint);
  EXPECT_EQ(kind_of("Z2,1000,4"), RequestKind::look);
  EXPECT_EQ(kind_of("Hgp1f.20"), RequestKind::selection);
  EXPECT_EQ(kind_of("D;1f"), RequestKind::farewell);
  EXPECT_EQ(kind_of("k"), RequestKind::kill);
  EXPECT_EQ(kind_of("g"), RequestKind::look);
  EXPECT_EQ(kind_of("vCont?"), RequestKind::look);
  EXPECT_EQ(kind_of("qSymbol::"), RequestKind::symbol);
  EXPECT_EQ(kind_of(""), RequestKind::look);
}

TEST(Requests, ASelectionMayNameAProcess) {
  EXPECT_EQ(selected_process("Hgp1f.20"), "p1f");
  EXPECT_EQ(selected_process("Hcp1f.-1"), "");
  EXPECT_EQ(selected_process("Hgp0.0"), "");
  EXPECT_EQ(selected_process("Hgp-1.-1"), "");
  EXPECT_EQ(selected_process("Hg0"), "");
  EXPECT_EQ(selected_process("H"), "");
}

TEST(Requests, TwoNumbersAreNothingElse) {
  EXPECT_EQ(parse_two_numbers("1f,20")->first, 0x1fU);
  EXPECT_EQ(parse_two_numbers("1f,20")->second, 0x20U);
  for (const char* text : {"", ",", "1", "1,", ",1", "1,x", "1,2,3", "-1,2"})
    EXPECT_FALSE(parse_two_numbers(text)) << text;
}

TEST(Requests, WhatFitsCountsEscapes) {
  EXPECT_EQ(fitting(std::string(100, 'x'), 200).size(), 100U);
  EXPECT_LE(fitting(std::string(100, 'x'), 100).size(), 68U);
  EXPECT_LE(fitting(std::string(100, '}'), 200).size(), 84U);
  EXPECT_GE(fitting(std::string(100, '}'), 200).size(), 60U);
  EXPECT_EQ(fitting(std::string(100, '}'), 1).size(), 1U);
}

TEST(Guesses, LibrariesAreThoseOfTheList) {
  EXPECT_THAT(
      libraries_in(R"(<library-list-svr4 version="1.0" main-lm="0x1">)"
                   R"(<library name="/lib/libm.so.6" lm="0x2"/><library name="linux-vdso"/>)"
                   R"(<library name="/lib/a&amp;b.so"/><library name="/lib/libc.so.6")"),
      ElementsAre("/lib/libm.so.6", "/lib/libc.so.6"));
  EXPECT_THAT(libraries_in(R"(<library name="/cut)"), ElementsAre("/cut"));
}

TEST(Guesses, DebugFilesAreWhereGdbLooks) {
  const std::string id = "0123456789abcdefghij";
  const std::string note = std::string("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16) + id;
  const std::string digits = "31323334353637383961626364656667"
                             "68696a";
  const auto files = debug_files_of("/lib/libm.so.6", "\x7f"
                                                      "ELF" +
                                                          note);
  EXPECT_THAT(files, testing::Contains("/usr/lib/debug/.build-id/30/" + digits + ".debug"));
  EXPECT_THAT(files, testing::Contains("/lib/.debug/" + digits + ".debug"));
  EXPECT_THAT(debug_files_of("/lib/libm.so.6", note.substr(0, 30)), IsEmpty());
  EXPECT_THAT(debug_files_of("/lib/libm.so.6", ""), IsEmpty());
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// By readelf: offset and size of the sections that gdb reads.
std::set<std::pair<std::size_t, std::size_t>> sections_by_readelf(const std::string& path) {
  std::set<std::pair<std::size_t, std::size_t>> ranges;
  FILE* const output = ::popen(("readelf -SW " + path).c_str(), "r");
  const std::regex line(
      R"(\] (\.dynsym|\.dynstr|\.symtab|\.strtab|\.gnu\.version\S*|\.rela?\.(dyn|plt)|)"
      R"(\.plt\S*|\.eh_frame\S*|\.gnu_debuglink) +\S+ +\S+ (\S+) (\S+) )");
  std::array<char, 500> text{};
  while (std::fgets(text.data(), text.size(), output) != nullptr)
    if (std::cmatch found; std::regex_search(text.data(), found, line))
      ranges.emplace(std::stoul(found[3], nullptr, 16), std::stoul(found[4], nullptr, 16));
  ::pclose(output);
  return ranges;
}

TEST(Guesses, SectionsAreThoseOfReadelf) {
  const auto expected = sections_by_readelf("/lib/x86_64-linux-gnu/libc.so.6");
  ASSERT_GT(expected.size(), 5U);
  const auto file = contents_of("/lib/x86_64-linux-gnu/libc.so.6");
  const std::size_t end = file.size() - 20'000;
  std::set<std::pair<std::size_t, std::size_t>> found;
  for (const FileRange& range : sections_of(file.substr(0, 4096), file.substr(end), end))
    found.emplace(range.offset, range.size);
  EXPECT_EQ(found, expected);
}

TEST(Guesses, DamagedTablesOfSectionsAreNone) {
  auto file = contents_of("/lib/x86_64-linux-gnu/libc.so.6");
  const std::size_t end = file.size() - 20'000;
  EXPECT_TRUE(sections_of(file.substr(0, 4096), file.substr(end, 100), end).empty());
  EXPECT_TRUE(sections_of("", "", 0).empty());
  EXPECT_TRUE(sections_of(std::string(100, '\0'), file, 0).empty());
  std::mt19937 random(36); // NOLINT(bugprone-random-generator-seed): the same each time
  for (int round = 0; round < 2000; ++round) {
    auto beginning = file.substr(0, 64);
    auto tail = file.substr(end);
    for (int i = 0; i < 3; ++i)
      beginning[4 + random() % 60] = static_cast<char>(random());
    for (int i = 0; i < 50; ++i)
      tail[random() % tail.size()] = static_cast<char>(random());
    EXPECT_LT(sections_of(beginning, tail, end).size(), 70'000U);
  }
}

} // namespace
} // namespace mqbridge
