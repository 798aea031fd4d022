#include "tests/support/stub_memory.h"

#include <algorithm>
#include <charconv>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

struct Request {
  std::uint64_t address = 0;
  std::size_t length = 0;
};

Request parse(std::string_view payload) {
  Request request;
  const std::size_t comma = std::min(payload.find(','), payload.size() - 1);
  std::from_chars(payload.data() + 1, payload.data() + comma, request.address, 16);
  std::from_chars(payload.data() + comma + 1, payload.data() + payload.size(), request.length, 16);
  return request;
}

} // namespace

std::string StubMemory::read(std::uint64_t address, std::size_t length) const {
  std::string bytes;
  while (bytes.size() < length) {
    const std::uint64_t next = address + bytes.size();
    auto piece = pieces_.upper_bound(next);
    if (piece == pieces_.begin())
      break;
    --piece;
    const std::uint64_t offset = next - piece->first;
    if (offset >= piece->second.size())
      break;
    bytes += piece->second.substr(offset, length - bytes.size());
  }
  return bytes;
}

void StubMemory::serve(ScriptedStub& stub, AtHole at_hole, BinaryForm form,
                       std::size_t longest) const {
  // One copy for all requests: the stub copies the function that answers for each.
  const auto memory = std::make_shared<const StubMemory>(*this);
  const auto readable = [memory, at_hole, longest](std::string_view payload) {
    const Request request = parse(payload);
    EXPECT_LE(request.length, longest) << payload;
    std::string bytes = memory->read(request.address, request.length);
    if (bytes.size() < request.length && at_hole == AtHole::refuse)
      bytes.clear();
    return bytes;
  };
  stub.on("m", [readable](std::string_view payload) {
    const std::string bytes = readable(payload);
    return Answer::packet(bytes.empty() ? "E01" : to_hex(bytes));
  });
  if (form == BinaryForm::none)
    return;
  stub.on("x", [readable, form](std::string_view payload) {
    const bool probe = payload.ends_with(",0");
    if (probe)
      return Answer::packet(form == BinaryForm::gdb ? "b" : "OK");
    const std::string bytes = readable(payload);
    const std::string prefix = form == BinaryForm::gdb ? "b" : "";
    return Answer::packet(bytes.empty() ? "E01" : prefix + bytes);
  });
}

std::string pattern(std::uint64_t address, std::size_t length) {
  std::string bytes(length, '\0');
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint64_t at = address + i;
    bytes[i] = static_cast<char>((at * 7) ^ (at >> 8) ^ (at >> 12));
  }
  return bytes;
}

} // namespace mqbridge::test
