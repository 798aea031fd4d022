#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace mqbridge::rsp {

/// The payload of a packet while it is decoded. Like a std::string, but growth does not fill with
/// zeros first, short pieces cost no call, and clear() keeps the memory.
class PayloadBuffer {
public:
  std::size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.get(), size_}; }
  void clear() { size_ = 0; }

  void append(std::string_view bytes) {
    make_room(bytes.size());
    std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void append(char byte) {
    make_room(1);
    bytes_[size_++] = byte;
  }
  void append(std::size_t count, char byte) {
    make_room(count + short_run);
    // A run has three to 97 bytes, mostly few: two stores beat a call of memset.
    std::memset(bytes_.get() + size_, byte, short_run);
    if (count > short_run)
      std::memset(bytes_.get() + size_ + short_run, byte, count - short_run);
    size_ += count;
  }

private:
  static constexpr std::size_t short_run = 16;

  void make_room(std::size_t more) {
    if (capacity_ - size_ < more)
      grow(more);
  }
  void grow(std::size_t more) {
    constexpr std::size_t smallest = 4096;
    const std::size_t wanted = std::max({2 * capacity_, size_ + more, smallest});
    auto larger = std::make_unique_for_overwrite<char[]>(wanted);
    std::copy_n(bytes_.get(), size_, larger.get());
    bytes_ = std::move(larger);
    capacity_ = wanted;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

} // namespace mqbridge::rsp
