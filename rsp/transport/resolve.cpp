#include "rsp/transport/resolve.h"

#include "rsp/codes.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <string>
#include <system_error>
#include <thread>

namespace mqbridge::rsp {
namespace {

using Clock = std::chrono::steady_clock;

/// The result of getaddrinfo(3).
struct Answer {
  int error = 0;
  int system_error = 0; ///< errno, where `error` is EAI_SYSTEM
  std::vector<Address> addresses;
};

Answer ask(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_protocol = IPPROTO_TCP;
  addrinfo* list = nullptr;
  Answer answer;
  answer.error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  answer.system_error = errno;
  if (answer.error != 0)
    return answer;
  for (const auto* entry = list; entry != nullptr; entry = entry->ai_next) {
    Address address;
    address.length = std::min<socklen_t>(entry->ai_addrlen, sizeof address.storage);
    std::memcpy(&address.storage, entry->ai_addr, address.length);
    answer.addresses.push_back(address);
  }
  ::freeaddrinfo(list);
  return answer;
}

/// A thread that starts meanwhile blocks all signals: only the threads that wait for them take
/// them.
class WithoutSignals {
public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

private:
  sigset_t before_{};
};

/// Asks on a thread that nobody waits for at the end of the process: a slow name server may answer
/// when nobody wants the answer any more. Invalid: no thread can be started.
std::future<Answer> ask_beside(const TcpEndpoint& where) {
  std::promise<Answer> promise;
  auto answer = promise.get_future();
  const WithoutSignals inherited;
  try {
    std::thread([where, promise = std::move(promise)]() mutable {
      try {
        promise.set_value(ask(where.host, where.port, 0));
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
    }).detach();
  } catch (const std::system_error&) { // RLIMIT_NPROC, cgroup
    return {};
  }
  return answer;
}

Result<std::vector<Address>> addresses_of(const Endpoint& endpoint, Answer answer) {
  if (answer.error == 0)
    return std::move(answer.addresses);
  const std::string why = answer.error == EAI_SYSTEM
                              ? std::generic_category().message(answer.system_error)
                              : ::gai_strerror(answer.error);
  return fail("connect.unresolved",
              fmt::format("cannot resolve the host or port of {}: {}", endpoint.text, why),
              "check the spelling; getent hosts NAME shows what this machine knows");
}

} // namespace

Result<std::vector<Address>> resolve(const Endpoint& endpoint, const TcpEndpoint& where,
                                     const ConnectLimits& limits) {
  // An address in numbers needs no name server.
  if (auto numbers = ask(where.host, where.port, AI_NUMERICHOST | AI_NUMERICSERV);
      numbers.error == 0)
    return std::move(numbers.addresses);
  auto answer = ask_beside(where);
  if (!answer.valid())
    return fail(codes::connect_failed,
                fmt::format("no thread to look up the name in {}", endpoint.text),
                "raise the limit of processes (ulimit -u), or give the address in numbers");
  constexpr std::chrono::milliseconds stop_slice{50};
  while (answer.wait_for(stop_slice) == std::future_status::timeout) {
    if (limits.stop.stop_requested())
      return fail(codes::interrupted,
                  fmt::format("interrupted while connecting to {}", endpoint.text));
    if (Clock::now() >= limits.deadline)
      return fail("connect.timeout",
                  fmt::format("the name server did not answer in time for {}", endpoint.text),
                  "give the address in numbers, or raise --connect-timeout");
  }
  return addresses_of(endpoint, answer.get());
}

} // namespace mqbridge::rsp
