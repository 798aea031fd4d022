#include "host/collect/frames.h"

#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

constexpr char last_piece = '.';
constexpr char more_pieces = '+';
constexpr char is_alive = '-';
constexpr std::string_view greeting = "#mqbridge ";
constexpr std::string_view protocol = "1 ";

/// Room for srun's label: "17: ". The reader removes it.
constexpr std::size_t label_room = 16;
constexpr std::size_t longest_text = longest_frame - label_room - 2; // the kind and the line end

/// A name with blanks would break the words of a greeting.
std::string one_word(std::string_view text) {
  std::string word(text.substr(0, 255));
  std::ranges::replace_if(
      word, [](char c) { return c <= ' ' || c > '~'; }, '?');
  return word.empty() ? "?" : word;
}

std::string_view take_word(std::string_view& text) {
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

Failure not_a_frame(std::string_view line, std::string_view why) {
  constexpr std::size_t most_shown = 80;
  return fail("collector.protocol",
              fmt::format("\"{}\" {}", printable(line.substr(0, most_shown)), why),
              "--collector PATH: the mqbridge of this version, on the nodes");
}

} // namespace

void FrameWriter::hello(std::string_view host, std::string_view version) {
  const std::lock_guard lock(mutex_);
  sink_(fmt::format("{}{}{} {}\n", greeting, protocol, one_word(host), one_word(version)));
}

void FrameWriter::alive() {
  const std::lock_guard lock(mutex_);
  sink_(fmt::format("{}\n", is_alive));
}

void FrameWriter::write(std::string_view text) {
  const std::lock_guard lock(mutex_);
  while (!text.empty()) {
    const auto room = longest_text - piece_.size();
    const auto taken = text.substr(0, std::min(room, text.find('\n')));
    piece_ += taken;
    text.remove_prefix(taken.size());
    if (text.starts_with('\n')) {
      send(last_piece, std::exchange(piece_, {}));
      text.remove_prefix(1);
    } else if (piece_.size() == longest_text) {
      send(more_pieces, std::exchange(piece_, {}));
    }
  }
}

void FrameWriter::send(char kind, std::string_view text) {
  sink_(fmt::format("{}{}\n", kind, text));
}

bool is_greeting(std::string_view line) {
  return line.starts_with(greeting);
}

Result<Frame> parse_frame(std::string_view line) {
  if (is_greeting(line)) {
    auto rest = line.substr(greeting.size());
    if (!rest.starts_with(protocol))
      return not_a_frame(line, "is the greeting of another version's collector");
    rest.remove_prefix(protocol.size());
    const auto host = take_word(rest);
    const auto version = take_word(rest);
    if (host.empty() || version.empty() || !rest.empty())
      return not_a_frame(line, "is no greeting of a collector");
    return Frame{Frame::Kind::hello, {}, host, version};
  }
  if (line.size() > longest_frame)
    return not_a_frame(line, "is a line that is longer than a collector's are");
  if (line.size() == 1 && line.front() == is_alive)
    return Frame{};
  if (line.starts_with(more_pieces))
    return Frame{Frame::Kind::piece, line.substr(1)};
  if (line.starts_with(last_piece))
    return Frame{Frame::Kind::last_piece, line.substr(1)};
  return not_a_frame(line, "is not what a collector says");
}

void LineSplitter::keep(std::string_view bytes) {
  constexpr std::size_t longest_kept = 4 * longest_frame;
  line_ += bytes.substr(0, longest_kept - std::min(longest_kept, line_.size()));
}

} // namespace mqbridge
