#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::test {

// The wire format from the stub's side, written a second time on purpose: a mistake in rsp/codec
// must not be confirmed by the stub that tests it.

/// `$PAYLOAD#SUM`, with the bytes that need it escaped.
std::string frame(std::string_view payload);

/// Lower-case digits, two for each byte.
std::string to_hex(std::string_view bytes);

/// One thing that a client sent.
struct Arrival {
  enum class Kind { packet, bad_packet, ack, nack, interrupt, junk };
  Kind kind = Kind::junk;
  std::string payload; ///< of a packet, unescaped
};

/// Cuts the client's bytes into arrivals; keeps what is incomplete.
class WireReader {
public:
  std::vector<Arrival> feed(std::string_view bytes);

private:
  std::string pending_;
};

} // namespace mqbridge::test
