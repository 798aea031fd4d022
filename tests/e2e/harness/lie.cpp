#include "tests/e2e/harness/lie.h"

#include <algorithm>
#include <charconv>
#include <memory>

namespace mqbridge::e2e {

using test::Answer;

void serve_made_up(test::ScriptedStub& stub, const std::string& object,
                   std::function<std::string(std::size_t offset, std::size_t length)> piece) {
  stub.on("qXfer:" + object + ":", [piece = std::move(piece)](std::string_view payload) {
    const std::string_view window = payload.substr(payload.rfind(':') + 1);
    const std::size_t comma = std::min(window.find(','), window.size() - 1);
    std::size_t offset = 0;
    std::size_t length = 0;
    std::from_chars(window.data(), window.data() + comma, offset, 16);
    std::from_chars(window.data() + comma + 1, window.data() + window.size(), length, 16);
    const std::string bytes = piece(offset, length);
    return Answer::packet((bytes.size() < length ? "l" : "m") + bytes);
  });
}

void serve_endless(test::ScriptedStub& stub, const std::string& object, std::string head,
                   std::string filler) {
  serve_made_up(stub, object, [head, filler](std::size_t offset, std::size_t length) {
    std::string bytes = head.substr(std::min(offset, head.size()), length);
    const std::size_t phase = (offset + bytes.size() - head.size()) % filler.size();
    const std::string rest = times(length / filler.size() + 2, filler);
    return bytes + rest.substr(phase, length - bytes.size());
  });
}

void serve_text(test::ScriptedStub& stub, const std::string& object, std::string text) {
  const auto kept = std::make_shared<const std::string>(std::move(text));
  serve_made_up(stub, object, [kept](std::size_t offset, std::size_t length) {
    return kept->substr(std::min(offset, kept->size()), length);
  });
}

std::string times(std::size_t count, std::string_view text) {
  std::string all;
  all.reserve(count * text.size());
  for (std::size_t i = 0; i < count; ++i)
    all += text;
  return all;
}

} // namespace mqbridge::e2e
