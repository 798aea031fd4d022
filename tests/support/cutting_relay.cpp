#include "tests/support/cutting_relay.h"

#include "tests/support/stub_listener.h"

#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::test {

CuttingRelay::CuttingRelay(const RealStub& stub, Flow flow)
    : listener_(listen_on_path(path_)), accepting_([&stub, flow, this] { serve(stub, flow); }) {}

CuttingRelay::~CuttingRelay() {
  shutdown(listener_, SHUT_RDWR); // ends accept(), if nobody came
  accepting_.join();
  requests_.reset();
  replies_.reset();
  for (const int fd : {listener_, client_, stub_}) {
    if (fd >= 0)
      close(fd);
  }
  remove_listening_path(path_);
}

void CuttingRelay::serve(const RealStub& stub, Flow flow) {
  client_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client_ < 0)
    return;
  stub_ = stub.connect();
  replies_ = std::make_unique<BytePump>(stub_, client_, Flow{});
  requests_ = std::make_unique<BytePump>(client_, stub_, flow, &watch_);
}

} // namespace mqbridge::test
