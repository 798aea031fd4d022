#include "tests/support/scripted_stub.h"

#include "tests/support/stub_answers.h"
#include "tests/support/stub_listener.h"
#include "tests/support/wire_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace mqbridge::test {

using std::chrono::milliseconds;

struct ScriptedStub::Impl {
  explicit Impl(StubFeatures given);
  ~Impl();

  void run();
  void serve(int client);
  bool take_arrivals(int client);
  bool handle(int client, const Arrival& arrival);
  Answer tampered(const std::string& payload);
  Answer answer_to(const std::string& payload);
  std::optional<Answer> negotiate(std::string_view payload) const;
  bool transmit(int client, const Answer& answer);
  bool send_for_ever(int client, std::string_view bytes) const;
  bool pause(milliseconds time) const;
  bool await_input(int descriptor) const { return await(descriptor, POLLIN); }
  bool await(int descriptor, short events) const;

  StubFeatures features;
  std::string port_or_path;
  int listener;
  int stop = eventfd(0, EFD_CLOEXEC);

  WireWatch watch;
  WireReader reader;
  std::deque<Arrival> waiting;
  bool acks = true;
  std::string last_bytes; ///< sent again on `-`

  mutable std::mutex mutex; ///< for what follows
  std::deque<std::pair<std::string, Answer>> script;
  std::map<std::string, Handler> handlers;
  Tamper tamper;
  std::vector<std::string> received;
  std::size_t most_outstanding = 0;

  std::thread thread; ///< last: everything else is there when it starts
};

ScriptedStub::Impl::Impl(StubFeatures given)
    : features(std::move(given)), listener(features.unix_socket ? listen_on_path(port_or_path)
                                                                : listen_on_loopback(port_or_path)),
      watch(features.may_change ? WireWatch::Allowed::anything
            : features.may_run  ? WireWatch::Allowed::runs
                                : WireWatch::Allowed::looks),
      thread([this] { run(); }) {}

ScriptedStub::Impl::~Impl() {
  const std::uint64_t one = 1;
  if (write(stop, &one, sizeof one) != sizeof one)
    ADD_FAILURE() << "the scripted stub cannot be stopped";
  thread.join();
  close(listener);
  close(stop);
  if (features.unix_socket)
    remove_listening_path(port_or_path);
}

/// False: the stub is being stopped.
bool ScriptedStub::Impl::await(int descriptor, short events) const {
  std::array<pollfd, 2> polled{{{descriptor, events, 0}, {stop, POLLIN, 0}}};
  while (poll(polled.data(), polled.size(), -1) < 0) {
  }
  return polled[1].revents == 0;
}

bool ScriptedStub::Impl::pause(milliseconds time) const {
  pollfd polled{stop, POLLIN, 0};
  return poll(&polled, 1, static_cast<int>(time.count())) == 0;
}

void ScriptedStub::Impl::run() {
  while (await_input(listener)) {
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) {
      const int on = 1;
      setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      serve(client);
      close(client);
    }
  }
}

void ScriptedStub::Impl::serve(int client) {
  reader = {};
  waiting.clear();
  acks = true;
  while (take_arrivals(client)) {
    while (!waiting.empty()) {
      const Arrival arrival = std::move(waiting.front());
      waiting.pop_front();
      if (!handle(client, arrival))
        return;
    }
  }
}

bool ScriptedStub::Impl::take_arrivals(int client) {
  if (!await_input(client))
    return false;
  // Everything that has come by now counts as outstanding at once.
  std::array<char, 65536> bytes;
  int flags = 0;
  while (true) {
    const ssize_t count = recv(client, bytes.data(), bytes.size(), flags);
    if (count <= 0)
      break;
    flags = MSG_DONTWAIT;
    for (Arrival& arrival : reader.feed({bytes.data(), static_cast<std::size_t>(count)}))
      waiting.push_back(std::move(arrival));
  }
  const auto packets = std::count_if(waiting.begin(), waiting.end(), [](const Arrival& arrival) {
    return arrival.kind == Arrival::Kind::packet;
  });
  const std::lock_guard lock(mutex);
  most_outstanding = std::max(most_outstanding, static_cast<std::size_t>(packets));
  return flags != 0;
}

bool ScriptedStub::Impl::handle(int client, const Arrival& arrival) {
  const bool thrown_away = acks && arrival.kind == Arrival::Kind::bad_packet;
  if (!thrown_away)
    watch.note(arrival);
  switch (arrival.kind) {
  case Arrival::Kind::ack:
  case Arrival::Kind::junk:
    return true;
  case Arrival::Kind::nack:
    return transmit(client, Answer::raw(last_bytes));
  case Arrival::Kind::bad_packet:
    return !acks || transmit(client, Answer::raw("-"));
  case Arrival::Kind::packet:
  case Arrival::Kind::interrupt:
    break;
  }
  const bool acknowledged =
      arrival.kind == Arrival::Kind::interrupt || !acks || transmit(client, Answer::raw("+"));
  const Answer answer = tampered(arrival.payload);
  last_bytes = answer.bytes;
  return acknowledged && transmit(client, answer);
}

Answer ScriptedStub::Impl::tampered(const std::string& payload) {
  Answer honest = answer_to(payload);
  Tamper with;
  std::size_t index = 0;
  {
    const std::lock_guard lock(mutex);
    with = tamper;
    index = received.size() - 1;
  }
  return with ? with(index, payload, std::move(honest)) : honest;
}

Answer ScriptedStub::Impl::answer_to(const std::string& payload) {
  Handler handler;
  {
    const std::lock_guard lock(mutex);
    received.push_back(payload);
    if (!script.empty() && script.front().first == payload) {
      Answer answer = std::move(script.front().second);
      script.pop_front();
      return answer;
    }
    std::size_t longest = 0;
    for (const auto& [prefix, candidate] : handlers) {
      if (payload.starts_with(prefix) && prefix.size() >= longest) {
        longest = prefix.size();
        handler = candidate;
      }
    }
  }
  if (handler)
    return handler(payload);
  const std::optional<Answer> negotiated = negotiate(payload);
  if (payload == "QStartNoAckMode" && features.no_ack)
    acks = false;
  return negotiated ? *negotiated : Answer::packet("");
}

std::optional<Answer> ScriptedStub::Impl::negotiate(std::string_view payload) const {
  if (payload.starts_with("qSupported")) {
    std::string features_text = "PacketSize=" + features.packet_size;
    features_text += features.no_ack ? ";QStartNoAckMode+" : "";
    features_text += features.multiprocess ? ";multiprocess+" : "";
    features_text += features.announces_binary_read ? ";binary-upload+" : "";
    const std::lock_guard lock(mutex);
    for (const auto& [prefix, handler] : handlers) {
      if (prefix.starts_with("qXfer:")) {
        const std::string object = prefix.substr(0, prefix.find(':', 6));
        features_text += ";" + object + ":read+";
      }
    }
    return Answer::packet(features_text);
  }
  if (payload == "QStartNoAckMode" && features.no_ack)
    return Answer::packet("OK");
  if (payload.starts_with("D"))
    return Answer::packet("OK");
  return std::nullopt;
}

bool ScriptedStub::Impl::transmit(int client, const Answer& answer) {
  if (answer.delay.count() > 0 && !pause(answer.delay))
    return false;
  const std::size_t step = answer.byte_by_byte ? 1 : std::max<std::size_t>(answer.bytes.size(), 1);
  for (std::size_t at = 0; at < answer.bytes.size();) {
    const std::size_t rest = std::min(step, answer.bytes.size() - at);
    const ssize_t count = send(client, answer.bytes.data() + at, rest, MSG_NOSIGNAL);
    if (count < 0)
      return false;
    at += static_cast<std::size_t>(count);
  }
  return send_for_ever(client, answer.for_ever) && !answer.then_close;
}

/// False: the client has gone, or the stub is being stopped.
bool ScriptedStub::Impl::send_for_ever(int client, std::string_view bytes) const {
  constexpr std::size_t at_once = 65536;
  if (bytes.empty())
    return true;
  std::string block;
  while (block.size() < at_once)
    block += bytes;
  std::size_t at = 0;
  while (await(client, POLLOUT)) {
    const ssize_t count =
        send(client, block.data() + at, block.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN)
      return false;
    at = (at + static_cast<std::size_t>(std::max<ssize_t>(count, 0))) % block.size();
  }
  return false;
}

ScriptedStub::ScriptedStub(StubFeatures features)
    : impl_(std::make_unique<Impl>(std::move(features))) {}

ScriptedStub::~ScriptedStub() {
  const std::lock_guard lock(impl_->mutex);
  for (const auto& [payload, answer] : impl_->script)
    ADD_FAILURE() << "the scripted stub still expects " << payload;
}

rsp::Endpoint ScriptedStub::endpoint() const {
  rsp::Endpoint endpoint;
  if (impl_->features.unix_socket) {
    endpoint.text = "unix:" + impl_->port_or_path;
    endpoint.where = rsp::UnixEndpoint{impl_->port_or_path};
  } else {
    endpoint.text = "127.0.0.1:" + impl_->port_or_path;
    endpoint.where = rsp::TcpEndpoint{"127.0.0.1", impl_->port_or_path};
  }
  return endpoint;
}

rsp::Endpoint ScriptedStub::endpoint(std::int64_t pid) const {
  rsp::Endpoint with_process = endpoint();
  with_process.text += fmt::format("@{}", pid);
  with_process.pid = pid;
  return with_process;
}

ScriptedStub& ScriptedStub::expect(std::string payload, Answer answer) {
  const std::lock_guard lock(impl_->mutex);
  impl_->script.emplace_back(std::move(payload), std::move(answer));
  return *this;
}

ScriptedStub& ScriptedStub::on(std::string prefix, Handler handler) {
  const std::lock_guard lock(impl_->mutex);
  impl_->handlers.insert_or_assign(std::move(prefix), std::move(handler));
  return *this;
}

ScriptedStub& ScriptedStub::on(std::string prefix, Answer answer) {
  return on(std::move(prefix), [answer = std::move(answer)](std::string_view) { return answer; });
}

ScriptedStub& ScriptedStub::serve_objects(std::map<std::string, std::string> objects) {
  // A handler for each object, so that the negotiation announces exactly these.
  for (const auto& [name, text] : objects) {
    on("qXfer:" + name.substr(0, name.find(':')) + ":",
       [objects](std::string_view payload) { return object_piece(objects, payload); });
  }
  return *this;
}

ScriptedStub& ScriptedStub::tamper(Tamper with) {
  const std::lock_guard lock(impl_->mutex);
  impl_->tamper = std::move(with);
  return *this;
}

std::vector<std::string> ScriptedStub::received() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->received;
}

std::vector<std::string> ScriptedStub::asked() const {
  std::vector<std::string> all = received();
  bool first = true; // it switches acknowledgements off
  std::erase_if(all, [&first](const std::string& payload) {
    const bool again = payload == "QStartNoAckMode" && !std::exchange(first, false);
    return again || payload == "vMustReplyEmpty";
  });
  return all;
}

std::size_t ScriptedStub::count(std::string_view prefix) const {
  const std::vector<std::string> all = received();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(),
                    [&](const std::string& payload) { return payload.starts_with(prefix); }));
}

std::size_t ScriptedStub::most_outstanding() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->most_outstanding;
}

} // namespace mqbridge::test
