// Lines of instructions: tables that CPython's compiler has made, and what its own co_lines() (up
// to 3.9: dis.findlinestarts()) says of them.

#include "host/stacks/python/line_table.h"

#include <gmock/gmock.h>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

struct Compiled {
  LineTable kind;
  std::string_view table;
  std::vector<int> lines; ///< of each instruction; 0: none
};

// A function of some 500 lines with a call over several of them, a loop and a try.
const Compiled compiled[] = {
    {LineTable::pairs,
     "0001047f007f007f00790801028000b6047f004c0c01020106020601",
     {2,   2,   504, 504, 504, 504, 505, 303, 303, 506, 506, 506,
      506, 506, 506, 507, 508, 508, 508, 510, 510, 510, 511, 511}},
    {LineTable::ranges,
     "0401007f007f007f08790201008104b5007f0c4c0201060104020401",
     {2,   2,   504, 504, 504, 504, 505, 303, 303, 506, 506, 506,
      506, 506, 506, 507, 508, 508, 508, 510, 510, 511, 511}},
    {LineTable::locations,
     "8000d80506f00077070305f56c0f00070a8831882381688468d80203f055064a0309058041f55606000c119011893"
     "88c"
     "38f00004030bf00004030b8061f00203050bd80a0b8061e0060af88064806480648064d8090a8028",
     {1,   2,   2,   504, 504, 504, 504, 504, 504, 504, 504, 504, 504, 504, 504, 504, 504,
      504, 505, 303, 303, 506, 506, 506, 506, 506, 506, 506, 506, 506, 506, 506, 506, 506,
      506, 506, 506, 506, 507, 508, 508, 510, 0,   510, 510, 510, 510, 511, 511}},
};

TEST(PythonLines, AreThoseOfTheCompiler) {
  for (const Compiled& each : compiled) {
    const auto table = bytes_of(each.table);
    for (std::size_t i = 0; i < each.lines.size(); ++i)
      EXPECT_EQ(line_of_instruction(each.kind, table, 1, i).value_or(0), each.lines[i])
          << static_cast<int>(each.kind) << " " << i;
  }
}

TEST(PythonLines, OfADamagedTableEnd) {
  std::mt19937 random(1); // NOLINT(bugprone-random-generator-seed): the same each time
  for (const Compiled& each : compiled) {
    auto table = bytes_of(each.table);
    for (int round = 0; round < 2000; ++round) {
      table[random() % table.size()] = static_cast<std::byte>(random());
      EXPECT_GE(line_of_instruction(each.kind, table, 1, random() % 64).value_or(1), 1);
    }
    EXPECT_EQ(line_of_instruction(each.kind, {}, 0, 3), std::nullopt);
  }
  const auto whole = bytes_of(compiled[2].table);
  EXPECT_EQ(line_of_instruction(LineTable::locations, whole, 1, 49), std::nullopt);
}

} // namespace
} // namespace mqbridge
