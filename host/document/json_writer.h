#pragma once

#include "host/document/sink.h"
#include "host/mqs/compact_optional.h"
#include "host/mqs/shared_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Writes JSON piece by piece, in constant memory: a dump may hold ten million operations. Keys
/// come out in the order written. Strings that are not UTF-8 get U+FFFD for the invalid bytes;
/// numbers that JSON cannot hold (NaN, infinity) become null. The caller pairs begin and end.
class JsonWriter {
public:
  /// How a value and all below it are laid out.
  enum class Layout { lines, one_line };

  JsonWriter(Sink sink, Layout layout);
  ~JsonWriter() { flush(); }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void begin_object(Layout layout = Layout::lines) { begin('{', '}', layout); }
  void begin_array(Layout layout = Layout::lines) { begin('[', ']', layout); }
  void end();
  JsonWriter& key(std::string_view name);

  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool flag);
  void value(std::int64_t number);
  void value(std::uint64_t number);
  void value(int number) { value(static_cast<std::int64_t>(number)); }
  void value(double number);
  void value(std::nullptr_t);
  template <class T>
  void value(const std::optional<T>& optional) {
    if (optional)
      value(*optional);
    else
      value(nullptr);
  }

  void value(const SharedText& text) {
    value(text ? std::optional<std::string_view>(*text) : std::nullopt);
  }

  template <class T>
  void member(std::string_view name, const T& content) {
    key(name).value(content);
  }

  /// Ends the line after the outermost value.
  void end_line();
  void flush();

private:
  struct Level {
    char close;
    Layout layout;
    bool empty = true;
  };

  void begin(char open, char close, Layout layout);
  void separate();
  void new_line();
  void literal(std::string_view text);

  Sink sink_;
  Layout layout_;
  std::string buffer_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

} // namespace mqbridge
