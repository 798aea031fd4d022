#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mqbridge::rsp {

/// A line of /proc/PID/stat (proc(5)): "PID (NAME) STATE PPID ...". The name may have blanks and
/// parentheses in it. Refers to the text. No I/O; any thread.
class StatLine {
public:
  /// nullopt: there is no name in `text`, or no state behind it. The rest of the line may be cut
  /// off.
  static std::optional<StatLine> parse(std::string_view text);

  std::string_view name() const { return name_; }
  /// A letter, as ps shows it: 'R', 'S', 'D', 'T', 't', 'Z', 'X'.
  char state() const { return words_.front(); }
  /// The number that proc(5) has at this place, from 4 on; nullopt: there is none.
  std::optional<std::uint64_t> number(int place) const;

private:
  StatLine(std::string_view name, std::string_view words) : name_(name), words_(words) {}

  std::string_view name_;
  std::string_view words_; ///< from the state on, the third word of the line
};

} // namespace mqbridge::rsp
