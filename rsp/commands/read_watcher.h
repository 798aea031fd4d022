#pragma once

#include <cstddef>

namespace mqbridge::rsp {

/// Watches a read of memory, on the thread that reads: it can work on bytes that have come while
/// the rest is on its way, and decide how far a long read goes. It may not begin an exchange
/// itself. Requests are named by their number in the call.
class ReadWatcher {
public:
  ReadWatcher() = default;
  virtual ~ReadWatcher() = default;
  ReadWatcher(const ReadWatcher&) = delete;
  ReadWatcher& operator=(const ReadWatcher&) = delete;

  /// The first `read` bytes of this request are there for good, as sure as if the call had
  /// returned. The number never shrinks. Only the end of the call says that no more can be read.
  virtual void came(std::size_t request, std::size_t read) = 0;

  /// A reply has come, of whatever kind.
  virtual void look() = 0;

  /// How many bytes from `offset` of this request on may be asked for; 0: none; more than the
  /// request has: all. Asked again after each reply. When nothing is on its way any more the call
  /// returns, and bytes that were not wanted by then are not read.
  virtual std::size_t wants(std::size_t request, std::size_t offset) = 0;
};

struct ReadRequest;

/// Who watches a burst.
struct Onlooker {
  ReadWatcher* watcher = nullptr;     ///< null: nobody
  const ReadRequest* first = nullptr; ///< the request with number 0
};

} // namespace mqbridge::rsp
