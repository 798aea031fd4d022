#include "host/mpi/ucx/ucx_worker.h"

#include "host/process/structures.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <string_view>

namespace mqbridge::ucx {
namespace {

/// The part of a worker that is looked through: matching is at 888 bytes in 1.18.1.
constexpr std::size_t worker_bytes = 4096;
/// The context stands within this part of it, and so does the pool of requests.
constexpr std::uint64_t first_part = 512;

/// A hash table of UCX has this many places, of which the last ones are never used.
constexpr std::uint64_t hash_size = 1024;
constexpr std::uint64_t hash_prime = 1021;

/// ucp_tag_match_t, the same in 1.10 to 1.20 (src/ucp/tag/tag_match.h).
namespace matching {
constexpr Field wild_head = {0, word};
constexpr Field wild_tail = {8, word};
constexpr Field wild_count = {16, 4};
constexpr Field posted_hash = {24, word};
constexpr Field receives = {32, word};
constexpr Field posted_count = {40, 4};
constexpr std::uint64_t unexpected_at = 48;
constexpr Field unexpected_last = {48, word};
constexpr Field unexpected_first = {56, word};
constexpr Field unexpected_hash = {64, word};
constexpr std::uint64_t offloaded_at = 112;
constexpr Field offloaded_head = {112, word};
constexpr Field offloaded_tail = {120, word};
constexpr Field card = {168, word}; ///< the network card that matches in UCX's place
constexpr std::size_t bytes = 192;
} // namespace matching

/// ucp_request_queue_t.
namespace queue {
constexpr Field head = {0, word};
constexpr Field tail = {8, word};
constexpr Field count = {16, 4};
constexpr std::size_t bytes = 24;
} // namespace queue

/// ucs_mpool_data_t (src/ucs/datastruct/mpool.h): 1.14 has put two members into its middle.
namespace pool {
constexpr Field element_bytes = {0, word};
constexpr Field alignment = {8, word};
struct Ends {
  Field chunks, name;
};
constexpr std::array<Ends, 2> ends = {Ends{{40, word}, {56, word}}, Ends{{64, word}, {80, word}}};
constexpr std::size_t bytes = 88;
constexpr std::string_view name = "ucp_requests";
constexpr std::uint64_t largest_element = 64 * 1024;
} // namespace pool

/// Several pieces of memory, read together.
class Pieces {
public:
  explicit Pieces(std::size_t size) : size_(size) {}
  std::size_t add(std::uint64_t address) {
    addresses_.push_back(address);
    return addresses_.size() - 1;
  }
  Result<void> read(const AddressSpace& space) {
    bytes_.resize(addresses_.size() * size_);
    for (std::size_t i = 0; i < addresses_.size(); ++i)
      ranges_.push_back({{addresses_[i]}, std::span(bytes_).subspan(i * size_, size_)});
    order_ = space.platform.byte_order;
    return space.memory.read_ranges(ranges_);
  }
  std::size_t count() const { return addresses_.size(); }
  ItemBytes at(std::size_t index) const {
    const MemoryRange& range = ranges_[index];
    return {range.address, range.into.first(range.read), order_};
  }
  std::string_view text(std::size_t index) const {
    const MemoryRange& range = ranges_[index];
    const std::string_view all(reinterpret_cast<const char*>(range.into.data()), range.read);
    return all.substr(0, all.find('\0'));
  }

private:
  std::size_t size_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::byte> bytes_;
  std::vector<MemoryRange> ranges_;
  ByteOrder order_ = ByteOrder::little;
};

Field moved(Field field, std::uint64_t by) {
  return {field.offset + by, field.size};
}

std::uint64_t value(const ItemBytes& bytes, const Field& field, std::uint64_t at = 0) {
  return bytes.value(moved(field, at)).value_or(0);
}

/// Whether the worker's bytes at this place may be its ucp_tag_match_t: an empty queue ends in its
/// own head. (The network card's queue is empty where there is none that matches.)
bool may_match(const ItemBytes& worker, std::uint64_t at) {
  const std::uint64_t address = worker.address().value + at;
  const bool wild_empty = value(worker, matching::wild_tail, at) == address;
  const auto wild = value(worker, matching::wild_count, at);
  const auto first = value(worker, matching::unexpected_first, at);
  const auto last = value(worker, matching::unexpected_last, at);
  const std::uint64_t ring = address + matching::unexpected_at;
  return value(worker, matching::offloaded_tail, at) == address + matching::offloaded_at &&
         value(worker, matching::offloaded_head, at) == 0 &&
         value(worker, matching::card, at) == 0 && wild_empty == (wild == 0) &&
         wild <= value(worker, matching::posted_count, at) &&
         value(worker, matching::posted_count, at) <= value(worker, matching::receives, at) &&
         (first == ring) == (last == ring) && may_be_object(first) && may_be_object(last) &&
         may_be_object(value(worker, matching::wild_tail, at)) &&
         may_be_object(value(worker, matching::posted_hash, at)) &&
         may_be_object(value(worker, matching::unexpected_hash, at));
}

/// More than there are of those that only look alike.
constexpr std::size_t most_places = 64;

/// A place where matching may be. Only the hash table can tell.
struct Place {
  std::size_t worker = 0; ///< of the candidates
  std::uint64_t at = 0;
};

class WorkerSearch {
public:
  explicit WorkerSearch(const AddressSpace& space) : space_(space) {}

  Result<FoundWorker> run(TargetAddress object, std::uint64_t size) {
    if (space_.platform.pointer_size != word)
      return none("UCX is known for 64 bits alone");
    if (auto done = read_candidates(object, size); !done)
      return forward(std::move(done));
    std::vector<Place> places;
    for (std::size_t i = 0; i < workers_.count(); ++i)
      for (std::uint64_t at = 0; at + matching::bytes <= worker_bytes; at += word)
        if (places.size() < most_places && may_match(workers_.at(i), at))
          places.push_back({i, at});
    Pieces tables(hash_size * queue::bytes);
    for (const Place& place : places)
      tables.add(value(workers_.at(place.worker), matching::posted_hash, place.at));
    if (auto done = tables.read(space_); !done)
      return forward(std::move(done));
    for (std::size_t i = 0; i < places.size(); ++i)
      if (auto worker = read_worker(places[i], tables.at(i)))
        return with_pool(std::move(*worker), places[i].worker);
    return none(places.empty() ? "it has no worker that is known, or its network card matches "
                                 "messages"
                               : "its posted receives are not where they should be");
  }

private:
  static FoundWorker none(std::string why) { return {std::nullopt, std::move(why)}; }

  /// Workers may be where one word leads whose neighbour in front of it stands in the worker, too.
  Result<void> read_candidates(TargetAddress object, std::uint64_t size) {
    Pieces owner(std::min<std::uint64_t>(size, worker_bytes));
    owner.add(object.value);
    if (auto done = owner.read(space_); !done)
      return done;
    std::vector<std::uint64_t> contexts;
    for (std::uint64_t at = 0; at + 2 * word <= size; at += word) {
      const auto context = value(owner.at(0), {at, word});
      const auto worker = value(owner.at(0), {at + word, word});
      if (may_be_object(context) && may_be_object(worker) && context != worker)
        candidates_.push_back({context, worker});
    }
    Pieces beginnings(first_part);
    for (const auto& candidate : candidates_)
      beginnings.add(candidate.worker);
    if (auto done = beginnings.read(space_); !done)
      return done;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      for (std::uint64_t at = 0; at < first_part; at += word)
        if (value(beginnings.at(i), {at, word}) == candidates_[i].context) {
          workers_.add(candidates_[i].worker);
          break;
        }
    return workers_.read(space_);
  }

  /// nullopt: this is no hash table of posted receives, or does not agree with what else is known.
  std::optional<Worker> read_worker(const Place& place, const ItemBytes& table) const {
    const ItemBytes bytes = workers_.at(place.worker);
    Worker worker;
    worker.address = bytes.address().value;
    worker.receives = value(bytes, matching::receives, place.at);
    std::uint64_t count = value(bytes, matching::wild_count, place.at);
    if (count > 0)
      worker.queues.push_back({PostedQueue::wildcard, value(bytes, matching::wild_head, place.at),
                               value(bytes, matching::wild_tail, place.at), count});
    for (std::uint64_t bucket = 0; bucket < hash_size; ++bucket) {
      const std::uint64_t at = bucket * queue::bytes;
      const auto tail = table.value(moved(queue::tail, at));
      const auto waiting = table.value(moved(queue::count, at));
      if (!tail || !waiting)
        return std::nullopt;
      const bool empty = *tail == table.address().value + at;
      if (empty != (*waiting == 0) || !may_be_object(*tail))
        return std::nullopt;
      count += *waiting;
      if (!empty)
        worker.queues.push_back({bucket, value(table, queue::head, at), *tail, *waiting});
    }
    if (count != value(bytes, matching::posted_count, place.at))
      return std::nullopt;
    const std::uint64_t ring = worker.address + place.at + matching::unexpected_at;
    worker.unexpected = {ring, value(bytes, matching::unexpected_first, place.at),
                         value(bytes, matching::unexpected_last, place.at), unknown_length};
    return worker;
  }

  /// The pool is a free list and what describes it, whose name is known.
  Result<FoundWorker> with_pool(Worker worker, std::size_t index) const {
    Pieces described(pool::bytes);
    std::vector<std::uint64_t> places;
    for (std::uint64_t at = 0; at < first_part; at += word)
      if (const auto data = value(workers_.at(index), {at + word, word}); may_be_object(data)) {
        described.add(data);
        places.push_back(worker.address + at);
      }
    if (auto done = described.read(space_); !done)
      return forward(std::move(done));
    Pieces names(pool::name.size() + 1);
    for (std::size_t i = 0; i < described.count(); ++i)
      for (const auto& end : pool::ends)
        names.add(value(described.at(i), end.name));
    if (auto done = names.read(space_); !done)
      return forward(std::move(done));
    for (std::size_t i = 0; i < described.count(); ++i)
      for (std::size_t end = 0; end < pool::ends.size(); ++end)
        if (names.text(i * pool::ends.size() + end) == pool::name &&
            take_pool(worker, places[i], described.at(i), pool::ends[end])) {
          worker.before_1_14 = end == 0;
          return FoundWorker{std::move(worker), {}};
        }
    return none("its memory pool of requests is not known");
  }

  static bool take_pool(Worker& worker, std::uint64_t address, const ItemBytes& data,
                        const pool::Ends& ends) {
    const auto bytes = value(data, pool::element_bytes);
    const auto alignment = value(data, pool::alignment);
    if (bytes <= word || bytes > pool::largest_element || alignment == 0 ||
        alignment > pool::largest_element || (alignment & (alignment - 1)) != 0)
      return false;
    worker.pool = {address, bytes, (bytes + alignment - 1) / alignment * alignment,
                   value(data, ends.chunks)};
    return true;
  }

  struct Candidate {
    std::uint64_t context, worker;
  };

  AddressSpace space_;
  std::vector<Candidate> candidates_;
  Pieces workers_{worker_bytes};
};

} // namespace

Result<FoundWorker> find_worker(TargetAddress object, std::uint64_t size,
                                const AddressSpace& space) {
  return WorkerSearch(space).run(object, size);
}

std::uint64_t bucket_of(std::uint64_t tag) {
  constexpr int half = 32;
  constexpr std::uint64_t low = 0xffffffff;
  return ((tag & low) % hash_prime) ^ ((tag >> half) % hash_prime);
}

} // namespace mqbridge::ucx
