// The packet codec: whatever the bytes and however they are split, the same events come out; and
// what encode() frames, the decoder gives back.

#include "rsp/codec.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using mqbridge::rsp::Decoder;

/// An event with its bytes, which the decoder does not keep.
struct Decoded {
  Decoder::Kind kind;
  std::string bytes;
};

std::vector<Decoded> decode(std::string_view bytes, std::size_t piece) {
  Decoder decoder(4096);
  std::vector<Decoded> events;
  while (!bytes.empty()) {
    decoder.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (auto event = decoder.next()) {
      // A run of garbage is told in as many events as there were pieces.
      if (event->kind != Decoder::Kind::garbage)
        events.push_back({event->kind, std::string(event->bytes)});
    }
  }
  return events;
}

void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = decode(bytes, std::max<std::size_t>(size, 1));
  const auto single = decode(bytes, 1);
  require(whole.size() == single.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    require(whole[i].kind == single[i].kind && whole[i].bytes == single[i].bytes);

  if (size <= 1024) {
    const auto back = decode(mqbridge::rsp::encode(bytes), 7);
    require(back.size() == 1 && back[0].kind == Decoder::Kind::packet && back[0].bytes == bytes);
  }
  return 0;
}
