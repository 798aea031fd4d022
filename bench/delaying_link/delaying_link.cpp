#include "bench/delaying_link/delaying_link.h"

#include "bench/delaying_link/on_time.h"
#include "bench/delaying_link/one_way.h"
#include "bench/delaying_link/stamped_socket.h"
#include "rsp/transport/connect.h"
#include "rsp/unique_fd.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <list>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace mqbridge::bench {
namespace {

using namespace std::chrono_literals;
using rsp::UniqueFd;

/// Sleeps end late: by some microseconds, or by hundreds if the processor itself has to wake up. So
/// each sleep is made shorter by as much as the last ones were late, and the rest of the time is
/// spent polling.
class Alarm {
public:
  /// When to wake up for something that has to be exactly on time.
  Clock::time_point before(Clock::time_point due) const { return due - early_; }
  /// How long to sleep until then.
  Clock::duration sleep(Clock::time_point wake) {
    set_ = wake;
    return std::max<Clock::duration>(set_ - Clock::now(), 0ns);
  }
  /// It rang, and nothing else woke the sleeper.
  void rang() {
    const auto late = std::min<Clock::duration>(Clock::now() - set_, 500us);
    early_ = std::max<Clock::duration>(late + late / 2 + 20us, early_ - early_ / 16);
  }

private:
  Clock::time_point set_{};
  Clock::duration early_ = 100us;
};

struct Connection {
  UniqueFd client;
  UniqueFd server;
  OneWay to_server;
  OneWay to_client;
  bool server_spoke_last = true;

  Connection(UniqueFd client_end, UniqueFd server_end, const LinkSpec& spec)
      : client(std::move(client_end)), server(std::move(server_end)),
        to_server(spec, client.get(), server.get()), to_client(spec, server.get(), client.get()) {}

  bool over() const {
    return to_server.broken() || to_client.broken() || (to_server.done() && to_client.done());
  }
};

void send_at_once(int socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

Result<UniqueFd> listen_on(std::uint16_t& port) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!listener || bind(listener.get(), generic, size) != 0 || listen(listener.get(), 64) != 0 ||
      getsockname(listener.get(), generic, &size) != 0)
    return fail("link.listen",
                fmt::format("cannot listen on 127.0.0.1:{}: {}", port, std::strerror(errno)),
                "choose another port, or 0 for one that is free");
  port = ntohs(address.sin_port);
  return listener;
}

Result<UniqueFd> connect_to(const rsp::Endpoint& server) {
  const rsp::ConnectLimits limits{Clock::now() + 5s, {}};
  auto connected =
      std::holds_alternative<rsp::TcpEndpoint>(server.where)
          ? rsp::connect_tcp(server, std::get<rsp::TcpEndpoint>(server.where), limits, nullptr)
          : rsp::connect_unix(server, std::get<rsp::UnixEndpoint>(server.where), limits, nullptr);
  if (!connected)
    return forward(std::move(connected));
  return std::move(connected->fd);
}

} // namespace

struct DelayingLink::Impl {
  rsp::Endpoint server;
  LinkSpec spec;
  std::uint16_t port;
  UniqueFd listener;
  UniqueFd ending;
  std::list<Connection> open = {};
  Alarm alarm = {};
  std::atomic<std::uint64_t> connections = 0;
  std::atomic<std::uint64_t> turns = 0;
  std::atomic<std::uint64_t> to_server = 0;
  std::atomic<std::uint64_t> to_client = 0;
  std::thread thread = {};

  void run();
  void accept_client();
  std::vector<pollfd> watched() const;
  bool wait(std::vector<pollfd>& polled);
  void pass(const std::vector<pollfd>& polled);
};

void DelayingLink::Impl::accept_client() {
  UniqueFd client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client)
    return;
  auto connected = connect_to(server);
  if (!connected)
    return; // the client sees its connection closed, as by a server that is not there
  for (const int socket : {client.get(), connected->get()}) {
    send_at_once(socket);
    stamp_arrivals(socket);
  }
  open.emplace_back(std::move(client), std::move(*connected), spec);
  ++connections;
}

std::vector<pollfd> DelayingLink::Impl::watched() const {
  std::vector<pollfd> all{{ending.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
  const auto add = [&all](const OneWay& out_of, const OneWay& into) {
    const short events =
        static_cast<short>((out_of.takes() ? POLLIN : 0) | (into.blocked() ? POLLOUT : 0));
    // One that nothing is wanted of would still report that it was hung up, without end.
    all.push_back({events != 0 ? out_of.from() : -1, events, 0});
  };
  for (const auto& connection : open) {
    add(connection.to_server, connection.to_client);
    add(connection.to_client, connection.to_server);
  }
  return all;
}

/// Until something came, or is due. False: the link ends.
bool DelayingLink::Impl::wait(std::vector<pollfd>& polled) {
  constexpr auto never = Clock::time_point::max();
  auto wake = never;
  const auto now = Clock::now();
  const auto wake_for = [&](const OneWay& way) {
    if (const auto due = way.next(); due != never)
      wake = std::min(wake, way.flows(now) ? due : alarm.before(due));
  };
  for (const auto& connection : open) {
    wake_for(connection.to_server);
    wake_for(connection.to_client);
  }
  if (wake == never)
    return poll(polled.data(), polled.size(), -1) >= 0 ? polled[0].revents == 0 : errno == EINTR;
  const auto time = alarm.sleep(wake);
  const timespec limit{std::chrono::floor<std::chrono::seconds>(time).count(), (time % 1s).count()};
  const int ready = ppoll(polled.data(), polled.size(), &limit, nullptr);
  if (ready == 0 && time > 0ns)
    alarm.rang();
  return (ready >= 0 || errno == EINTR) && polled[0].revents == 0;
}

/// Takes what came, then hands over what has arrived.
void DelayingLink::Impl::pass(const std::vector<pollfd>& polled) {
  auto side = polled.begin() + 2;
  const auto take = [&](OneWay& way) {
    return (side++->revents & ~POLLOUT) != 0 && way.takes() && way.take();
  };
  for (auto& connection : open) {
    if (take(connection.to_server) && std::exchange(connection.server_spoke_last, false))
      ++turns;
    if (take(connection.to_client))
      connection.server_spoke_last = true;
    const auto now = Clock::now();
    to_server += connection.to_server.deliver(now);
    to_client += connection.to_client.deliver(now);
  }
}

void DelayingLink::Impl::run() {
  be_on_time(); // a cable does not wait for its turn of the processor
  for (auto polled = watched(); wait(polled); polled = watched()) {
    pass(polled);
    open.remove_if([](const Connection& connection) { return connection.over(); });
    if (polled[1].revents != 0)
      accept_client();
  }
}

DelayingLink::DelayingLink(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

DelayingLink::~DelayingLink() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(impl_->ending.get(), &one, sizeof one);
  impl_->thread.join();
}

Result<std::unique_ptr<DelayingLink>> DelayingLink::open(std::string_view server,
                                                         const LinkSpec& spec, std::uint16_t port) {
  auto endpoint = rsp::Endpoint::parse(server);
  if (!endpoint)
    return fail("link.server", endpoint.error().message, endpoint.error().hint);
  if (!std::holds_alternative<rsp::TcpEndpoint>(endpoint->where) &&
      !std::holds_alternative<rsp::UnixEndpoint>(endpoint->where))
    return fail("link.server", fmt::format("{} is not a server that listens", server),
                "name it as HOST:PORT or unix:PATH");
  auto listener = listen_on(port);
  if (!listener)
    return forward(std::move(listener));
  UniqueFd ending(eventfd(0, EFD_CLOEXEC));
  if (!ending)
    return fail("link.listen", fmt::format("no eventfd: {}", std::strerror(errno)),
                "raise the limit of open files: ulimit -n");
  auto impl = std::unique_ptr<Impl>(
      new Impl{std::move(*endpoint), spec, port, std::move(*listener), std::move(ending)});
  impl->thread = std::thread([state = impl.get()] { state->run(); });
  return std::unique_ptr<DelayingLink>(new DelayingLink(std::move(impl)));
}

std::uint16_t DelayingLink::port() const {
  return impl_->port;
}

std::string DelayingLink::endpoint() const {
  return fmt::format("127.0.0.1:{}", impl_->port);
}

std::uint64_t DelayingLink::connections() const {
  return impl_->connections;
}

std::uint64_t DelayingLink::turns() const {
  return impl_->turns;
}

std::uint64_t DelayingLink::to_server() const {
  return impl_->to_server;
}

std::uint64_t DelayingLink::to_client() const {
  return impl_->to_client;
}

std::chrono::nanoseconds DelayingLink::cpu_time() const {
  clockid_t clock{};
  timespec used{};
  if (pthread_getcpuclockid(impl_->thread.native_handle(), &clock) != 0 ||
      clock_gettime(clock, &used) != 0)
    return 0ns;
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

} // namespace mqbridge::bench
