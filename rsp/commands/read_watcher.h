#pragma once

#include <cstddef>

namespace mqbridge::rsp {

/// Looks on while memory is read, on the thread that reads, and may not begin an exchange itself:
/// what has come can be worked on while the rest is on its way, and how far a long read goes can be
/// decided as it goes. Requests are named by their number in the call.
class ReadWatcher {
public:
  ReadWatcher() = default;
  virtual ~ReadWatcher() = default;
  ReadWatcher(const ReadWatcher&) = delete;
  ReadWatcher& operator=(const ReadWatcher&) = delete;

  /// The first `read` bytes of this request are there for good, as sure as if the call had
  /// returned: never fewer than before. That no more can be read is for the end to say.
  virtual void came(std::size_t request, std::size_t read) = 0;

  /// A reply has come, of whatever kind.
  virtual void look() = 0;

  /// How many bytes from `offset` of this request on may be asked for; 0: none. More than it has is
  /// all of it. Asked again after each reply; the call returns when nothing is on its way any more,
  /// and what may not be asked for is not read then.
  virtual std::size_t wants(std::size_t request, std::size_t offset) = 0;
};

struct ReadRequest;

/// Who looks on while a burst goes on.
struct Onlooker {
  ReadWatcher* watcher = nullptr;     ///< null: nobody
  const ReadRequest* first = nullptr; ///< of the requests that it numbers
};

} // namespace mqbridge::rsp
