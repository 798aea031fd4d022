#include "host/mpi/mpich/mpich_pools.h"

#include "host/mpi/mpich/mpich_support.h"

#include <algorithm>
#include <span>
#include <unordered_set>

namespace mqbridge::mpich {

using ucx::may_be_object;

namespace {

/// Debian's library has 300 KB of data. A program may have MPICH and much else linked into it.
constexpr std::uint64_t most_data = std::uint64_t{8} << 20;

/// MPIR_Object_alloc_t
namespace pool {
constexpr Field initialized = {8, 4};
constexpr Field blocks = {16, 8};
constexpr Field block_count = {24, 4};
constexpr Field allocated = {28, 4};
constexpr Field available = {32, 4};
constexpr Field kind = {36, 4};
constexpr Field object_bytes = {40, 4};
constexpr Field direct = {48, 8};
constexpr Field direct_count = {56, 4};
constexpr std::uint64_t bytes = 64;
constexpr std::uint64_t objects_of_block = 1024;
constexpr std::uint64_t largest_object = 8 * 1024;
constexpr std::uint64_t most_direct = 4096;
constexpr std::uint64_t most_objects = 10'000'000;
} // namespace pool

/// MPIDI_UCX_global_t (src/mpid/ch4/netmod/ucx/ucx_types.h): the context, and for each worker its
/// address, that of its name on the network, and the name's length; behind the only one the number
/// of workers.
namespace ucx_global {
constexpr std::uint64_t worker = 8;
constexpr Field address_length = {24, 8};
constexpr Field next_worker = {96, 8}; ///< or the number of workers
constexpr std::uint64_t most_address_bytes = 64 * 1024;
} // namespace ucx_global

/// MPIDIU_avt_manager (src/mpid/ch4/src/ch4_types.h): three numbers, and the tables.
namespace tables {
constexpr Field most = {0, 4};
constexpr Field count = {4, 4};
constexpr Field first = {16, 8};
constexpr Field all = {24, 8};
constexpr std::uint64_t most_tables = 1 << 20;
} // namespace tables

/// More than there are of those that only look alike.
constexpr std::size_t most_candidates = 1000;

/// Handles of objects in a pool (src/include/mpir_objects.h): two bits of form, four of kind.
bool is_handle_of(std::uint64_t handle, ObjectKind kind) {
  constexpr int kind_shift = 26;
  constexpr std::uint64_t kind_mask = 15;
  return ((handle >> kind_shift) & kind_mask) == static_cast<std::uint64_t>(kind);
}

class DataSearch {
public:
  explicit DataSearch(const AddressSpace& space) : space_(space) {}

  Result<OwnData> run(std::span<const MappedRange> data) {
    for (const MappedRange& range : data)
      if (auto done = look_through(range); !done)
        return forward(std::move(done));
    if (auto done = choose(); !done)
      return forward(std::move(done));
    return std::move(found_);
  }

private:
  Result<void> look_through(const MappedRange& range) {
    const std::uint64_t size = std::min(range.last.value - range.first.value + 1, most_data);
    std::vector<std::byte> bytes(size);
    auto read = space_.memory.read(range.first, bytes);
    if (!read)
      return forward(std::move(read));
    found_.is_all = found_.is_all && *read == range.last.value - range.first.value + 1;
    const ItemBytes data(range.first, std::span(bytes).first(*read), space_.platform.byte_order);
    // What the process stands still for: each word is decoded once, and most are no pointers.
    std::vector<std::uint64_t> words;
    const std::uint64_t skew = (word - range.first.value % word) % word;
    for (std::uint64_t at = skew; at + word <= *read; at += word)
      words.push_back(value(data, at, {0, word}));
    for (std::uint64_t i = 0; i * word + skew + pool::bytes <= *read; ++i) {
      const std::uint64_t at = skew + i * word;
      if (may_be_object(words[i + pool::direct.offset / word]))
        take_pool(data, at, *read);
      if (may_be_object(words[i]) && may_be_object(words[i + 1]) && may_be_object(words[i + 2]))
        take_ucx(data, at, *read);
      if (may_be_object(words[i + tables::first.offset / word]) &&
          may_be_object(words[i + tables::all.offset / word]))
        take_tables(data, at);
    }
    if (found_.communicators.object_bytes != 0 && found_.predefined == 0)
      find_predefined(data, skew, *read);
    return {};
  }

  static std::uint64_t value(const ItemBytes& data, std::uint64_t at, const Field& field) {
    return data.value({at + field.offset, field.size}).value_or(0);
  }

  void take_pool(const ItemBytes& data, std::uint64_t at, std::uint64_t size) {
    const auto kind = value(data, at, pool::kind);
    ObjectPool* const into =
        kind == static_cast<std::uint64_t>(ObjectKind::communicator) ? &found_.communicators
        : kind == static_cast<std::uint64_t>(ObjectKind::request)    ? &found_.requests
                                                                     : nullptr;
    const auto initialized = value(data, at, pool::initialized);
    if (into == nullptr || initialized > 1)
      return;
    ObjectPool read{value(data, at, pool::object_bytes), value(data, at, pool::direct),
                    value(data, at, pool::direct_count), value(data, at, pool::blocks),
                    value(data, at, pool::block_count),  0};
    const auto allocated = value(data, at, pool::allocated);
    const auto available = value(data, at, pool::available);
    const std::uint64_t begin = data.address().value;
    const bool is_pool = read.object_bytes >= word && read.object_bytes <= pool::largest_object &&
                         read.direct_count > 0 && read.direct_count <= pool::most_direct &&
                         read.direct >= begin && read.direct - begin < size;
    // Until its first object is asked for, a pool has none.
    const bool is_one =
        is_pool &&
        (initialized == 0
             ? allocated == 0 && available == 0 && read.block_count == 0
             : allocated == read.direct_count + read.block_count * pool::objects_of_block &&
                   available <= allocated && allocated <= pool::most_objects &&
                   (read.block_count == 0 || may_be_object(read.blocks)) &&
                   is_handle_of(value(data, read.direct - begin, object::handle),
                                static_cast<ObjectKind>(kind)));
    if (!is_one)
      return;
    read.in_use = allocated - available;
    if (into->object_bytes == 0 || read.in_use > into->in_use)
      *into = read;
  }

  void take_ucx(const ItemBytes& data, std::uint64_t at, std::uint64_t size) {
    const Field pointer = {0, word};
    const auto length = value(data, at, ucx_global::address_length);
    const auto context = value(data, at, pointer);
    const auto worker = value(data, at + ucx_global::worker, pointer);
    const auto is_own = [&](std::uint64_t address) {
      return address - data.address().value < size; // UCX's objects are in none of MPICH's data
    };
    if (candidates_.size() < most_candidates && context != worker && !is_own(context) &&
        !is_own(worker) && length >= word && length <= ucx_global::most_address_bytes)
      candidates_.push_back({data.address().value + at, context, worker,
                             value(data, at, ucx_global::next_worker) > 1});
  }

  void take_tables(const ItemBytes& data, std::uint64_t at) {
    const auto most = value(data, at, tables::most);
    const auto count = value(data, at, tables::count);
    const auto first = value(data, at, tables::first);
    const auto all = value(data, at, tables::all);
    if (tables_.size() < most_candidates && count > 0 && count <= most &&
        most <= tables::most_tables && first != all)
      tables_.push_back({first, all});
  }

  /// The objects of MPI_COMM_WORLD, MPI_COMM_SELF: by their handles, which are part of the binary
  /// interface.
  void find_predefined(const ItemBytes& data, std::uint64_t skew, std::uint64_t size) {
    constexpr std::uint64_t world = 0x44000000;
    const std::uint64_t step = found_.communicators.object_bytes;
    for (std::uint64_t at = skew; at + 2 * step <= size; at += word)
      if (value(data, at, object::handle) == world &&
          value(data, at + step, object::handle) == world + 1)
        found_.predefined = data.address().value + at;
  }

  /// Of what looks alike: a worker knows its context, and this job's table stands first among all.
  Result<void> choose() {
    Words words;
    const Field pointer = {0, word};
    constexpr std::uint64_t first_part = 512;
    for (const auto& each : candidates_)
      for (std::uint64_t at = 0; at < first_part; at += word)
        words.want(each.worker, {at, word});
    for (const auto& each : tables_)
      words.want(each.all, pointer);
    if (auto done = words.read(space_); !done)
      return done;
    for (const auto& each : candidates_)
      for (std::uint64_t at = 0; at < first_part && found_.ucx == 0; at += word)
        if (words.get(each.worker, {at, word}) == each.context) {
          found_.ucx = each.address;
          found_.has_more_workers = each.has_more;
        }
    for (const auto& each : tables_)
      if (found_.processes == 0 && words.get(each.all, pointer) == each.first)
        found_.processes = each.first;
    return {};
  }

  struct Candidate {
    std::uint64_t address, context, worker;
    bool has_more;
  };
  struct Tables {
    std::uint64_t first, all;
  };

  AddressSpace space_;
  OwnData found_;
  std::vector<Candidate> candidates_;
  std::vector<Tables> tables_;
};

} // namespace

std::vector<MappedRange> data_of_library(const ImageSet& images) {
  std::vector<MappedRange> all;
  for (const std::string_view name : support().facts().symbols.of_each_process)
    if (const auto symbol = images.find_symbol(name);
        all.empty() && symbol && symbol->image != nullptr && symbol->image->file)
      all = segments_of(*symbol->image);
  std::erase_if(all, [](const MappedRange& range) { return !range.writable; });
  return all;
}

Result<OwnData> find_own_data(std::span<const MappedRange> data, const AddressSpace& space) {
  if (space.platform.pointer_size != word)
    return OwnData();
  return DataSearch(space).run(data);
}

ItemBytes Objects::at(std::size_t index) const {
  return {
      {addresses_[index]}, std::span(bytes_).subspan(index * object_bytes_, object_bytes_), order_};
}

Result<Objects> Objects::read(std::vector<std::uint64_t> addresses, std::uint64_t object_bytes,
                              const AddressSpace& space) {
  Objects objects;
  objects.object_bytes_ = object_bytes;
  objects.order_ = space.platform.byte_order;
  objects.bytes_.resize(addresses.size() * object_bytes);
  std::vector<MemoryRange> ranges;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    ranges.push_back(
        {{addresses[i]}, std::span(objects.bytes_).subspan(i * object_bytes, object_bytes)});
  if (auto done = space.memory.read_ranges(ranges); !done)
    return forward(std::move(done));
  objects.are_all_ = std::ranges::all_of(
      ranges, [](const MemoryRange& range) { return range.read == range.into.size(); });
  objects.addresses_ = std::move(addresses);
  return objects;
}

/// Objects are given out from the beginning of a block on, so that those in use are mostly there:
/// pieces are read until all are found.
Result<Objects> Objects::read(const ObjectPool& pool, ObjectKind kind, const AddressSpace& space) {
  constexpr std::uint64_t least_at_once = 128;
  constexpr std::uint64_t most_bytes_at_once = std::uint64_t{16} << 20;
  constexpr std::uint64_t most_bytes = std::uint64_t{512} << 20;
  const std::uint64_t most_at_once = most_bytes_at_once / pool.object_bytes;
  Objects used;
  used.object_bytes_ = pool.object_bytes;
  used.order_ = space.platform.byte_order;
  Words places;
  const auto place = [](std::uint64_t block) { return Field{block * word, word}; };
  for (std::uint64_t block = 0; block < pool.block_count && pool.in_use > 0; ++block)
    places.want(pool.blocks, place(block));
  if (auto done = places.read(space); !done)
    return forward(std::move(done));
  const std::uint64_t all = pool.direct_count + pool.block_count * pool::objects_of_block;
  for (std::uint64_t next = 0;
       next < all && used.count() < pool.in_use && used.bytes_.size() < most_bytes;) {
    std::vector<std::uint64_t> addresses;
    const auto wanted = std::clamp(pool.in_use - used.count(), least_at_once, most_at_once);
    for (; next < all && addresses.size() < wanted; ++next) {
      const bool direct = next < pool.direct_count;
      const std::uint64_t number = direct ? next : next - pool.direct_count;
      const auto first =
          direct ? pool.direct
                 : places.get(pool.blocks, place(number / pool::objects_of_block)).value_or(0);
      if (may_be_object(first))
        addresses.push_back(first + (direct ? number : number % pool::objects_of_block) *
                                        pool.object_bytes);
    }
    auto objects = read(std::move(addresses), pool.object_bytes, space);
    if (!objects)
      return forward(std::move(objects));
    for (std::size_t i = 0; i < objects->count(); ++i) {
      const ItemBytes each = objects->at(i);
      if (each.value(object::references).value_or(0) == 0 ||
          !is_handle_of(each.value(object::handle).value_or(0), kind))
        continue;
      used.addresses_.push_back(each.address().value);
      const auto bytes =
          std::span(objects->bytes_).subspan(i * pool.object_bytes, pool.object_bytes);
      used.bytes_.insert(used.bytes_.end(), bytes.begin(), bytes.end());
    }
  }
  std::unordered_set<std::uint64_t> different(used.addresses_.begin(), used.addresses_.end());
  used.are_all_ = used.count() == pool.in_use && different.size() == pool.in_use;
  return used;
}

} // namespace mqbridge::mpich
