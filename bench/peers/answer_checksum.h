#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <zlib.h>

namespace mqbridge::peers {

/// The checksum of an answer, the same in every peer (peer.py): for each queue that has operations,
/// the CRC-32 of its class (one byte: 0 send, 1 receive, 2 unexpected) and of each operation in
/// the order of the queue: the buffer's address in 8 bytes and the tag in 4, little-endian, all
/// ones for any tag. These are added up: the order of communicators does not count. Eight
/// hexadecimal digits.
class AnswerChecksum {
public:
  void begin_queue(std::uint8_t op_class) {
    end_queue();
    queue_ = crc32(0, &op_class, 1);
  }

  /// Only the low 32 bits of `tag` count: a tag that was not sign-extended gives the same.
  void add(std::uint64_t buffer, std::int64_t tag, bool any_tag) {
    std::array<std::uint8_t, 12> record{};
    const std::uint64_t tag_bits = any_tag ? ~std::uint64_t{0} : static_cast<std::uint64_t>(tag);
    for (std::size_t i = 0; i < 8; ++i)
      record[i] = static_cast<std::uint8_t>(buffer >> (8 * i));
    for (std::size_t i = 0; i < 4; ++i)
      record[8 + i] = static_cast<std::uint8_t>(tag_bits >> (8 * i));
    queue_ = crc32(queue_, record.data(), record.size());
    ++in_queue_;
    ++operations_;
  }

  std::uint64_t operations() const { return operations_; }

  /// The checksum of everything that was added. Nothing may be added afterwards.
  std::string text() {
    end_queue();
    return fmt::format("{:08x}", sum_);
  }

private:
  void end_queue() {
    if (in_queue_ > 0)
      sum_ += static_cast<std::uint32_t>(queue_);
    in_queue_ = 0;
  }

  unsigned long queue_ = 0;
  std::uint64_t in_queue_ = 0;
  std::uint64_t operations_ = 0;
  std::uint32_t sum_ = 0;
};

} // namespace mqbridge::peers
