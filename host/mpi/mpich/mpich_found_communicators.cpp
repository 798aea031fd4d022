#include "host/mpi/mpich/mpich_found_communicators.h"

#include "host/codes.h"
#include "host/memory/reader.h"
#include "host/mpi/mpich/collective_tags.h"
#include "host/mpi/preload/recorder_files.h"
#include "host/mqs/wire.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace mqbridge::mpich {
namespace {

/// MPIR_Comm (include/mpir_comm.h) in front of its name and behind it, the same in 4.0 to 4.3.
constexpr std::uint64_t name_bytes = 128;
namespace before_name {
constexpr std::uint64_t context = 52;
constexpr std::uint64_t receive_context = 50;
constexpr std::uint64_t remote_size = 48;
constexpr std::uint64_t rank = 44;
constexpr std::uint64_t local_size = 28;
constexpr std::uint64_t kind = 4;
} // namespace before_name

/// MPIDI_rank_map_t (src/mpid/ch4/include/mpidpre.h): which processes the ranks are. A communicator
/// has two: of the peers, and behind it of its own side, which an intracommunicator leaves empty.
namespace map {
constexpr Field mode = {0, 4};
constexpr Field job = {4, 4}; ///< 0: this one
constexpr Field size = {8, 4};
constexpr Field offset = {12, 4};
constexpr Field stride = {16, 4};
constexpr Field block = {20, 4};
constexpr Field table = {32, 8};
constexpr std::uint64_t bytes = 40;
enum Mode : std::uint64_t {
  direct,
  direct_intra,
  by_offset,
  by_offset_intra,
  by_stride,
  by_stride_intra,
  by_block,
  by_block_intra,
  by_table,
  by_table_intra,
  by_table_of_jobs,
  none,
};
} // namespace map

/// MPI_COMM_WORLD, MPI_COMM_SELF
constexpr std::size_t predefined_count = 2;

class Finding {
public:
  Finding(const OwnData& data, const AddressSpace& space) : data_(data), space_(space) {}

  Result<std::vector<FoundCommunicator>> run() {
    if (data_.communicators.object_bytes == 0 || data_.predefined == 0)
      return unreadable("its data has not the form that is known", preload::rerun_line);
    auto predefined =
        Objects::read({data_.predefined, data_.predefined + data_.communicators.object_bytes},
                      data_.communicators.object_bytes, space_);
    if (!predefined)
      return forward(std::move(predefined));
    auto others = Objects::read(data_.communicators, ObjectKind::communicator, space_);
    if (!others)
      return forward(std::move(others));
    if (!others->are_all())
      return unreadable("their pool was just being changed, or is damaged", "dump again");
    for (const Objects* objects : {&*predefined, &*others})
      for (std::size_t i = 0; i < objects->count(); ++i)
        if (objects->at(i).value(object::references).value_or(0) != 0)
          objects_.push_back(objects->at(i));
    if (!find_name())
      return unreadable("the predefined ones have no name that is known", preload::rerun_line);
    std::vector<FoundCommunicator> found;
    std::set<std::uint64_t> contexts;
    std::erase_if(objects_, [&](const ItemBytes& each) {
      auto one = identify(each);
      const bool is_made = is_plausible(one) && contexts.insert(one.receive_context).second;
      if (is_made)
        found.push_back(std::move(one));
      return !is_made;
    });
    if (found.empty() || found.front().context != 0 || found.front().receive_context != 0)
      return unreadable("MPI_COMM_WORLD is none that MPICH makes", preload::rerun_line);
    find_map(found);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (auto done = find_group(objects_[i], found[i]); !done)
        return forward(std::move(done));
    return found;
  }

private:
  static Failure unreadable(std::string_view why, std::string_view hint) {
    return fail(codes::walk_unreadable,
                fmt::format("MPICH's communicators were not found: {}", why), std::string(hint));
  }

  static std::uint64_t value(const ItemBytes& object, std::uint64_t at, std::size_t size = 4) {
    return object.value({at, size}).value_or(0);
  }

  static bool has_name(const ItemBytes& object, std::uint64_t at, std::string_view name) {
    for (std::size_t i = 0; i <= name.size(); ++i)
      if (value(object, at + i, 1) != (i < name.size() ? static_cast<std::uint8_t>(name[i]) : 0U))
        return false;
    return true;
  }

  /// Where a name stands in an object: by the predefined ones, of which the program may have
  /// renamed one.
  bool find_name() {
    constexpr std::array<std::string_view, 2> names = {"MPI_COMM_WORLD", "MPI_COMM_SELF"};
    for (std::size_t i = 0; i < std::min(names.size(), objects_.size()); ++i)
      for (std::uint64_t at = before_name::context;
           at + name_bytes <= data_.communicators.object_bytes; at += 4)
        if (has_name(objects_[i], at, names[i])) {
          name_ = at;
          return true;
        }
    return false;
  }

  FoundCommunicator identify(const ItemBytes& object) const {
    FoundCommunicator found;
    found.context = value(object, name_ - before_name::context, 2);
    found.receive_context = value(object, name_ - before_name::receive_context, 2);
    found.is_part = (found.receive_context & (context::node | context::roots)) != 0;
    Communicator& shown = found.communicator;
    shown.internal = (found.receive_context & context::own_side) != 0;
    shown.id = object.address();
    const auto rank = value(object, name_ - before_name::rank);
    shown.local_rank = static_cast<std::int64_t>(rank);
    shown.size = static_cast<std::int64_t>(value(object, name_ - before_name::local_size));
    const auto kind = value(object, name_ - before_name::kind);
    shown.kind = kind == 0   ? CommunicatorKind::intra
                 : kind == 1 ? CommunicatorKind::inter
                             : CommunicatorKind::unknown;
    for (std::uint64_t i = 0; i < name_bytes; ++i) {
      const auto letter = static_cast<char>(value(object, name_ + i, 1));
      if (letter == '\0')
        break;
      shown.name += letter;
    }
    const auto [low, high] = std::minmax(found.context, found.receive_context);
    shown.context = low << 32 | high;
    shown.named_by_mpi = shown.name.empty() || has_predefined_name(found);
    return found;
  }

  static bool has_predefined_name(const FoundCommunicator& found) {
    constexpr std::uint64_t self_context = 1 << 4;
    const Communicator& shown = found.communicator;
    if (shown.kind == CommunicatorKind::inter)
      return shown.name == "MPI_COMM_PARENT";
    return (found.context == 0 && shown.name == "MPI_COMM_WORLD") ||
           (found.context == self_context && shown.name == "MPI_COMM_SELF");
  }

  /// One that is just being made has no ranks, or no context of its own as yet.
  static bool is_plausible(const FoundCommunicator& found) {
    const Communicator& shown = found.communicator;
    constexpr std::uint64_t not_agreed = 0x7fff; // and 0xffff: MPIR_INVALID_CONTEXT_ID
    return (found.receive_context & not_agreed) != not_agreed &&
           shown.kind != CommunicatorKind::unknown && shown.size >= 1 &&
           shown.size <= wire::max_group_size && *shown.local_rank < shown.size;
  }

  /// Whether bytes of the object may be its two maps.
  bool may_be_map(const ItemBytes& object, const Communicator& shown, std::uint64_t at) const {
    const auto mode = value(object, at + map::mode.offset);
    const auto own_mode = value(object, at + map::bytes + map::mode.offset);
    const auto size = value(object, at + map::size.offset);
    const bool inter = shown.kind == CommunicatorKind::inter;
    const auto peers = inter ? value(object, name_ - before_name::remote_size)
                             : static_cast<std::uint64_t>(shown.size);
    return mode < map::none && size == peers &&
           (inter
                ? own_mode < map::none &&
                      std::cmp_equal(value(object, at + map::bytes + map::size.offset), shown.size)
                : own_mode == map::none);
  }

  /// The place that has a map in the predefined ones, and in the most of all; two places are none.
  void find_map(const std::vector<FoundCommunicator>& found) {
    std::size_t best = 0;
    for (std::uint64_t at = (name_ + name_bytes + word - 1) / word * word;
         at + 2 * map::bytes <= data_.communicators.object_bytes; at += word) {
      std::size_t fitting = 0;
      for (std::size_t i = 0; i < objects_.size(); ++i)
        if (may_be_map(objects_[i], found[i].communicator, at))
          ++fitting;
        else if (i < predefined_count)
          break;
      if (fitting < std::min(predefined_count, objects_.size()) || fitting < best)
        continue;
      map_ = fitting == best ? 0 : at;
      best = fitting;
    }
  }

  Result<void> find_group(const ItemBytes& object, FoundCommunicator& found) {
    Communicator& shown = found.communicator;
    if (map_ == 0 || !may_be_map(object, shown, map_))
      return {};
    const bool inter = shown.kind == CommunicatorKind::inter;
    auto own = ranks_of(object, inter ? map_ + map::bytes : map_);
    if (!own)
      return forward(std::move(own));
    shown.group = std::move(*own);
    if (!inter)
      return {};
    auto peers = ranks_of(object, map_);
    if (!peers)
      return forward(std::move(peers));
    shown.remote.ranks = std::move(*peers);
    return {};
  }

  /// The ranks in this job's MPI_COMM_WORLD.
  Result<RankList> ranks_of(const ItemBytes& object, std::uint64_t at) {
    const auto number = [&](const Field& field) {
      return object.value({at + field.offset, field.size}).value_or(0);
    };
    const auto signed_number = [&](const Field& field) {
      return static_cast<std::int64_t>(static_cast<std::int32_t>(number(field)));
    };
    const std::uint64_t mode = number(map::mode);
    const std::uint64_t size = number(map::size);
    const bool intra = (mode & 1) != 0; // then the job is not stated
    if ((!intra && number(map::job) != 0) || size > members_left_)
      return RankList();
    members_left_ -= size;
    if (mode == map::by_table || mode == map::by_table_intra)
      return read_table(number(map::table), size);
    if (mode >= map::by_table_of_jobs)
      return RankList();
    const std::int64_t block = signed_number(map::block);
    if ((mode == map::by_block || mode == map::by_block_intra) && block < 1)
      return RankList();
    std::vector<std::int64_t> ranks(size);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto rank = static_cast<std::int64_t>(i);
      switch (mode) {
      case map::by_offset:
      case map::by_offset_intra:
        ranks[i] = rank + signed_number(map::offset);
        break;
      case map::by_stride:
      case map::by_stride_intra:
        ranks[i] = rank * signed_number(map::stride) + signed_number(map::offset);
        break;
      case map::by_block:
      case map::by_block_intra:
        ranks[i] =
            rank / block * (signed_number(map::stride) - block) + rank + signed_number(map::offset);
        break;
      default:
        ranks[i] = rank;
      }
    }
    return plausible(std::move(ranks));
  }

  static RankList plausible(std::vector<std::int64_t> ranks) {
    const bool fits = std::ranges::all_of(
        ranks, [](std::int64_t rank) { return rank >= 0 && rank < wire::max_group_size; });
    return fits ? RankList(std::move(ranks)) : RankList();
  }

  Result<RankList> read_table(std::uint64_t address, std::uint64_t size) const {
    constexpr std::size_t entry = 4;
    std::vector<std::byte> bytes(size * entry);
    auto read = space_.memory.read({address}, bytes);
    if (!read)
      return forward(std::move(read));
    if (*read < bytes.size())
      return RankList();
    std::vector<std::int64_t> ranks;
    for (std::size_t i = 0; i < size; ++i)
      ranks.push_back(
          decode_signed(std::span(bytes).subspan(i * entry, entry), space_.platform.byte_order));
    return plausible(std::move(ranks));
  }

  const OwnData& data_;
  AddressSpace space_;
  std::vector<ItemBytes> objects_;
  std::uint64_t name_ = 0, map_ = 0; ///< where they are in an object
  std::size_t members_left_ = wire::max_group_total;
};

} // namespace

Result<std::vector<FoundCommunicator>> find_communicators(const OwnData& data,
                                                          const AddressSpace& space) {
  return Finding(data, space).run();
}

} // namespace mqbridge::mpich
