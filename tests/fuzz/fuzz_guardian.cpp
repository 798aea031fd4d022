// The guardian: what mqbridge tells it, and what stubs say while it lets their targets run. The
// first byte chooses: one connection under a clock of the fuzzer's, or the whole of it behind its
// channel. Nothing may leave it that does more than look or let go.

#include "host/confined/messages.h"
#include "rsp/guardian/program/keeper.h"
#include "rsp/guardian/program/release.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/wire_watch.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <span>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::rsp::guardian {
namespace {

using mqbridge::test::FuzzInput;
using mqbridge::test::require;

std::array<int, 2> socket_pair(int type) {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  return ends;
}

Manner manner_of(FuzzInput& input) {
  constexpr std::array manners = {Manner::detach, Manner::wait, Manner::leave};
  const auto number = input.number(1);
  return number < 128 ? manners[number % manners.size()] : static_cast<Manner>(number);
}

/// As mqbridge has them, mostly; the fuzzer's own would prove nothing about what may leave.
std::string payload_of(FuzzInput& input) {
  static const std::array<std::string, 5> payloads = {"D", "D;1", "D;7fff", "D;2a",
                                                      write_registers("Hgp1.7", "", "00")};
  return payloads[input.number(1) % payloads.size()];
}

/// The other end of a connection: what it hears must be harmless, and registers are written only
/// behind its word that their thread is selected.
class Stub {
public:
  explicit Stub(int descriptor) : descriptor_(descriptor) {}
  ~Stub() {
    hear();
    ::close(descriptor_);
    require(watch_.offences() == 0);
  }
  Stub(const Stub&) = delete;
  Stub& operator=(const Stub&) = delete;

  void say(std::string_view bytes) {
    said_ += bytes;
    static_cast<void>(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  void hear() {
    std::array<char, 4096> bytes;
    for (ssize_t count = 0; (count = ::read(descriptor_, bytes.data(), bytes.size())) > 0;)
      for (const auto& arrival : reader_.feed({bytes.data(), static_cast<std::size_t>(count)}))
        if (arrival.payload == "G00")
          require(said_.find("QCp") != said_.npos);
        else
          watch_.note(arrival);
  }
  void close_for_writing() const { ::shutdown(descriptor_, SHUT_WR); }

private:
  int descriptor_;
  std::string said_;
  mqbridge::test::WireReader reader_;
  mqbridge::test::WireWatch watch_;
};

short polled(const Release& release) {
  pollfd polled{release.descriptor(), release.wanted_events(), 0};
  return ::poll(&polled, 1, 0) > 0 ? polled.revents : short{0};
}

/// Steps: bytes behind their length, silence until something is due, the stub's end.
void one_release(FuzzInput& input) {
  const auto ends = socket_pair(SOCK_STREAM);
  Stub stub(ends[1]);
  std::vector<std::string> payloads;
  for (auto count = input.number(1) % 4; count > 0; --count)
    payloads.push_back(payload_of(input));
  auto now = Clock::time_point() + std::chrono::hours(1);
  const auto end = now + std::chrono::hours(1);
  Release release(ends[0], payloads, manner_of(input), now);
  while (!release.done() && !input.empty()) {
    const auto step = input.number(1);
    if (step < 200)
      stub.say(input.take(step));
    else if (step < 250)
      now = std::max(now, std::min(release.wake_at(), end));
    else if (step < 253)
      stub.hear();
    else
      stub.close_for_writing();
    release.advance(polled(release), now);
  }
  // A stub that is not waited for any more is left within its time, whatever it has said.
  for (int rounds = 0; !release.done() && now < end; ++rounds) {
    require(rounds < 1000);
    stub.hear();
    now = std::max(now, std::min(release.wake_at(), end));
    release.advance(polled(release), now);
  }
}

void send(int channel, const Message& message, int descriptor) {
  const auto bytes = std::as_bytes(std::span(&message, 1)).first(message.size());
  if (descriptor >= 0)
    wire::send_with_descriptor(channel, bytes, descriptor);
  else
    wire::send_message(channel, bytes, false);
}

/// A message, and with some a connection whose stub has said its part and is gone.
void tell(int channel, FuzzInput& input, std::vector<std::unique_ptr<Stub>>& stubs) {
  const auto operation = static_cast<Operation>(input.number(1));
  const auto handle = static_cast<std::uint32_t>(input.number(1));
  const std::string payload = operation == Operation::set_manner
                                  ? std::string(1, static_cast<char>(manner_of(input)))
                                  : payload_of(input);
  const Message message(operation, handle, payload);
  const auto said = input.number(1);
  if (said >= 200)
    return send(channel, message, -1);
  const auto ends = socket_pair(SOCK_STREAM);
  stubs.push_back(std::make_unique<Stub>(ends[1]));
  stubs.back()->say(input.take(said));
  stubs.back()->close_for_writing();
  send(channel, message, ends[0]);
  ::close(ends[0]);
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int descriptor = 0; descriptor < 256; ++descriptor)
    count += ::fcntl(descriptor, F_GETFD) >= 0;
  return count;
}

/// As mqbridge makes them: pages that nobody touches cost no time.
class FreshTakeovers {
public:
  FreshTakeovers()
      : memory_(::mmap(nullptr, sizeof(Takeovers), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    require(memory_ != MAP_FAILED);
  }
  ~FreshTakeovers() { ::munmap(memory_, sizeof(Takeovers)); }
  FreshTakeovers(const FreshTakeovers&) = delete;
  FreshTakeovers& operator=(const FreshTakeovers&) = delete;

  Takeovers* get() const { return static_cast<Takeovers*>(memory_); }

private:
  void* memory_;
};

void whole_guardian(FuzzInput& input) {
  constexpr std::size_t most_messages = 64;
  const FreshTakeovers takeovers;
  const auto before = open_descriptors();
  {
    const auto ends = socket_pair(SOCK_SEQPACKET);
    std::vector<std::unique_ptr<Stub>> stubs;
    for (std::size_t i = 0; i < most_messages && !input.empty(); ++i)
      tell(ends[1], input, stubs);
    ::close(ends[1]); // mqbridge has died
    Keeper(ends[0], takeovers.get()).run();
  }
  require(open_descriptors() == before);
}

} // namespace
} // namespace mqbridge::rsp::guardian

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge::rsp::guardian;
  mqbridge::test::FuzzInput input(data, size);
  switch (input.number(1)) {
  case 'k':
    whole_guardian(input);
    break;
  case 's':
    static_cast<void>(parse_client_state(input.rest()));
    break;
  default:
    one_release(input);
  }
  return 0;
}
