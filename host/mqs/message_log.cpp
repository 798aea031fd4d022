#include "host/mqs/message_log.h"

#include "rsp/packet/printable.h"

namespace mqbridge {
namespace {

constexpr std::size_t max_lines = 200;
constexpr std::size_t max_line = 1000;

} // namespace

void MessageLog::add_line(std::string_view line) {
  if (line.empty() || dropping_)
    return;
  if (lines_.size() == max_lines) {
    lines_.push_back("... and more, dropped");
    dropping_ = true;
    return;
  }
  lines_.push_back(printable(line.substr(0, max_line)));
}

void MessageLog::add(std::string_view message) {
  while (!message.empty()) {
    const auto end = message.find('\n');
    add_line(message.substr(0, end));
    if (end == std::string_view::npos)
      return;
    message.remove_prefix(end + 1);
  }
}

void MessageLog::add_stream(std::string_view piece) {
  while (!piece.empty()) {
    const auto end = piece.find('\n');
    const std::string_view line = piece.substr(0, end);
    if (unfinished_.size() < max_line)
      unfinished_ += line.substr(0, max_line);
    if (end == std::string_view::npos)
      return;
    end_stream();
    piece.remove_prefix(end + 1);
  }
}

void MessageLog::clear() {
  lines_.clear();
  unfinished_.clear();
  dropping_ = false;
}

void MessageLog::end_stream() {
  add_line(unfinished_);
  unfinished_.clear();
}

} // namespace mqbridge
