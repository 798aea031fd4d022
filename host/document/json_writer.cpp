#include "host/document/json_writer.h"

#include "rsp/packet/printable.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t buffer_size = std::size_t{64} * 1024;

bool stands_for_itself(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/// Keys, and almost all values, are plain: a million operations have thirty million of them. A text
/// that could drive a terminal, or hide in one, is ASCII alone: people look at documents with cat.
void append_quoted(std::string& out, std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), stands_for_itself)) {
    const nlohmann::json value(text);
    const auto dumped = [&](bool ascii) {
      return value.dump(-1, ' ', ascii, nlohmann::json::error_handler_t::replace);
    };
    // What stands for bytes that are no UTF-8 is written as it will be when it has been read again.
    const auto quoted = dumped(false);
    out += printable(quoted) == quoted ? quoted : dumped(true);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

} // namespace

JsonWriter::JsonWriter(Sink sink, Layout layout) : sink_(std::move(sink)), layout_(layout) {}

void JsonWriter::begin(char open, char close, Layout layout) {
  separate();
  buffer_ += open;
  const Layout outer = levels_.empty() ? layout_ : levels_.back().layout;
  levels_.push_back({close, outer == Layout::one_line ? outer : layout});
}

void JsonWriter::end() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (level.layout == Layout::lines && !level.empty)
    new_line();
  buffer_ += level.close;
  if (buffer_.size() >= buffer_size)
    flush();
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  const bool lines = levels_.back().layout == Layout::lines;
  append_quoted(buffer_, name);
  buffer_ += lines ? ": " : ":";
  after_key_ = true;
  return *this;
}

void JsonWriter::separate() {
  if (std::exchange(after_key_, false) || levels_.empty())
    return;
  Level& level = levels_.back();
  if (!level.empty)
    buffer_ += ',';
  level.empty = false;
  if (level.layout == Layout::lines)
    new_line();
}

void JsonWriter::new_line() {
  buffer_ += '\n';
  buffer_.append(levels_.size() * 2, ' ');
}

void JsonWriter::literal(std::string_view text) {
  separate();
  buffer_ += text;
}

void JsonWriter::value(std::string_view text) {
  separate();
  append_quoted(buffer_, text);
}
void JsonWriter::value(bool flag) {
  literal(flag ? "true" : "false");
}
void JsonWriter::value(std::int64_t number) {
  literal(fmt::format_int(number).c_str());
}
void JsonWriter::value(std::uint64_t number) {
  literal(fmt::format_int(number).c_str());
}
void JsonWriter::value(double number) {
  literal(std::isfinite(number) ? fmt::format("{}", number) : "null");
}
void JsonWriter::value(std::nullptr_t) {
  literal("null");
}

void JsonWriter::end_line() {
  buffer_ += '\n';
  flush();
}

void JsonWriter::flush() {
  if (!buffer_.empty())
    sink_(buffer_);
  buffer_.clear();
}

} // namespace mqbridge
