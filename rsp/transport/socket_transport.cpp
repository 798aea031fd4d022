#include "rsp/transport/socket_transport.h"

#include "rsp/transport/io_thread.h"
#include "rsp/transport/open.h"

#include <array>
#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <sys/socket.h>
#include <utility>

namespace mqbridge::rsp {

// The socket and its handlers belong to the I/O thread; the mutex guards what both sides see.
class SocketTransport::Stream : public std::enable_shared_from_this<Stream> {
public:
  explicit Stream(int fd)
      : socket_(io_context(), asio::generic::stream_protocol(AF_UNSPEC, 0), fd) {}

  void start() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->read(); });
  }

  void close() {
    std::promise<void> closed;
    asio::post(socket_.get_executor(), [this, &closed] {
      asio::error_code ignored;
      socket_.close(ignored);
      closed.set_value();
    });
    closed.get_future().wait();
  }

  void send(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    outbox_ += bytes;
    if (!std::exchange(writing_, true))
      asio::post(socket_.get_executor(), [self = shared_from_this()] { self->write(); });
  }

  Received receive(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    arrived_.wait_until(lock, deadline,
                        [this] { return !inbox_.empty() || end_.has_value() || woken_; });
    if (!inbox_.empty()) {
      if (std::exchange(paused_, false))
        asio::post(socket_.get_executor(), [self = shared_from_this()] { self->read(); });
      return {Received::Kind::data, std::exchange(inbox_, {})};
    }
    if (std::exchange(woken_, false))
      return {Received::Kind::woken, {}};
    if (end_)
      return {Received::Kind::closed, *end_};
    return {Received::Kind::timed_out, {}};
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    arrived_.notify_all();
  }

private:
  // Beyond this nothing more is read until the rank thread has taken it: a stub that floods fills
  // its own buffers.
  static constexpr std::size_t inbox_limit = std::size_t{4} << 20;

  void read() {
    socket_.async_read_some(asio::buffer(chunk_),
                            [self = shared_from_this()](asio::error_code error, std::size_t count) {
                              if (self->take(error, count))
                                self->read();
                            });
  }

  /// Whether to go on reading.
  bool take(const asio::error_code& error, std::size_t count) {
    const std::lock_guard lock(mutex_);
    inbox_.append(chunk_.data(), count);
    if (error)
      end(error);
    paused_ = !error && inbox_.size() >= inbox_limit;
    arrived_.notify_all();
    return !error && !paused_;
  }

  void write() {
    {
      const std::lock_guard lock(mutex_);
      in_flight_ = std::exchange(outbox_, {});
      if (in_flight_.empty()) {
        writing_ = false;
        return;
      }
    }
    asio::async_write(socket_, asio::buffer(in_flight_),
                      [self = shared_from_this()](asio::error_code error, std::size_t) {
                        // A stub that will not read may still have something to say: the reading
                        // side tells the end.
                        if (!error)
                          self->write();
                      });
  }

  void end(const asio::error_code& error) {
    if (!end_)
      end_ = error == asio::error::eof ? "closed by the other side" : error.message();
  }

  asio::generic::stream_protocol::socket socket_;
  std::array<char, std::size_t{64} << 10> chunk_;
  std::string in_flight_; ///< what async_write reads from

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::string inbox_;
  std::string outbox_;
  std::optional<std::string> end_;
  bool writing_ = false;
  bool paused_ = false;
  bool woken_ = false;
};

SocketTransport::SocketTransport(int fd) : stream_(std::make_shared<Stream>(fd)) {
  stream_->start();
}

SocketTransport::~SocketTransport() {
  stream_->close();
}

void SocketTransport::send(const Outgoing& bytes) {
  stream_->send(bytes.bytes());
}

Received SocketTransport::receive(Clock::time_point deadline) {
  return stream_->receive(deadline);
}

void SocketTransport::wake() {
  stream_->wake();
}

std::unique_ptr<Transport> adopt_socket(int fd) {
  return std::make_unique<SocketTransport>(fd);
}

} // namespace mqbridge::rsp
