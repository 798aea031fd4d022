#pragma once

#include "rsp/client/client.h"
#include "rsp/commands/read_memory.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <span>
#include <string>

namespace mqbridge::rsp {

/// What is readable of `size` bytes from `address` on; a failure fails the test.
inline std::string read_text(Client& client, std::uint64_t address, std::size_t size) {
  std::string into(size, '\0');
  ReadRequest request{address, std::as_writable_bytes(std::span(into))};
  const auto done = read_memory(client, {&request, 1});
  EXPECT_TRUE(done) << done.error().message;
  return into.substr(0, request.read);
}

/// Contents of a file with bytes of every value.
inline std::string binary_text(std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i < length; ++i)
    text[i] = static_cast<char>(i * 31 + i / 256);
  return text;
}

} // namespace mqbridge::rsp
