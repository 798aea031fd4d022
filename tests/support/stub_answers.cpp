#include "tests/support/stub_answers.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mqbridge::test {

using std::chrono::milliseconds;

Answer Answer::cut(std::string_view payload, std::size_t count) {
  return {.bytes = frame(payload).substr(0, count)};
}

Answer&& Answer::after(milliseconds time) && {
  delay = time;
  return std::move(*this);
}

Answer&& Answer::split() && {
  byte_by_byte = true;
  return std::move(*this);
}

Answer&& Answer::repeated(int times) && {
  const std::string once = bytes;
  for (int i = 1; i < times; ++i)
    bytes += once;
  return std::move(*this);
}

Answer&& Answer::behind(std::string_view raw_bytes) && {
  bytes.insert(0, raw_bytes);
  return std::move(*this);
}

Answer&& Answer::closing() && {
  then_close = true;
  return std::move(*this);
}

// "OBJECT:read:ANNEX:OFFSET,LENGTH" of a qXfer request, answered from `objects`.
Answer object_piece(const std::map<std::string, std::string>& objects, std::string_view payload) {
  payload.remove_prefix(std::string_view("qXfer:").size());
  const std::size_t verb = payload.find(":read:");
  const std::size_t last = payload.rfind(':');
  if (verb == std::string_view::npos || last < verb + 6)
    return Answer::packet("E00");
  const std::string key = std::string(payload.substr(0, verb)) + ":" +
                          std::string(payload.substr(verb + 6, last - verb - 6));
  const auto object = objects.find(key);
  if (object == objects.end())
    return Answer::packet("E00");
  std::size_t offset = 0;
  std::size_t length = 0;
  const std::string_view numbers = payload.substr(last + 1);
  const std::size_t comma = std::min(numbers.find(','), numbers.size() - 1);
  std::from_chars(numbers.data(), numbers.data() + comma, offset, 16);
  std::from_chars(numbers.data() + comma + 1, numbers.data() + numbers.size(), length, 16);
  const std::string& text = object->second;
  if (offset > text.size())
    return Answer::packet("E01");
  const bool is_last = text.size() - offset <= length;
  return Answer::packet(std::string(1, is_last ? 'l' : 'm') + text.substr(offset, length));
}

} // namespace mqbridge::test
