#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mqbridge {

/// What a look's document (NDJSON) says of itself, line by line, as it comes.
class DocumentLines {
public:
  void add(std::string_view text);

  /// The first line and the last complete one; empty: none, or much too long.
  const std::string& first() const { return first_; }
  const std::string& last() const { return last_; }
  std::size_t ranks() const { return ranks_; } ///< of the look that counts
  /// Tells these processes from others: a number of a process, or of a job, may come again.
  std::string processes() const;

private:
  void end_line();

  std::string line_; ///< as far as it has come
  bool is_too_long_ = false;
  std::string first_;
  std::string last_;
  std::size_t ranks_ = 0;
  std::uint64_t processes_ = 0;
};

} // namespace mqbridge
