#include "host/mpi/ucx/ucx_requests.h"

#include "host/process/structures.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <set>
#include <span>
#include <unordered_map>

namespace mqbridge::ucx {
namespace {

/// ucp_request_t (src/ucp/core/ucp_request.h), for 64 bits: what all versions have at one place.
constexpr Field flags_field = {4, 4};
constexpr Field endpoint_field = {24, word};
constexpr Field before_tag_of_send = {168, word};
constexpr Field tag_of_send = {176, word};
constexpr Field callback_of_send = {56, word};
/// UCX's function that sends it, or goes on sending it.
constexpr Field progress_of_send = {224, word};

/// Where a send's buffer is depends on its protocol.
struct SendLayout {
  Field buffer, length;
};
constexpr SendLayout old_protocols = {{32, word}, {48, word}};
constexpr SendLayout new_protocols = {{112, word}, {96, word}};

/// A receive has an iterator over its buffer from 1.16 on, and its link stands behind it. The
/// worker's address tells which it is.
struct ReceiveLayout {
  std::uint64_t link = 0;
  Field buffer, length, worker, tag, mask, turn, callback, message_tag, message_length;
};
constexpr ReceiveLayout receive_of(std::uint64_t link, std::uint64_t buffer, std::uint64_t length,
                                   std::uint64_t worker, std::uint64_t tag) {
  return {link,
          {buffer, word},
          {length, word},
          {worker, word},
          {tag, word},
          {tag + word, word},
          {tag + 2 * word, word},
          {tag + 3 * word, word},
          {tag + 4 * word, word},
          {tag + 5 * word, word}};
}
constexpr std::array receive_layouts = {receive_of(160, 56, 40, 96, 176),
                                        receive_of(24, 32, 48, 112, 192)};
/// What of a request is read, from its beginning.
constexpr std::size_t needed_bytes = least_request_bytes;
constexpr std::uint64_t latest_link = 160;
constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 57;
/// More than one thread's calls have under way.
constexpr std::size_t most_on_stack = 1024;

/// UCP_REQUEST_FLAG_*, the same in these versions.
enum RequestFlag : std::uint64_t {
  completed = 1U << 0,
  released = 1U << 1,      ///< the MPI wants to hear no more of it
  protocol_send = 1U << 2, ///< by the new protocols
  user_memory = 1U << 3,
  sync_local = 1U << 4,
  sync_remote = 1U << 5,
  with_callback = 1U << 6,
  protocol_ready = 1U << 7,
  sync = 1U << 8,
  block_card = 1U << 11,
  tagged_send = 1U << 14, ///< by the old protocols
  tagged_receive = 1U << 17,
  key_in_use = 1U << 18,
  usage_tracked = 1U << 20,
};
/// Those that a send or a receive under way may have; the others are of other operations.
constexpr std::uint64_t flags_of_send = protocol_send | user_memory | sync_local | sync_remote |
                                        with_callback | protocol_ready | sync | tagged_send |
                                        key_in_use | usage_tracked;
constexpr std::uint64_t flags_of_receive =
    user_memory | with_callback | block_card | tagged_receive | usage_tracked;

/// A link that leads nowhere, where a request must be.
std::string no_request(std::uint64_t link, std::string_view why) {
  return fmt::format("what stands at {:#x} is no posted receive of UCX: {}", link, why);
}

std::uint64_t value_at(const ItemBytes& request, const Field& field, std::uint64_t at = 0) {
  return request.value({field.offset + at, field.size}).value_or(0);
}

/// The layouts that the worker's version may have.
std::span<const ReceiveLayout> layouts_of(const Worker& worker) {
  return std::span(receive_layouts).subspan(worker.before_1_14 ? 1 : 0);
}

/// The layout of the receive at this place of the bytes; null: it does not know the worker.
const ReceiveLayout* layout_of(const ItemBytes& request, std::uint64_t at, const Worker& worker) {
  for (const ReceiveLayout& layout : layouts_of(worker))
    if (value_at(request, layout.worker, at) == worker.address)
      return &layout;
  return nullptr;
}

Request receive_at(const ItemBytes& bytes, std::uint64_t at, const ReceiveLayout& layout) {
  Request request;
  request.address = bytes.address().value + at;
  if ((value_at(bytes, flags_field, at) & completed) != 0)
    request.state = Request::State::complete;
  request.tag = value_at(bytes, layout.tag, at);
  request.mask = value_at(bytes, layout.mask, at);
  request.turn = value_at(bytes, layout.turn, at);
  request.buffer = value_at(bytes, layout.buffer, at);
  request.length = value_at(bytes, layout.length, at);
  request.callback = value_at(bytes, layout.callback, at);
  request.message_tag = value_at(bytes, layout.message_tag, at);
  request.message_length = value_at(bytes, layout.message_length, at);
  return request;
}

Request send_at(const ItemBytes& bytes, std::uint64_t at, std::uint64_t flags) {
  const SendLayout& layout = (flags & protocol_send) != 0 ? new_protocols : old_protocols;
  Request request;
  request.is_send = true;
  request.address = bytes.address().value + at;
  if ((flags & completed) != 0)
    request.state = Request::State::complete;
  request.tag = value_at(bytes, tag_of_send, at);
  request.buffer = value_at(bytes, layout.buffer, at);
  request.length = value_at(bytes, layout.length, at);
  request.callback = value_at(bytes, callback_of_send, at);
  request.endpoint = value_at(bytes, endpoint_field, at);
  // Once the receiver has asked for the data, its address stands in the tag's place, and 0 where it
  // takes none; its request stands where a number of the message was.
  const std::uint64_t before_tag = value_at(bytes, before_tag_of_send, at);
  request.has_no_tag = request.tag == 0 && before_tag != 0 && before_tag % word == 0 &&
                       before_tag < end_of_addresses;
  return request;
}

bool may_be_send(std::uint64_t flags) {
  return (flags & (tagged_send | protocol_send)) != 0 && (flags & ~flags_of_send) == 0;
}

class RequestReader {
public:
  RequestReader(const Worker& worker, std::uint64_t mpi_bytes, std::uint64_t most,
                const AddressSpace& space)
      : worker_(worker), mpi_bytes_(mpi_bytes), most_(most), space_(space) {}

  Result<Requests> run() {
    if (auto done = read_pool(); !done)
      return forward(std::move(done));
    if (auto done = walk_queues(); !done)
      return forward(std::move(done));
    std::ranges::sort(found_.receives, {}, &Request::turn);
    std::ranges::sort(found_.sends, {}, &Request::address);
    return std::move(found_);
  }

private:
  void damage(std::string why) {
    if (!found_.damage)
      found_.damage = std::move(why);
  }

  Result<void> read_pool() {
    const RequestPool& pool = worker_.pool;
    if (pool.element_bytes < word + needed_bytes + mpi_bytes_) {
      damage("its requests are smaller than those of any version that is known");
      return {};
    }
    std::uint64_t left = most_;
    std::set<std::uint64_t> seen; // chunks, and what they have
    for (std::uint64_t chunk = pool.first_chunk; chunk != 0 && !found_.damage;) {
      // ucs_mpool_chunk_t: the next chunk, its elements, and how many these are.
      std::array<std::byte, 20> bytes{};
      std::array ranges = {MemoryRange{{chunk}, bytes}};
      if (auto done = space_.memory.read_ranges(ranges); !done)
        return done;
      const ItemBytes head({chunk}, std::span(bytes).first(ranges[0].read),
                           space_.platform.byte_order);
      const auto next = head.value({0, word});
      const auto elements = head.value({8, word});
      const auto count = head.value({16, 4});
      if (!next || !elements || !count || *count == 0) {
        damage(fmt::format("the memory of its requests at {:#x} cannot be read", chunk));
      } else if (!seen.insert(chunk).second || !seen.insert(*elements).second) {
        damage(fmt::format("the list of the memory of its requests comes to {:#x} twice", chunk));
      } else if (*count > left) {
        damage(fmt::format("it has memory for more than {} requests", most_));
      } else {
        left -= *count;
        if (auto done = read_elements(*elements, *count); !done)
          return done;
      }
      chunk = next.value_or(0);
    }
    return {};
  }

  Result<void> read_elements(std::uint64_t first, std::uint64_t count) {
    constexpr std::size_t at_once = 1 << 20;
    const std::uint64_t stride = worker_.pool.stride;
    const std::uint64_t most = std::max<std::uint64_t>(at_once / stride, 1);
    std::vector<std::byte> bytes;
    for (std::uint64_t begin = 0; begin < count; begin += most) {
      const std::uint64_t here = std::min(most, count - begin);
      bytes.resize(here * stride);
      std::array ranges = {MemoryRange{{first + begin * stride}, bytes}};
      if (auto done = space_.memory.read_ranges(ranges); !done)
        return done;
      for (std::uint64_t i = 0; i < here; ++i) {
        const std::uint64_t at = i * stride;
        if (at + worker_.pool.element_bytes > ranges[0].read) {
          damage(fmt::format("its request at {:#x} cannot be read", first + (begin + i) * stride));
          return {};
        }
        take_element(ItemBytes({first + (begin + i) * stride},
                               std::span(bytes).subspan(at, worker_.pool.element_bytes),
                               space_.platform.byte_order));
      }
    }
    return {};
  }

  /// An element that is free has the address of the next free one in front of it.
  void take_element(const ItemBytes& element) {
    if (value_at(element, {0, word}) != worker_.pool.address)
      return;
    const std::uint64_t flags = value_at(element, flags_field, word);
    Request found;
    // Of a receive whose message had come before it, UCX writes down nothing but that it is
    // complete: the rest is of an earlier request.
    if ((flags & tagged_receive) != 0 && (flags & completed) != 0)
      return;
    if ((flags & tagged_receive) != 0) {
      const ReceiveLayout* layout = layout_of(element, word, worker_);
      if (layout == nullptr) {
        damage(fmt::format("its receive at {:#x} is made in a way that is not known",
                           element.address().value + word));
        return;
      }
      found = receive_at(element, word, *layout);
      link_of_.emplace(found.address + layout->link, found_.receives.size());
      next_.push_back(value_at(element, {layout->link, word}, word));
    } else if (may_be_send(flags & ~(completed | released)) && (flags & with_callback) != 0) {
      // UCX's own requests have no callback, but may have one left over in its place.
      found = send_at(element, word, flags);
    } else {
      return;
    }
    found.mpi_part = element.address().value + worker_.pool.element_bytes - mpi_bytes_;
    (found.is_send ? found_.sends : found_.receives).push_back(found);
  }

  /// The place that the walk has reached in one queue.
  struct Walker {
    const PostedQueue* queue = nullptr;
    std::uint64_t link = 0;
    std::uint64_t count = 0;
    std::uint64_t turn = 0; ///< that the next request must have at least
  };

  Result<void> walk_queues() {
    std::vector<Walker> walkers;
    for (const PostedQueue& queue : worker_.queues)
      walkers.push_back({&queue, queue.first});
    while (!walkers.empty()) {
      std::vector<std::uint64_t> unread;
      for (const Walker& walker : walkers)
        if (!link_of_.contains(walker.link))
          unread.push_back(walker.link);
      if (auto done = read_links(unread); !done)
        return done;
      std::size_t kept = 0;
      for (Walker& walker : walkers)
        if (goes_on(walker))
          walkers[kept++] = walker;
      walkers.resize(kept);
    }
    return {};
  }

  /// Reads posted receives that are not in the pool: those of calls that block.
  Result<void> read_links(const std::vector<std::uint64_t>& links) {
    constexpr std::size_t size = latest_link + needed_bytes;
    if (found_.receives.size() + links.size() > most_) {
      damage(fmt::format("it has more than {} requests", most_));
      return {};
    }
    std::vector<std::byte> bytes(links.size() * size);
    std::vector<MemoryRange> ranges;
    for (std::size_t i = 0; i < links.size(); ++i)
      ranges.push_back(
          {{links[i] - std::min(links[i], latest_link)}, std::span(bytes).subspan(i * size, size)});
    if (auto done = space_.memory.read_ranges(ranges); !done)
      return done;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const ItemBytes around(ranges[i].address, ranges[i].into.first(ranges[i].read),
                             space_.platform.byte_order);
      for (const ReceiveLayout& layout : layouts_of(worker_)) {
        const std::uint64_t at = latest_link - layout.link;
        if (ranges[i].read < at + needed_bytes ||
            value_at(around, layout.worker, at) != worker_.address ||
            (value_at(around, flags_field, at) & tagged_receive) == 0)
          continue;
        link_of_.emplace(links[i], found_.receives.size());
        next_.push_back(value_at(around, {layout.link, word}, at));
        found_.receives.push_back(receive_at(around, at, layout));
        break;
      }
    }
    return {};
  }

  /// Takes the request at the walker's link; false: the queue ends there.
  bool goes_on(Walker& walker) {
    const auto known = link_of_.find(walker.link);
    if (known == link_of_.end()) {
      damage(no_request(walker.link, "it does not know its worker, or cannot be read"));
      return false;
    }
    Request& request = found_.receives[known->second];
    const std::uint64_t bucket =
        ~request.mask == 0 ? bucket_of(request.tag) : PostedQueue::wildcard;
    std::string_view why;
    if (request.state != Request::State::underway)
      why = "it has completed";
    else if (bucket != walker.queue->bucket)
      why = "its tag belongs into another queue";
    else if (request.turn < walker.turn || request.turn >= worker_.receives)
      why = "it is not its turn";
    else if (++walker.count > walker.queue->count)
      why = "the queue has fewer of them";
    if (!why.empty()) {
      damage(no_request(walker.link, why));
      return false;
    }
    request.state = Request::State::posted;
    if (walker.link == walker.queue->last) {
      if (walker.count != walker.queue->count)
        damage(fmt::format("UCX counts {} posted receives in a queue of {}", walker.queue->count,
                           walker.count));
      return false;
    }
    walker.turn = request.turn + 1;
    walker.link = next_[known->second];
    return true;
  }

  const Worker& worker_;
  std::uint64_t mpi_bytes_;
  std::uint64_t most_;
  AddressSpace space_;
  Requests found_;
  std::vector<std::uint64_t> next_; ///< of each receive: the link that its own leads to
  std::unordered_map<std::uint64_t, std::size_t> link_of_; ///< receives by their links
};

} // namespace

Result<Requests> read_requests(const Worker& worker, std::uint64_t mpi_bytes, std::uint64_t most,
                               const AddressSpace& space) {
  return RequestReader(worker, mpi_bytes, most, space).run();
}

std::vector<Request> find_on_stack(const Worker& worker, std::span<const MappedRange> code,
                                   TargetAddress address, std::span<const std::byte> stack,
                                   ByteOrder order) {
  const ItemBytes bytes(address, stack, order);
  const auto each = [&](const auto& take) {
    for (std::uint64_t at = 0; at + needed_bytes <= stack.size(); at += word)
      take(at, value_at(bytes, flags_field, at));
  };
  std::vector<Request> found;
  const auto is_beside_another = [&](std::uint64_t at) {
    return std::ranges::any_of(found, [&](const Request& other) {
      const std::uint64_t its = other.address - address.value;
      return at < its + needed_bytes && its < at + needed_bytes;
    });
  };
  // A receive of one layout may look like one of the other layout, a little beside it.
  for (const ReceiveLayout& layout : layouts_of(worker))
    each([&](std::uint64_t at, std::uint64_t flags) {
      if ((flags & tagged_receive) != 0 && (flags & ~flags_of_receive) == 0 &&
          value_at(bytes, layout.worker, at) == worker.address && found.size() < most_on_stack &&
          !is_beside_another(at))
        found.push_back(receive_at(bytes, at, layout));
    });
  const auto is_code = [&](std::uint64_t function) {
    return std::ranges::any_of(
        code, [&](const MappedRange& range) { return range.contains({function}); });
  };
  each([&](std::uint64_t at, std::uint64_t flags) {
    if (may_be_send(flags) && is_code(value_at(bytes, progress_of_send, at)) &&
        found.size() < most_on_stack)
      found.push_back(send_at(bytes, at, flags));
  });
  return found;
}

} // namespace mqbridge::ucx
