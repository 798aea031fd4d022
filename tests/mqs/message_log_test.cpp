// What a DLL says, by whichever way, is bounded and fit to be shown.

#include "host/mqs/message_log.h"

#include <gmock/gmock.h>
#include <string>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct Log {
  std::vector<std::string> lines;
  MessageLog log{lines};
};

TEST(MessageLog, CutsAStreamAtItsNewlinesWhereverItsPiecesEnd) {
  const std::string text = "first\n\nsecond\nlast, without";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Log to;
    to.log.add_stream(text.substr(0, cut));
    to.log.add_stream(text.substr(cut));
    to.log.end_stream();
    EXPECT_THAT(to.lines, ElementsAre("first", "second", "last, without")) << cut;
  }
}

TEST(MessageLog, KeepsNoMoreThanTheBeginningOfALineWithoutEnd) {
  Log to;
  const std::string piece(64 * 1024, 'x');
  for (int i = 0; i < 10'000; ++i) // 640 MB, of which it keeps nothing to speak of
    to.log.add_stream(piece);
  EXPECT_THAT(to.lines, IsEmpty());
  to.log.end_stream();
  EXPECT_THAT(to.lines, ElementsAre(std::string(1000, 'x')));
}

TEST(MessageLog, DropsWhatIsTooMuchAndSaysSo) {
  Log to;
  for (int i = 0; i < 1000; ++i)
    to.log.add("again\nand again\n");
  EXPECT_THAT(to.lines, SizeIs(201));
  EXPECT_EQ(to.lines.back(), "... and more, dropped");
}

TEST(MessageLog, ShowsNothingThatDrivesATerminal) {
  Log to;
  to.log.add_stream(std::string("\x1b]0;title\x07 \0 \xff\r\n", 16));
  ASSERT_THAT(to.lines, SizeIs(1));
  for (const char shown : to.lines.front())
    EXPECT_GE(static_cast<unsigned char>(shown), 0x20) << to.lines.front();
}

} // namespace
} // namespace mqbridge
