// A whole connection with a stub that lies: negotiation, then a few parts of what dumps ask for.
// Input: the parts, `@` before them for a target with a process id, a newline, and the stub's
// script (tests/fuzz/played_stub.h).

#include "rsp/client/negotiation.h"
#include "rsp/client/opening.h"
#include "rsp/client/shared_stub.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/played_stub.h"
#include "tests/fuzz/stub_session.h"

namespace {

using namespace mqbridge;

/// Asks what a client asks first, and forgets the answers.
class FirstQuestions final : public rsp::Opening {
public:
  explicit FirstQuestions(bool names_process) : names_process_(names_process) {}
  std::vector<std::string> questions(const rsp::Features& features) override {
    return rsp::opening_questions(features, names_process_);
  }
  void heard(const rsp::Features&, const std::string&, std::string) override {}

private:
  bool names_process_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::FuzzInput input(data, size);
  auto parts = input.take_until('\n').substr(0, 4);
  rsp::Endpoint endpoint{.text = "n1:7001", .where = rsp::TcpEndpoint{"n1", "7001"}, .pid = {}};
  if (parts.starts_with('@')) {
    parts.remove_prefix(1);
    endpoint.pid = 7;
  }
  const bool runs = parts.find('R') != parts.npos;
  auto stub = std::make_unique<test::PlayedStub>(input.rest(), runs);
  const auto shared = rsp::SharedStub::over(std::move(stub), endpoint, {});
  FirstQuestions opening(endpoint.pid.has_value());
  if (auto negotiated = shared->negotiate(opening); !negotiated) {
    test::require(!negotiated.error().code.empty());
    return 0;
  }
  const auto client = rsp::Client::share(shared, endpoint);
  for (const char part : parts)
    test::play_session_part(part, *client);
  return 0;
}
