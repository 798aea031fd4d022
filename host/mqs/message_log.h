#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The lines that a DLL printed, in whatever way: bounded, and fit to be shown. Lines beyond the
/// bounds are dropped, and one last line says so.
class MessageLog {
public:
  explicit MessageLog(std::vector<std::string>& lines) : lines_(lines) {}

  /// One message, of one or more lines.
  void add(std::string_view message);
  /// A piece of a stream: lines are complete at their newline.
  void add_stream(std::string_view piece);
  /// The DLL is loaded again: its messages so far do not count.
  void clear();
  /// The stream has ended: its last line may lack the newline.
  void end_stream();

private:
  void add_line(std::string_view line);

  std::vector<std::string>& lines_;
  std::string unfinished_;
  bool dropping_ = false;
};

} // namespace mqbridge
