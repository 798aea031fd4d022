// Frames of Python in memory that a test makes up, on four platforms. The offsets are those that
// gcc and gdb give of CPython's headers; PythonLayout works them out of the members.

#include "host/stacks/python/python_code.h"
#include "host/stacks/python/raw_frames.h"
#include "tests/support/fake_memory.h"

#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>
#include <string>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct PythonOffsets {
  int interpreter, first_thread, next_thread, its_interpreter, cframe, frame_of_cframe;
  int code, previous, instruction, end; ///< of a frame; `end`: is_entry or owner
  int size, first_line, file, name, lines, instructions;
  int length, state, ascii, other;
  int bytes;
};

struct PythonCase {
  std::string name;
  std::uint64_t release;
  Platform platform;
  PythonOffsets offsets;
};

void PrintTo(const PythonCase& one, std::ostream* out) {
  *out << one.name;
}

Platform platform_of(ByteOrder order, DataModel model, int int64_alignment) {
  Platform platform;
  platform.byte_order = order;
  platform.set_data_model(model);
  platform.int64_alignment = int64_alignment;
  return platform;
}

std::vector<PythonCase> python_cases() {
  constexpr PythonOffsets of_3_11 = {40, 16,  8,   16,  56,  8,  32, 48, 56, 68, 16,
                                     72, 112, 128, 136, 184, 16, 32, 48, 72, 32};
  constexpr PythonOffsets of_3_12 = {40, 72,  8,   16,  56,  0,  0,  8,  56, 70, 16,
                                     68, 112, 128, 136, 192, 16, 32, 40, 56, 32};
  constexpr PythonOffsets small_3_11 = {28, 12, 4,  8,  40,  4, 16, 24, 28, 36, 8,
                                        48, 80, 88, 92, 116, 8, 16, 24, 36, 16};
  constexpr PythonOffsets small_3_12 = {28, 60, 4,  8,  40,  0, 0,  4,  28, 38, 8,
                                        44, 80, 88, 92, 124, 8, 16, 20, 28, 16};
  // Where an integer of 8 bytes is aligned to 8, as on ARM.
  PythonOffsets arm_3_11 = small_3_11;
  arm_3_11.first_thread = 16;
  PythonOffsets arm_3_12 = small_3_12;
  arm_3_12.first_thread = 64;
  const auto le64 = platform_of(ByteOrder::little, DataModel::lp64, 8);
  const auto be64 = platform_of(ByteOrder::big, DataModel::lp64, 8);
  const auto i386 = platform_of(ByteOrder::little, DataModel::ilp32, 4);
  const auto be32 = platform_of(ByteOrder::big, DataModel::ilp32, 8);
  return {{"le64_11", 0x030b, le64, of_3_11},    {"be64_11", 0x030b, be64, of_3_11},
          {"i386_11", 0x030b, i386, small_3_11}, {"be32_11", 0x030b, be32, arm_3_11},
          {"le64_12", 0x030c, le64, of_3_12},    {"be64_12", 0x030c, be64, of_3_12},
          {"i386_12", 0x030c, i386, small_3_12}, {"be32_12", 0x030c, be32, arm_3_12}};
}

namespace made_up { // addresses
constexpr std::uint64_t runtime = 0x10000;
constexpr std::uint64_t interpreter = 0x11000;
constexpr std::uint64_t state = 0x12000;
constexpr std::uint64_t cframe = 0x70000;
constexpr std::uint64_t entry_variable = 0x70100;
constexpr std::uint64_t outer_variable = 0x70200;
constexpr std::uint64_t frames = 0x13000; ///< 0x100 bytes each
constexpr std::uint64_t codes = 0x14000;
constexpr std::uint64_t texts = 0x16000;
constexpr std::uint64_t tables = 0x18000;
constexpr PythonTypes types = {{0x20000}, {0x20100}, {0x20200}};
} // namespace made_up
using namespace made_up; // NOLINT(google-build-using-namespace)

class PythonMemory : public testing::TestWithParam<PythonCase> {
protected:
  PythonMemory() {
    // <module> calls through C what calls inner.
    word(runtime, offsets().interpreter, interpreter);
    word(interpreter, 0, 0);
    word(interpreter, offsets().first_thread, state);
    word(state, offsets().next_thread, 0);
    word(state, offsets().its_interpreter, interpreter);
    word(state, offsets().cframe, cframe);
    word(cframe, offsets().frame_of_cframe, frames);
    add_code(0, "inner", 1);
    add_code(1, "caf\u00e9", 1);
    add_code(2, "<module>", 1);
    const bool has_entry = GetParam().release == 0x030b;
    if (has_entry) {
      add_frame(frames, 0, frames + 0x100, 2, 0);
      add_frame(frames + 0x100, 1, frames + 0x200, 1, 1);
      add_frame(frames + 0x200, 2, 0, 0, 1);
    } else {
      add_frame(frames, 0, frames + 0x100, 2, 0);
      add_frame(frames + 0x100, 1, entry_variable, 1, 0);
      add_frame(entry_variable, 1, frames + 0x200, 0, 3);
      add_frame(frames + 0x200, 2, outer_variable, 0, 0);
      add_frame(outer_variable, 1, 0, 0, 3);
    }
  }

  const PythonOffsets& offsets() const { return GetParam().offsets; }
  bool is_big() const { return GetParam().platform.byte_order == ByteOrder::big; }

  void put(std::uint64_t address, std::uint64_t value, std::size_t size) {
    memory_.put_integer({address}, value, size, is_big());
    put_.push_back({address, size});
  }
  void word(std::uint64_t base, int offset, std::uint64_t value) {
    put(base + static_cast<std::uint64_t>(offset), value,
        static_cast<std::size_t>(GetParam().platform.pointer_size));
  }
  int type_offset() const { return GetParam().platform.pointer_size; }

  /// `letters` of UTF-8: in ASCII, else in letters of 1 byte where that is enough.
  void add_text(std::uint64_t at, const std::vector<std::uint32_t>& letters) {
    std::uint32_t most = 0;
    for (const auto letter : letters)
      most = std::max(most, letter);
    const bool ascii = most < 0x80;
    const std::uint32_t width = most < 0x100 ? 1 : most < 0x10000 ? 2 : 4;
    word(at, type_offset(), types.text.value);
    word(at, offsets().length, letters.size());
    const std::uint32_t bits = is_big() ? width << 27 | 1U << 26 | (ascii ? 1U << 25 : 0)
                                        : width << 2 | 1U << 5 | (ascii ? 1U << 6 : 0);
    put(at + static_cast<std::uint64_t>(offsets().state), bits, 4);
    auto place = at + static_cast<std::uint64_t>(ascii ? offsets().ascii : offsets().other);
    for (const auto letter : letters) {
      memory_.put_integer({place}, letter, width, is_big());
      place += width;
    }
    memory_.put_integer({place}, 0, width, is_big());
  }

  void add_code(std::uint64_t index, const std::string& name, std::uint32_t first_line) {
    const auto at = codes + 0x400 * index;
    const auto name_at = texts + 0x400 * index;
    const auto file_at = name_at + 0x200;
    word(at, type_offset(), types.code.value);
    word(at, offsets().size, 4);
    put(at + static_cast<std::uint64_t>(offsets().first_line), first_line, 4);
    word(at, offsets().file, file_at);
    word(at, offsets().name, name_at);
    word(at, offsets().lines, tables + 0x100 * index);
    std::vector<std::uint32_t> letters;
    for (const char letter : name)
      if (static_cast<unsigned char>(letter) == 0xc3)
        continue;
      else if (static_cast<unsigned char>(letter) == 0xa9)
        letters.push_back(0xe9);
      else
        letters.push_back(static_cast<unsigned char>(letter));
    add_text(name_at, letters);
    // "a.py", "ф.py", and one with a letter of four bytes.
    constexpr std::uint32_t first[] = {'a', 0x444, 0x1f40d};
    add_text(file_at, {first[index], '.', 'p', 'y'});
    // Two instructions each of the first line, and of the one after it.
    word(tables + 0x100 * index, type_offset(), types.bytes.value);
    word(tables + 0x100 * index, offsets().size, 4);
    memory_.put({tables + 0x100 * index + static_cast<std::uint64_t>(offsets().bytes)},
                {0x81, 0x00, 0x80 | 11 << 3 | 1, 0x00, 0x00});
  }

  void add_frame(std::uint64_t at, std::uint64_t code, std::uint64_t previous,
                 std::uint64_t instruction, std::uint64_t end) {
    const auto code_at = codes + 0x400 * code;
    word(at, offsets().code, code_at);
    word(at, offsets().previous, previous);
    word(at, offsets().instruction,
         code_at + static_cast<std::uint64_t>(offsets().instructions) + 2 * instruction);
    put(at + static_cast<std::uint64_t>(offsets().end), end, 1);
  }

  struct Read {
    RawThreads raw;
    std::vector<std::vector<std::optional<PythonFrame>>> calls; ///< of the first thread
  };
  Read read() {
    ImageSet images({});
    const AddressSpace space{images, memory_, GetParam().platform};
    const auto layout = layout_of_python(GetParam().release, GetParam().platform);
    Read all;
    auto raw = read_raw_frames(space, *layout, interpreter, {});
    EXPECT_TRUE(raw);
    all.raw = std::move(*raw);
    PythonCode code(space, *layout, types);
    std::set<std::uint64_t> wanted;
    for (const RawThread& thread : all.raw.threads)
      for (const RawCall& call : thread.calls)
        for (const RawFrame& frame : call.frames)
          wanted.insert(frame.code);
    EXPECT_TRUE(code.read(wanted));
    if (!all.raw.threads.empty())
      for (const RawCall& call : all.raw.threads.front().calls) {
        auto& one = all.calls.emplace_back();
        for (const RawFrame& frame : call.frames)
          one.push_back(code.frame_of(frame));
      }
    return all;
  }

  FakeMemory memory_;
  std::vector<std::pair<std::uint64_t, std::size_t>> put_; ///< address and size of each integer
};

std::string words_of(const std::optional<PythonFrame>& frame) {
  return frame ? frame->function + " " + frame->file + ":" + std::to_string(frame->line.value_or(0))
               : "-";
}

TEST_P(PythonMemory, FramesAreThoseThatWerePutThere) {
  const Read all = read();
  EXPECT_EQ(all.raw.lost, 0U);
  ASSERT_THAT(all.raw.threads, SizeIs(1));
  ASSERT_THAT(all.calls, SizeIs(2));
  ASSERT_THAT(all.calls[0], SizeIs(2));
  ASSERT_THAT(all.calls[1], SizeIs(1));
  EXPECT_EQ(words_of(all.calls[0][0]), "inner a.py:2");
  EXPECT_EQ(words_of(all.calls[0][1]), "caf\u00e9 \u0444.py:1");
  EXPECT_EQ(words_of(all.calls[1][0]), "<module> \U0001f40d.py:1");
  EXPECT_EQ(all.raw.threads[0].calls[0].on_stack, TargetAddress{cframe});
}

TEST_P(PythonMemory, DamageNeitherCrashesNorLoops) {
  std::mt19937 random(7); // NOLINT(bugprone-random-generator-seed): the same each time
  const std::uint64_t places[] = {runtime, interpreter, state,  cframe,           frames,
                                  codes,   texts,       tables, ~std::uint64_t{0}};
  for (int round = 0; round < 400; ++round) {
    const auto [address, size] = put_[random() % put_.size()];
    std::vector<std::uint8_t> sound(size);
    ASSERT_EQ(*memory_.read({address}, std::as_writable_bytes(std::span(sound))), size);
    const std::uint64_t wrong = random() % 2 == 0
                                    ? places[random() % std::size(places)] + random() % 0x400
                                    : std::uint64_t{random()} << 32 | random();
    memory_.put_integer({address}, wrong, size, is_big());
    const Read all = read();
    std::size_t found = 0;
    for (const auto& call : all.calls)
      found += call.size();
    EXPECT_LE(found, 5U) << "frames, and the evaluator's variables";
    memory_.put({address}, sound);
  }
}

TEST_P(PythonMemory, AThreadThatIsItsOwnCallerIsLost) {
  word(frames + 0x200, offsets().previous, frames);
  const Read all = read();
  EXPECT_EQ(all.raw.lost, 1U);
  EXPECT_THAT(all.raw.threads, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(, PythonMemory, testing::ValuesIn(python_cases()),
                         [](const auto& of) { return of.param.name; });

TEST(PythonLayout, OfUnknownReleasesIsNotKnown) {
  const Platform platform;
  for (const std::uint64_t release : {0x0207, 0x0307, 0x030d, 0x030e, 0x0400, 0})
    EXPECT_FALSE(layout_of_python(release, platform)) << release;
}

/// What 3.13.0 of this platform says of itself.
TEST(PythonLayout, TheInterpretersOwnDescriptionIsTaken) {
  std::vector<std::uint64_t> words(described_runtime / sizeof(std::uint64_t));
  const std::map<std::size_t, std::uint64_t> said = {
      {1, 0x030d00f0}, {5, 632}, {8, 7264}, {9, 7344}, {21, 8},   {22, 16},  {23, 72}, {29, 8},
      {30, 0},         {31, 56}, {33, 70},  {35, 112}, {37, 128}, {38, 136}, {39, 68}, {43, 200},
      {45, 8},         {65, 16}, {66, 32},  {68, 32},  {69, 16},  {70, 40}};
  for (const auto& [at, value] : said)
    words[at] = value;
  const auto layout = [&] {
    auto bytes = std::as_writable_bytes(std::span(words));
    const std::string_view cookie = "xdebugpy";
    std::ranges::copy(std::as_bytes(std::span(cookie)), bytes.begin());
    return described_layout(bytes, Platform());
  };
  ASSERT_TRUE(layout());
  EXPECT_EQ(layout()->first_thread.offset, 7344U);
  EXPECT_EQ(layout()->instructions, 200U);
  EXPECT_EQ(layout()->other_text, 56U);
  words[2] = 1; // free-threaded
  EXPECT_FALSE(layout());
  words[2] = 0;
  words[9] = 1 << 20;
  EXPECT_FALSE(layout());
  words[9] = 7344;
  words[1] = 0x030e00f0;
  EXPECT_FALSE(layout());
}

} // namespace
} // namespace mqbridge
