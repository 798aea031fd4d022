#pragma once

#include "host/mqs/shared_text.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// The lines of an operation's extra_text (MQD 5.5.2); some lines at the end may be hidden. The
/// texts of most operations differ only in an address ("Receive: 0x5570..."): they share the common
/// part, and each keeps its address as a number. Lines come out as they went in; they have no
/// control characters (printable() sees to that).
class TextLines {
public:
  class Iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string*;
    using reference = std::string;

    Iterator(const TextLines& lines, std::size_t index, std::string_view rest)
        : lines_(&lines), index_(index), rest_(rest) {}
    std::string operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

  private:
    const TextLines* lines_;
    std::size_t index_;
    std::string_view rest_; ///< of the pattern, from this line on
  };
  using value_type = std::string;
  using iterator = Iterator;
  using const_iterator = Iterator;

  TextLines() = default;
  /// Lines beyond the 255th are left out; the interface has five.
  TextLines(std::span<const std::string> lines, TextPool& pool);
  TextLines(std::initializer_list<std::string> lines);

  std::size_t size() const { return shown_; }
  bool empty() const { return shown_ == 0; }
  /// There must be such a line.
  std::string operator[](std::size_t index) const;
  std::string front() const { return *begin(); }
  Iterator begin() const { return {*this, 0, pattern_ ? *pattern_ : std::string_view()}; }
  Iterator end() const { return {*this, shown_, {}}; }

  /// Hides all but the first `count`.
  void show_only(std::size_t count);
  bool hides_some() const { return shown_ < said_; }
  /// All lines, the hidden ones included.
  TextLines all() const;

private:
  SharedText pattern_; ///< each line with its end, without one address
  std::uint64_t address_ = 0;
  std::uint8_t said_ = 0;
  std::uint8_t shown_ = 0;
};

} // namespace mqbridge
