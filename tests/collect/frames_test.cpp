#include "host/collect/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Written {
  std::vector<std::string> frames;
  FrameWriter writer{[this](std::string_view frame) { frames.emplace_back(frame); }};
};

/// What the reader makes of frames, line by line.
std::vector<std::string> read_back(const std::vector<std::string>& frames) {
  std::vector<std::string> lines;
  std::string line;
  LineSplitter splitter;
  for (const auto& bytes : frames)
    splitter.add(bytes, [&](std::string_view text) {
      const auto frame = parse_frame(text);
      ASSERT_TRUE(frame) << frame.error().message;
      line += frame->text;
      if (frame->kind == Frame::Kind::last_piece)
        lines.push_back(std::exchange(line, {}));
    });
  EXPECT_EQ(line, "");
  return lines;
}

TEST(Frames, AreShortWhateverTheLinesAre) {
  for (const std::size_t length : {0U, 1U, 981U, 982U, 983U, 1964U, 1965U, 100'000U})
    for (const std::size_t piece : {1U, 7U, 982U, 200'000U}) {
      const std::string text =
          std::string(length, 'x') + "\n" + std::string(length / 2, 'y') + "\n";
      Written written;
      for (std::size_t at = 0; at < text.size(); at += piece)
        written.writer.write(std::string_view(text).substr(at, piece));
      for (const auto& frame : written.frames) {
        EXPECT_LE(frame.size(), longest_frame - 16) << "there is room for srun's label";
        EXPECT_EQ(frame.find('\n'), frame.size() - 1);
      }
      EXPECT_THAT(read_back(written.frames),
                  ElementsAre(std::string(length, 'x'), std::string(length / 2, 'y')))
          << length << " in pieces of " << piece;
    }
}

TEST(Frames, AGreetingSaysWhoSpeaks) {
  Written written;
  written.writer.hello("n17", "0.1.0");
  written.writer.alive();
  ASSERT_THAT(written.frames, ElementsAre("#mqbridge 1 n17 0.1.0\n", "-\n"));
  const auto hello = parse_frame("#mqbridge 1 n17 0.1.0");
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->kind, Frame::Kind::hello);
  EXPECT_EQ(hello->host, "n17");
  EXPECT_EQ(hello->version, "0.1.0");
  EXPECT_EQ(parse_frame("-")->kind, Frame::Kind::alive);
}

TEST(Frames, ANameThatIsNoWordIsGreetedWithAllTheSame) {
  Written written;
  written.writer.hello("n 17\n", "");
  EXPECT_THAT(written.frames, ElementsAre("#mqbridge 1 n?17? ?\n"));
}

TEST(Frames, WhatIsNoneIsAnErrorThatShowsIt) {
  for (const std::string& line :
       {std::string(), std::string("hello"), std::string("--"), std::string("#mqbridge 2 n17 9.9"),
        std::string("#mqbridge 1 n17"), std::string("#mqbridge 1 n17 0.1 more"),
        std::string("\x1b[2J"), "+" + std::string(longest_frame, 'x')}) {
    const auto frame = parse_frame(line);
    ASSERT_FALSE(frame) << line.substr(0, 40);
    EXPECT_EQ(frame.error().code, "collector.protocol");
    EXPECT_LT(frame.error().message.size(), 500U);
    EXPECT_EQ(frame.error().message.find('\x1b'), std::string::npos);
  }
  EXPECT_THAT(parse_frame("#mqbridge 2 n17 9.9").error().message, HasSubstr("another version"));
}

TEST(Frames, ALineWithoutEndTakesNoMemory) {
  LineSplitter splitter;
  std::vector<std::size_t> lengths;
  const auto use = [&](std::string_view line) { lengths.push_back(line.size()); };
  for (int i = 0; i < 1000; ++i)
    splitter.add(std::string(100'000, 'x'), use);
  splitter.add("\nshort\n", use);
  EXPECT_THAT(lengths,
              ElementsAre(testing::AllOf(testing::Gt(longest_frame), testing::Lt(10'000U)), 5U));
}

} // namespace
} // namespace mqbridge::test
