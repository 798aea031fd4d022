#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// A payload for the eye: bytes that do not print as \xNN, and at most about `limit` characters.
std::string shorten(std::string_view payload, std::size_t limit = 48);

/// The last ten packets of a connection, both ways, for messages. One thread at a time.
class PacketHistory {
public:
  void sent(std::string_view payload) { add("> ", payload); }
  void received(std::string_view payload) { add("< ", payload); }
  /// "> ?, < T05thread:p1.1;, > m1000,40"; empty if there was none.
  std::string text() const;

private:
  // Only what a message can show is kept: bulk replies pass here too.
  static constexpr std::size_t kept_bytes = 49;
  struct Entry {
    std::string_view arrow;
    std::array<char, kept_bytes> start{};
    std::size_t kept = 0;
  };
  void add(std::string_view arrow, std::string_view payload);

  std::array<Entry, 10> ring_;
  std::size_t count_ = 0;
};

} // namespace mqbridge::rsp
