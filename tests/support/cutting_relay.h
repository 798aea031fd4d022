#pragma once

#include "tests/support/byte_pump.h"
#include "tests/support/real_stub.h"
#include "tests/support/wire_watch.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace mqbridge::test {

/// Stands between one client and a stub on a Unix socket, and passes the client's bytes on as
/// `flow` says; the stub's as they come.
class CuttingRelay {
public:
  /// The stub outlives the relay.
  CuttingRelay(const RealStub& stub, Flow flow);
  ~CuttingRelay();
  CuttingRelay(const CuttingRelay&) = delete;
  CuttingRelay& operator=(const CuttingRelay&) = delete;

  std::string endpoint() const { return "unix:" + path_; }
  /// Bytes that the stub has said so far.
  std::uint64_t from_stub() const { return replies_ ? replies_->moved() : 0; }

private:
  void serve(const RealStub& stub, Flow flow);

  std::string path_;
  WireWatch watch_;
  int listener_;
  int client_ = -1;
  int stub_ = -1;
  std::unique_ptr<BytePump> requests_;
  std::unique_ptr<BytePump> replies_;
  std::thread accepting_;
};

} // namespace mqbridge::test
