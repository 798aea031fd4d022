#pragma once

#include "host/service/http_message.h"
#include "host/service/microhttpd.h"
#include "rsp/result.h"
#include "rsp/server/listener.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace mqbridge {

/// Who answers HTTP requests. Called by several threads.
class HttpHandler {
public:
  virtual ~HttpHandler() = default;
  /// `stop`: the server ends. It may throw: the client hears of an internal error.
  virtual HttpResponse answer(const HttpRequest& request, const std::stop_token& stop) = 0;
  /// Whether answering takes longer than reading a small file: a thread of its own does it then.
  virtual bool is_slow(const HttpRequest& request) const = 0;
};

/// An HTTP server on sockets of this host, for a few clients: libmicrohttpd, with limits of what a
/// client may send, keep open and take its time for. A slow client costs only itself. Streams of
/// events need no thread each. At its end all connections are closed.
class HttpServer {
public:
  /// `handler` outlives this. Errors: service.library, listen.failed.
  static Result<std::unique_ptr<HttpServer>> open(std::vector<rsp::Listener> listeners,
                                                  HttpHandler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Sends text to every stream. A client that does not take it loses its connection. Any thread.
  void publish(std::string_view text);

private:
  class Stream;
  struct Exchange;
  struct Client {
    int descriptor = -1;
    std::chrono::steady_clock::time_point waits_since; ///< for a whole request
    bool waits = true;
  };

  HttpServer(std::vector<rsp::Listener> listeners, HttpHandler& handler, const Microhttpd& library);
  Result<void> start();
  HttpResponse answer(const HttpRequest& request, const std::stop_token& stop);
  MHD_Result take(MHD_Connection* connection, Exchange& exchange, const char* data,
                  std::size_t* size);
  MHD_Result respond(MHD_Connection* connection, HttpResponse response);
  void complete_request(MHD_Connection* connection, Exchange& exchange) const;
  bool is_of_unix_socket(int descriptor) const;
  void answer_slowly(const std::stop_token& stop);
  void look_after_clients(const std::stop_token& stop);
  void note_waiting(const MHD_Connection* connection, bool waits);

  std::vector<rsp::Listener> listeners_;
  HttpHandler& handler_;
  const Microhttpd& library_;
  std::mutex mutex_; ///< guards the members below
  std::condition_variable_any changed_;
  std::deque<Exchange*> slow_; ///< suspended, and waiting for a thread
  std::map<const MHD_Connection*, Client> clients_;
  std::set<Stream*> streams_;
  bool ends_ = false;
  std::vector<MHD_Daemon*> daemons_; ///< one for each listener
  std::vector<std::jthread> threads_;
};

} // namespace mqbridge
