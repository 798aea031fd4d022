// What takes the stub's bytes apart, in mqbridge and in the guardian: whatever the bytes and
// however they are cut, the same comes out; and what encode() frames, both find again.
// Input: a count, so many lengths of pieces (a byte each, used in turn), then the stream.

#include "rsp/guardian/program/packet_scanner.h"
#include "rsp/packet/codec.h"
#include "tests/fuzz/fuzz_input.h"

#include <string>
#include <vector>

namespace {

using mqbridge::rsp::Decoder;
using mqbridge::rsp::guardian::PacketScanner;
using mqbridge::test::FuzzInput;
using mqbridge::test::require;

constexpr std::size_t limit = 4096;
constexpr std::size_t longest_run = 99; // the last one that a packet is cut in

/// Calls `feed` with the pieces of `bytes`; `lengths` are used in turn, and may be 0.
template <class Feed>
void cut(std::string_view bytes, std::string_view lengths, Feed feed) {
  for (std::size_t turn = 0; !bytes.empty(); ++turn) {
    const auto length = static_cast<std::uint8_t>(lengths[turn % lengths.size()]);
    const auto piece = bytes.substr(0, turn % lengths.size() == 0 && length == 0 ? 1 : length);
    feed(piece);
    bytes.remove_prefix(piece.size());
  }
}

/// An event with its bytes, which the decoder does not keep.
struct Decoded {
  Decoder::Kind kind;
  std::string bytes;
  bool operator==(const Decoded&) const = default;
};

std::vector<Decoded> decode(std::string_view bytes, std::string_view lengths) {
  Decoder decoder(limit);
  std::vector<Decoded> events;
  cut(bytes, lengths, [&](std::string_view piece) {
    decoder.feed(piece);
    while (auto event = decoder.next()) {
      require(event->bytes.size() <= limit);
      // A run of garbage is told in as many events as there were pieces.
      if (event->kind != Decoder::Kind::garbage)
        events.push_back({event->kind, std::string(event->bytes)});
    }
  });
  return events;
}

std::vector<std::string> scan(std::string_view bytes, std::string_view lengths) {
  PacketScanner scanner;
  std::vector<std::string> packets;
  cut(bytes, lengths, [&](std::string_view piece) {
    for (auto& packet : scanner.feed(piece)) {
      require(packet.size() < PacketScanner::kept_bytes + longest_run);
      packets.push_back(std::move(packet));
    }
  });
  return packets;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  const auto lengths = input.take(input.number(1) % 8);
  const auto bytes = input.rest();
  const std::string_view single("\x01", 1);
  const auto pieces = lengths.empty() ? std::string_view("\xff", 1) : lengths;

  require(decode(bytes, single) == decode(bytes, pieces));
  const auto found = scan(bytes, single);
  require(found == scan(bytes, pieces));
  for (const auto& packet : found)
    static_cast<void>(mqbridge::rsp::guardian::process_of_stop_reply(packet));

  if (bytes.size() <= limit) {
    const auto back = decode(mqbridge::rsp::encode(bytes), pieces);
    require(back.size() == 1 && back[0].kind == Decoder::Kind::packet && back[0].bytes == bytes);
    require(scan(mqbridge::rsp::encode(bytes), pieces).size() == 1);
  }
  return 0;
}
