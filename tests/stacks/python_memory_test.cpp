// Frames of Python in memory that a test makes up, on four platforms.

#include "tests/stacks/fake_python.h"
#include "tests/support/faults_tried.h"

#include <gmock/gmock.h>
#include <map>
#include <random>
#include <string>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class PythonMemory : public testing::TestWithParam<PythonCase> {
protected:
  FakePython python_{GetParam()};
};

std::vector<std::string> words_of(const PythonCall& call) {
  std::vector<std::string> words;
  for (const PythonFrame& frame : call.frames)
    words.push_back(frame.function + " " + frame.file + ":" +
                    std::to_string(frame.line.value_or(0)));
  return words;
}

TEST_P(PythonMemory, FramesAreThoseThatWerePutThere) {
  const auto found = python_.read();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lost, 0U);
  ASSERT_THAT(found->threads, SizeIs(1));
  const auto& calls = found->threads.front().calls;
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_THAT(words_of(calls[0]), ElementsAre("inner a.py:2", "caf\u00e9 \u0444.py:1"));
  EXPECT_THAT(words_of(calls[1]), ElementsAre("<module> \U0001f40d.py:1"));
  EXPECT_EQ(calls[0].on_stack, TargetAddress{FakePython::cframe});
}

TEST_P(PythonMemory, DamageNeitherCrashesNorLoops) {
  std::mt19937 random(7); // NOLINT(bugprone-random-generator-seed): the same each time
  const std::uint64_t places[] = {FakePython::interpreter, FakePython::state, FakePython::frames,
                                  FakePython::codes,       FakePython::texts, FakePython::tables,
                                  FakePython::cframe,      ~std::uint64_t{0}};
  constexpr int rounds = 400;
  int lost = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto [address, size] = python_.put_there[random() % python_.put_there.size()];
    std::vector<std::uint8_t> sound(size);
    ASSERT_EQ(*python_.memory.read({address}, std::as_writable_bytes(std::span(sound))), size);
    const std::uint64_t wrong = random() % 2 == 0
                                    ? places[random() % std::size(places)] + random() % 0x400
                                    : std::uint64_t{random()} << 32 | random();
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<std::uint8_t>(wrong >> (8 * i));
    python_.memory.put({address}, bytes);
    const auto found = python_.read();
    ASSERT_TRUE(found);
    lost += found->lost > 0 ? 1 : 0;
    EXPECT_LE(found->threads.size(), 1U);
    python_.memory.put({address}, sound);
  }
  EXPECT_GT(lost, rounds / 4);
  test::faults_tried(rounds);
}

TEST_P(PythonMemory, AThreadThatIsItsOwnCallerIsLost) {
  python_.put(FakePython::frames + 0x200 + static_cast<unsigned>(GetParam().offsets.previous),
              FakePython::frames, static_cast<std::size_t>(GetParam().platform.pointer_size));
  const auto found = python_.read();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lost, 1U);
  EXPECT_THAT(found->threads, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(, PythonMemory, testing::ValuesIn(python_cases()),
                         [](const auto& of) { return of.param.name; });

TEST(PythonLayout, OfUnknownReleasesIsNotKnown) {
  const Platform platform;
  for (const std::uint64_t release : {0x0207, 0x0307, 0x030d, 0x030e, 0x0400, 0})
    EXPECT_FALSE(layout_of_python(release, platform)) << release;
}

/// What 3.13.0 and 3.14.0 say of themselves on x86_64, and where gdb finds these numbers.
TEST(PythonLayout, TheInterpretersOwnDescriptionIsTaken) {
  struct Said {
    std::uint64_t version;
    std::map<std::size_t, std::uint64_t> numbers;
    std::uint64_t instructions;
    std::size_t of_first_thread;
  };
  const Said all[] = {{0x030d00f0,
                       {{5, 632},  {8, 7264}, {9, 7344}, {21, 8},   {22, 16},  {23, 72},  {29, 8},
                        {30, 0},   {31, 56},  {33, 70},  {35, 112}, {37, 128}, {38, 136}, {39, 68},
                        {43, 200}, {45, 8},   {65, 16},  {66, 32},  {68, 32},  {69, 16},  {70, 40}},
                       200,
                       9},
                      {0x030e00f0,
                       {{5, 808},  {8, 7272}, {9, 7344}, {24, 8},   {25, 16},  {26, 72},  {32, 8},
                        {33, 0},   {34, 56},  {36, 74},  {40, 112}, {42, 128}, {43, 136}, {44, 68},
                        {48, 208}, {51, 8},   {75, 16},  {76, 32},  {78, 32},  {79, 16},  {80, 40}},
                       208,
                       9}};
  for (const Said& said : all) {
    std::vector<std::uint64_t> words(described_runtime / sizeof(std::uint64_t));
    for (const auto& [at, value] : said.numbers)
      words[at] = value;
    words[1] = said.version;
    const auto layout = [&] {
      const auto bytes = std::as_writable_bytes(std::span(words));
      const std::string_view cookie = "xdebugpy";
      std::ranges::copy(std::as_bytes(std::span(cookie)), bytes.begin());
      return described_layout(bytes, Platform());
    };
    ASSERT_TRUE(layout());
    EXPECT_EQ(layout()->first_thread.offset, 7344U);
    EXPECT_EQ(layout()->instructions, said.instructions);
    EXPECT_EQ(layout()->lines.offset, 136U);
    EXPECT_EQ(layout()->bytes, 32U);
    EXPECT_EQ(layout()->other_text, 56U);
    words[2] = 1; // free-threaded
    EXPECT_FALSE(layout());
    words[2] = 0;
    words[said.of_first_thread] = 1 << 20;
    EXPECT_FALSE(layout());
    words[said.of_first_thread] = 7344;
    words[1] = 0x030f00f0;
    EXPECT_FALSE(layout());
  }
}

} // namespace
} // namespace mqbridge
