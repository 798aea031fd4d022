#include "host/bridge/guesses.h"
#include "host/bridge/requests.h"

#include <gmock/gmock.h>

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
        "vFlashErase:0,1000", "vAttach;1f", "bc", "bs", "R00", "i", "qRcmd,7265736574"})
    EXPECT_EQ(kind_of(packet), RequestKind::run) << packet;
}

TEST(Requests, TheOthersHaveTheirKinds) {
  EXPECT_EQ(kind_of("m1000,4"), RequestKind::memory);
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

} // namespace
} // namespace mqbridge
