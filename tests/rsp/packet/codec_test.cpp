#include "rsp/packet/codec.h"

#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <ostream>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using Kind = Decoder::Kind;
using testing::ElementsAre;

std::string checksum(std::string_view wire) {
  unsigned sum = 0;
  for (const char c : wire)
    sum += static_cast<unsigned char>(c);
  return fmt::format("{:02x}", sum & 255);
}

/// A frame around bytes that are on the wire as they stand.
std::string framed(std::string_view wire, char start = '$') {
  return fmt::format("{}{}#{}", start, wire, checksum(wire));
}

std::string describe(const Decoder::Event& event) {
  constexpr const char* names[] = {"packet", "note", "ack", "nack", "corrupt", "long", "garbage"};
  return fmt::format("{}:{}", names[static_cast<int>(event.kind)], event.bytes);
}

std::vector<std::string> events_of(Decoder& decoder) {
  std::vector<std::string> events;
  while (const auto event = decoder.next()) {
    // Garbage may come in pieces; what counts is what it is.
    if (event->kind == Kind::garbage && !events.empty() && events.back().starts_with("garbage:"))
      events.back() += event->bytes;
    else
      events.push_back(describe(*event));
  }
  return events;
}

struct Case {
  const char* name;
  std::string wire;
  std::vector<std::string> events;
};

void PrintTo(const Case& each, std::ostream* out) {
  *out << each.name;
}

const std::string nul(1, '\0');

const Case cases[] = {
    {"plain", "$OK#9a", {"packet:OK"}},
    {"empty", "$#00", {"packet:"}},
    {"upper-case checksum", "$OK#9A", {"packet:OK"}},
    {"acks around", "+$OK#9a-", {"ack:", "packet:OK", "nack:"}},
    {"two in a row", "$OK#9a$E01#a6", {"packet:OK", "packet:E01"}},
    {"notification", "%Stop:T05#99$OK#9a", {"note:Stop:T05", "packet:OK"}},
    {"run of zeros", framed("0* "), {"packet:0000"}},
    {"longest run", framed("a*~"), {"packet:" + std::string(98, 'a')}},
    {"run of NULs in a binary reply", framed(nul + "*!"), {"packet:" + std::string(5, '\0')}},
    {"runs follow each other", framed("ab* c*!"), {"packet:abbbbccccc"}},
    {"escaped", framed("b}\x03}\x04}\x0a}]"), {"packet:b#$*}"}},
    {"run of an escaped byte", framed("}\x03* "), {"packet:#\x03\x03\x03"}},
    {"run of the escape byte", framed("}* A"), {"packet:]]A"}},
    {"escape at the end is text", framed("E.bad }"), {"packet:E.bad }"}},
    {"NUL and high bytes", framed(nul + "\xff\x80"), {"packet:" + nul + "\xff\x80"}},
    {"wrong checksum", "$OK#9b$OK#9a", {"corrupt:OK", "packet:OK"}},
    {"checksum is no number", "$OK#zz", {"corrupt:OK"}},
    {"damaged notification", "%Stop#00", {"garbage:Stop"}},
    {"run with nothing before", framed("* "), {"corrupt:"}},
    {"run count too small", framed("a*\x1f"), {"corrupt:a"}},
    {"run count too large", framed("a*\x7f"), {"corrupt:a"}},
    {"run cut off by the end", framed("a*"), {"corrupt:a"}},
    {"cut off by the next packet", "$T05thr$OK#9a", {"garbage:T05thr", "packet:OK"}},
    {"run cut off by the next packet", "$ab*$OK#9a", {"garbage:ab", "packet:OK"}},
    {"text", "HTTP/1.1 400\r\n", {"garbage:HTTP/1.1 400\r\n"}},
    {"text before a packet", "login:$OK#9a", {"garbage:login:", "packet:OK"}},
    {"half a packet", "$OK#9", {}},
};

class DecoderCase : public testing::TestWithParam<Case> {};

TEST_P(DecoderCase, InOnePiece) {
  Decoder decoder;
  decoder.feed(GetParam().wire);
  EXPECT_EQ(events_of(decoder), GetParam().events);
}

TEST_P(DecoderCase, SplitAtEveryPoint) {
  const std::string& wire = GetParam().wire;
  for (std::size_t first = 0; first <= wire.size(); ++first) {
    for (std::size_t second = first; second <= wire.size(); ++second) {
      Decoder decoder;
      decoder.feed(std::string_view(wire).substr(0, first));
      decoder.feed(std::string_view(wire).substr(first, second - first));
      decoder.feed(std::string_view(wire).substr(second));
      ASSERT_EQ(events_of(decoder), GetParam().events) << "split at " << first << ", " << second;
    }
  }
}

TEST_P(DecoderCase, ByteByByteAndTakenAtOnce) {
  Decoder decoder;
  std::vector<std::string> events;
  for (const char byte : GetParam().wire) {
    decoder.feed({&byte, 1});
    for (auto& event : events_of(decoder)) {
      if (event.starts_with("garbage:") && !events.empty() && events.back().starts_with("garbage:"))
        events.back() += event.substr(8);
      else
        events.push_back(std::move(event));
    }
  }
  EXPECT_EQ(events, GetParam().events);
}

INSTANTIATE_TEST_SUITE_P(Wire, DecoderCase, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case>& param) {
                           std::string name;
                           for (const char c : std::string_view(param.param.name))
                             name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

TEST(Encode, FramesWithTheChecksumOfTheWire) {
  EXPECT_EQ(encode(""), "$#00");
  EXPECT_EQ(encode("OK"), "$OK#9a");
  EXPECT_EQ(encode("g}"), framed("g}]"));
}

TEST(Encode, EveryByteComesBack) {
  std::string payload = "x"; // a run cannot start a payload
  for (int byte = 0; byte < 256; ++byte)
    payload += static_cast<char>(byte);
  Decoder decoder;
  decoder.feed(encode(payload));
  EXPECT_THAT(events_of(decoder), ElementsAre("packet:" + payload));
}

TEST(Encode, PayloadCannotSmuggleASecondPacket) {
  const std::string frame = encode("m0,4#00$M0,1:00");
  EXPECT_EQ(frame.find('$', 1), std::string::npos);
  EXPECT_EQ(frame.find('#'), frame.size() - 3);
}

/// Payloads with runs and escapes of all kinds, as gdbserver writes them, next to what they mean.
struct LongFrame {
  std::string wire;
  std::string payload;
};

LongFrame long_frame(std::uint32_t seed) {
  LongFrame frame;
  std::uint32_t state = seed * 2654435761U + 1;
  const auto random = [&state](std::uint32_t limit) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8U) % limit;
  };
  while (frame.payload.size() < 5000) {
    char byte = static_cast<char>(random(256));
    if (byte == '#' || byte == '$' || byte == '*' || byte == '}') {
      frame.wire += '}';
      frame.wire += static_cast<char>(byte ^ 0x20);
    } else {
      frame.wire += byte;
    }
    frame.payload += byte;
    const std::uint32_t repeats = random(4) == 0 ? 3 + random(95) : 0;
    const char count = static_cast<char>(repeats + 29);
    if (repeats == 0 || count == '#' || count == '$')
      continue;
    frame.wire += '*';
    frame.wire += count;
    frame.payload.append(repeats, frame.wire[frame.wire.size() - 3]); // never an escape itself
  }
  return frame;
}

TEST(Decoder, LongFramesOfRunsAndEscapesAtEverySplit) {
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const auto [wire, payload] = long_frame(seed);
    const std::string bytes = framed(wire) + "$OK#9a";
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
      Decoder decoder;
      decoder.feed(std::string_view(bytes).substr(0, split));
      auto event = decoder.next();
      decoder.feed(std::string_view(bytes).substr(split));
      if (!event)
        event = decoder.next();
      ASSERT_TRUE(event && event->kind == Kind::packet) << split;
      const bool bytes_are_gone = split >= bytes.size() - 6; // with the second piece
      ASSERT_TRUE(bytes_are_gone || event->bytes == payload) << split;
    }
  }
}

TEST(Decoder, KnowsWhetherMoreHasCome) {
  Decoder decoder;
  EXPECT_FALSE(decoder.has_more());
  decoder.feed("$OK#9a$O");
  EXPECT_TRUE(decoder.has_more());
  EXPECT_EQ(decoder.next()->bytes, "OK");
  EXPECT_TRUE(decoder.has_more());
  EXPECT_FALSE(decoder.next());
  EXPECT_TRUE(decoder.has_more());
  decoder.feed("K#9a");
  EXPECT_EQ(decoder.next()->bytes, "OK");
  EXPECT_FALSE(decoder.has_more());
}

TEST(Decoder, OverLongPacketIsToldOnceAndSkipped) {
  Decoder decoder(10);
  decoder.feed(framed(std::string(10, 'a')) + framed(std::string(50, 'b')) + "$OK#9a");
  EXPECT_THAT(events_of(decoder),
              ElementsAre("packet:" + std::string(10, 'a'), "long:", "packet:OK"));
}

TEST(Decoder, OverLongByARunIsToldBeforeItsEnd) {
  Decoder decoder(1000);
  decoder.feed("$a");
  for (int i = 0; i < 100; ++i)
    decoder.feed("*~");
  EXPECT_THAT(events_of(decoder), ElementsAre("long:"));
}

TEST(Decoder, OverLongNotificationIsGarbageAndDoesNotStandForAReply) {
  Decoder decoder(10);
  decoder.feed(framed(std::string(50, 'n'), '%') + "$OK#9a");
  EXPECT_THAT(events_of(decoder), ElementsAre("garbage:", "packet:OK"));
}

TEST(Decoder, GarbageIsCountedButNotKept) {
  Decoder decoder;
  decoder.feed(std::string(100'000, '\n'));
  const auto event = decoder.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::garbage);
  EXPECT_EQ(event->length, 100'000U);
  EXPECT_EQ(event->bytes.size(), Decoder::garbage_sample);
  EXPECT_FALSE(decoder.next());
}

} // namespace
} // namespace mqbridge::rsp
