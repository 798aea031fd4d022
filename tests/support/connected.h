#pragma once

#include "rsp/client/client.h"
#include "tests/support/scripted_stub.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace mqbridge::test {

/// A negotiated client, quick to give up. Null after a failure of the test.
inline std::unique_ptr<rsp::Client> connected(const rsp::Endpoint& endpoint) {
  rsp::ClientOptions options;
  options.silence_timeout = std::chrono::milliseconds(500);
  auto client = rsp::Client::connect(endpoint, options);
  if (!client) {
    ADD_FAILURE() << client.error().code << ": " << client.error().message;
    return nullptr;
  }
  return std::move(*client);
}

/// The same for a target as a user writes it.
inline std::unique_ptr<rsp::Client> connected(const std::string& target) {
  const auto endpoint = rsp::Endpoint::parse(target);
  if (!endpoint) {
    ADD_FAILURE() << endpoint.error().message;
    return nullptr;
  }
  return connected(*endpoint);
}

inline std::unique_ptr<rsp::Client> connected(const ScriptedStub& stub) {
  return connected(stub.endpoint());
}

} // namespace mqbridge::test
