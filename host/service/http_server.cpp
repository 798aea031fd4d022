#include "host/service/http_server.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr unsigned most_clients = 256;
constexpr std::size_t longest_body = std::size_t{64} << 10;
constexpr std::size_t longest_headers = std::size_t{32} << 10; ///< and the buffer of a connection
constexpr unsigned idle_seconds = 30;
constexpr auto longest_request = 15s; ///< from its first byte, or the connection, to its last
constexpr auto sign_of_life = 10s;
constexpr std::size_t most_unread = std::size_t{1} << 20; ///< of a stream's client
constexpr std::size_t slow_threads = 2;
constexpr std::size_t most_slow = 64; ///< that wait for these

MHD_Result add_value(void* into, MHD_ValueKind, const char* key, const char* value) {
  (*static_cast<std::map<std::string, std::string>*>(into))[key] = value == nullptr ? "" : value;
  return MHD_YES;
}

MHD_Result add_header(void* into, MHD_ValueKind, const char* key, const char* value) {
  std::string name(key);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char sign) { return static_cast<char>(std::tolower(sign)); });
  auto& headers = *static_cast<std::map<std::string, std::string>*>(into);
  // A header that decides who may is not to come twice, with two meanings.
  const auto [at, is_new] = headers.try_emplace(std::move(name), value == nullptr ? "" : value);
  if (!is_new)
    at->second += fmt::format(", {}", value == nullptr ? "" : value);
  return MHD_YES;
}

HttpResponse refusal(int status, std::string_view code, std::string_view detail) {
  return {.status = status,
          .type = "application/problem+json",
          .body = fmt::format(
              R"({{"title":"refused","status":{},"code":"{}","detail":"{}","hint":""}})", status,
              code, detail)};
}

/// A request whose end is not plain may be the beginning of another one to somebody else.
std::optional<HttpResponse> fault_of_framing(const HttpRequest& request) {
  const auto length = request.header("content-length"); // of two, both: they have a comma
  const auto coding = request.header("transfer-encoding");
  const bool is_number = std::ranges::all_of(length, [](char c) { return c >= '0' && c <= '9'; });
  constexpr std::size_t longest_number = 9;
  std::optional<HttpResponse> fault;
  if (!is_number || (!coding.empty() && (coding != "chunked" || !length.empty())))
    fault = refusal(400, "service.framing", "it is not clear where this request ends");
  else if (length.size() > longest_number ||
           std::strtoul(std::string(length).c_str(), nullptr, 10) > longest_body)
    fault = refusal(413, "service.too_long", "a request has at most 65536 bytes");
  if (fault)
    fault->headers.emplace_back("Connection", "close");
  return fault;
}

} // namespace

/// What is published, on its way to one client.
class HttpServer::Stream {
public:
  Stream(HttpServer& server, MHD_Connection* connection, const std::function<std::string()>& first)
      : server_(server), connection_(connection) {
    const std::lock_guard lock(server_.mutex_);
    unread_ = first();
    most_ = unread_.size() + most_unread;
    server_.streams_.insert(this);
  }
  ~Stream() {
    const std::lock_guard lock(server_.mutex_);
    server_.streams_.erase(this);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// For MHD_create_response_from_callback.
  static ssize_t read(void* self, std::uint64_t, char* buffer, std::size_t size) {
    return static_cast<Stream*>(self)->give(buffer, size);
  }
  static void free(void* self) { delete static_cast<Stream*>(self); }

  /// To be called while the server's mutex is held; so below.
  void add(std::string_view text) {
    is_over_ = is_over_ || unread_.size() + text.size() > most_;
    if (!is_over_)
      unread_ += text;
    wake();
  }
  void end() {
    is_over_ = true;
    wake();
  }

private:
  ssize_t give(char* buffer, std::size_t size) {
    const std::lock_guard lock(server_.mutex_);
    if (is_over_ || server_.ends_)
      return MHD_CONTENT_READER_END_OF_STREAM;
    if (unread_.empty()) {
      is_suspended_ = true;
      server_.library_.suspend_connection(connection_);
      return 0;
    }
    const std::size_t count = std::min(size, unread_.size());
    std::memcpy(buffer, unread_.data(), count);
    unread_.erase(0, count);
    return static_cast<ssize_t>(count);
  }
  void wake() {
    if (std::exchange(is_suspended_, false))
      server_.library_.resume_connection(connection_);
  }

  HttpServer& server_;
  MHD_Connection* connection_;
  std::string unread_;
  std::size_t most_ = 0; ///< bytes of it
  bool is_suspended_ = false;
  bool is_over_ = false;
};

/// A request that comes, and its response.
struct HttpServer::Exchange {
  HttpRequest request;
  MHD_Connection* connection = nullptr;
  bool is_asked = false;                ///< somebody answers, or has answered
  std::optional<HttpResponse> response; ///< of a slow request
};

HttpServer::HttpServer(std::vector<rsp::Listener> listeners, HttpHandler& handler,
                       const Microhttpd& library)
    : listeners_(std::move(listeners)), handler_(handler), library_(library) {}

Result<std::unique_ptr<HttpServer>> HttpServer::open(std::vector<rsp::Listener> listeners,
                                                     HttpHandler& handler) {
  const Microhttpd* const library = microhttpd();
  if (library == nullptr)
    return fail("service.library",
                fmt::format("{}, which speaks HTTP, cannot be loaded", microhttpd_name()),
                "apt install libmicrohttpd12 (dnf install libmicrohttpd)");
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(listeners), handler, *library));
  if (auto started = server->start(); !started)
    return forward(std::move(started));
  return server;
}

Result<void> HttpServer::start() {
  // Called by the library, in C.
  const auto on_request = [](void* self, MHD_Connection* connection, const char* path,
                             const char* method, const char*, const char* data, std::size_t* size,
                             void** state) -> MHD_Result {
    try {
      auto* exchange = static_cast<Exchange*>(*state);
      if (exchange == nullptr) { // its headers have come
        exchange = new Exchange{
            .request = {.method = method, .path = path}, .connection = connection, .response = {}};
        *state = exchange;
      }
      return static_cast<HttpServer*>(self)->take(connection, *exchange, data, size);
    } catch (const std::exception&) { // no memory
      return MHD_NO;
    }
  };
  const auto on_end = [](void* self, MHD_Connection* connection, void** state,
                         MHD_RequestTerminationCode) {
    delete static_cast<Exchange*>(std::exchange(*state, nullptr));
    static_cast<HttpServer*>(self)->note_waiting(connection, true);
  };
  const auto on_connection = [](void* self, MHD_Connection* connection, void**,
                                MHD_ConnectionNotificationCode code) {
    auto& server = *static_cast<HttpServer*>(self);
    const auto* info =
        server.library_.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const std::lock_guard lock(server.mutex_);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED)
      server.clients_.erase(connection);
    else
      server.clients_[connection] = {info == nullptr ? -1 : info->connect_fd, Clock::now()};
  };
  using Request = MHD_Result (*)(void*, MHD_Connection*, const char*, const char*, const char*,
                                 const char*, std::size_t*, void**);
  using End = void (*)(void*, MHD_Connection*, void**, MHD_RequestTerminationCode);
  using Connected = void (*)(void*, MHD_Connection*, void**, MHD_ConnectionNotificationCode);
  for (const rsp::Listener& listener : listeners_) {
    // The daemon closes its socket.
    const int socket = ::fcntl(listener.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (socket < 0) // the library would open one of its own
      return fail("listen.failed", std::strerror(errno), "ulimit -n 4096");
    MHD_Daemon* const daemon = library_.start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, nullptr, nullptr,
        static_cast<Request>(on_request), this, MHD_OPTION_LISTEN_SOCKET, socket,
        MHD_OPTION_NOTIFY_COMPLETED, static_cast<End>(on_end), this, MHD_OPTION_NOTIFY_CONNECTION,
        static_cast<Connected>(on_connection), this, MHD_OPTION_CONNECTION_LIMIT, most_clients,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, longest_headers, MHD_OPTION_CONNECTION_TIMEOUT,
        idle_seconds, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (daemon == nullptr) {
      ::close(socket);
      return fail("listen.failed", "no HTTP server can be started on " + listener.address(),
                  "see what the limits of this user are: ulimit -a");
    }
    daemons_.push_back(daemon);
  }
  for (std::size_t i = 0; i < slow_threads; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { answer_slowly(stop); });
  threads_.emplace_back([this](const std::stop_token& stop) { look_after_clients(stop); });
  return {};
}

HttpServer::~HttpServer() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (Stream* stream : streams_)
      stream->end();
    for (Exchange* exchange : std::exchange(slow_, {})) {
      exchange->response = refusal(503, "service.ends", "the service ends");
      library_.resume_connection(exchange->connection);
    }
  }
  for (std::jthread& thread : threads_)
    thread.request_stop(); // what is under way, too
  threads_.clear();
  for (MHD_Daemon* daemon : daemons_)
    library_.stop_daemon(daemon);
}

HttpResponse HttpServer::answer(const HttpRequest& request, const std::stop_token& stop) {
  try {
    return handler_.answer(request, stop);
  } catch (const std::exception&) { // no memory, no thread
    return refusal(500, "service.failed", "this could not be answered; try again");
  }
}

void HttpServer::note_waiting(const MHD_Connection* connection, bool waits) {
  const std::lock_guard lock(mutex_);
  if (const auto client = clients_.find(connection); client != clients_.end()) {
    client->second.waits = waits;
    client->second.waits_since = Clock::now();
  }
}

MHD_Result HttpServer::take(MHD_Connection* connection, Exchange& exchange, const char* data,
                            std::size_t* size) {
  HttpRequest& request = exchange.request;
  if (*size > 0) { // a piece of the body
    if (request.body.size() + *size > longest_body)
      return MHD_NO; // the connection ends: nothing can be said in the middle of a body
    request.body.append(data, *size);
    *size = 0;
    return MHD_YES;
  }
  if (!exchange.is_asked &&
      request.headers.empty()) { // the body, if there is one, is still to come
    complete_request(connection, exchange);
    auto fault = fault_of_framing(request);
    return fault ? respond(connection, std::move(*fault)) : MHD_YES;
  }
  if (std::exchange(exchange.is_asked, true)) {
    std::optional<HttpResponse> response;
    {
      const std::lock_guard lock(mutex_);
      response = std::exchange(exchange.response, std::nullopt);
    }
    return response ? respond(connection, std::move(*response)) : MHD_YES;
  }
  note_waiting(connection, false);
  if (!handler_.is_slow(request))
    return respond(connection, answer(request, {}));
  const std::lock_guard lock(mutex_);
  if (ends_ || slow_.size() >= most_slow)
    return respond(connection,
                   refusal(503, "service.busy", "many requests wait: try again in a second"));
  library_.suspend_connection(connection);
  slow_.push_back(&exchange);
  changed_.notify_all();
  return MHD_YES;
}

void HttpServer::complete_request(MHD_Connection* connection, Exchange& exchange) const {
  HttpRequest& request = exchange.request;
  library_.get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_value, &request.query);
  library_.get_connection_values(connection, MHD_HEADER_KIND, add_header, &request.headers);
  request.headers.try_emplace("host", ""); // no longer empty
  const auto* info = library_.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  request.is_of_unix_socket = info != nullptr && is_of_unix_socket(info->connect_fd);
}

/// The socket's mode lets nobody else in but root.
bool HttpServer::is_of_unix_socket(int descriptor) const {
  ucred peer{};
  socklen_t size = sizeof(peer);
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  return ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
         address.ss_family == AF_UNIX &&
         ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

MHD_Result HttpServer::respond(MHD_Connection* connection, HttpResponse response) {
  MHD_Response* made = nullptr;
  struct stat status {};
  if (response.stream) {
    auto stream = std::make_unique<Stream>(*this, connection, response.stream);
    constexpr std::size_t block = 4096;
    made = library_.create_response_from_callback(MHD_SIZE_UNKNOWN, block, &Stream::read,
                                                  stream.get(), &Stream::free);
    if (made != nullptr)
      static_cast<void>(stream.release()); // the response frees it
  } else if (response.file) {
    if (::fstat(response.file->get(), &status) != 0)
      return MHD_NO;
    made = library_.create_response_from_fd(static_cast<std::size_t>(status.st_size),
                                            response.file->get());
    if (made != nullptr)
      response.file->release();
  } else {
    made = library_.create_response_from_buffer(response.body.size(), response.body.data(),
                                                MHD_RESPMEM_MUST_COPY);
  }
  if (made == nullptr)
    return MHD_NO;
  library_.add_response_header(made, "Content-Type", response.type.c_str());
  for (const auto& [name, value] : response.headers)
    library_.add_response_header(made, name.c_str(), value.c_str());
  const auto queued =
      library_.queue_response(connection, static_cast<unsigned>(response.status), made);
  library_.destroy_response(made);
  return queued;
}

void HttpServer::answer_slowly(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !slow_.empty(); })) {
    Exchange* const exchange = slow_.front();
    slow_.pop_front();
    lock.unlock();
    auto response = answer(exchange->request, stop);
    lock.lock();
    exchange->response = std::move(response);
    library_.resume_connection(exchange->connection);
  }
}

/// Streams without news get a comment, so that a client that has gone is noticed; a client that
/// does not come to the end of its request is sent away.
void HttpServer::look_after_clients(const std::stop_token& stop) {
  auto said = Clock::now();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, 1s, [] { return false; });
    const auto now = Clock::now();
    if (now - said > sign_of_life) {
      said = now;
      for (Stream* stream : streams_)
        stream->add(":\n\n");
    }
    for (auto& [connection, client] : clients_)
      if (client.waits && now - client.waits_since > longest_request)
        ::shutdown(client.descriptor, SHUT_RDWR);
  }
}

void HttpServer::publish(std::string_view text) {
  const std::lock_guard lock(mutex_);
  for (Stream* stream : streams_)
    stream->add(text);
}

} // namespace mqbridge
