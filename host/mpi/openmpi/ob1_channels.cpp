#include "host/mpi/openmpi/ob1_channels.h"

#include "host/memory/reader.h"
#include "host/mqs/wire.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge::openmpi {
namespace {

constexpr std::int64_t modulus = 1 << 16; ///< hdr_seq is an uint16_t
/// OMPI_COMM_ASSERT_ALLOW_OVERTAKE, ompi/communicator/communicator.h
constexpr std::uint64_t allow_overtake = 0x8;

std::int64_t counted(std::uint64_t number) {
  return static_cast<std::int64_t>(number % static_cast<std::uint64_t>(modulus));
}

/// The number of a communicator's peers, by its own object, or else by the debug DLL. nullopt: not
/// known.
std::optional<std::int64_t> peer_count(const Communicator& communicator) {
  const bool inter = communicator.kind == CommunicatorKind::inter;
  const auto& ranks = inter ? communicator.remote.ranks : communicator.group;
  const auto& members = inter ? communicator.remote.members : communicator.members;
  if (ranks || !members.empty())
    return static_cast<std::int64_t>(ranks ? ranks->size() : members.size());
  return inter ? std::nullopt : std::optional(communicator.size);
}

/// An object of ob1, with the communicator and the peer that it belongs to.
struct ProcessObject {
  std::size_t communicator = 0;
  std::int64_t peer = 0;
  TargetAddress address;
};

/// A table of addresses, by rank of the peer.
struct PeerTable {
  std::size_t communicator = 0;
  std::int64_t peers = 0;
  TargetAddress address;
};

class ChannelReader {
public:
  ChannelReader(std::vector<Communicator>& communicators, const Ob1Layout& layout,
                const AddressSpace& space)
      : communicators_(communicators), layout_(layout), space_(space),
        found_(communicators.size()) {}

  Result<std::vector<CommunicatorChannels>> run(const std::vector<Words::Value>& objects) {
    if (auto done = find_ob1_objects(objects); !done)
      return forward(std::move(done));
    if (auto done = read_communicators(); !done)
      return forward(std::move(done));
    if (auto done = read_tables(); !done)
      return forward(std::move(done));
    if (auto done = read_processes(); !done)
      return forward(std::move(done));
    return std::move(found_);
  }

private:
  /// Finds the object of ob1 that each communicator has.
  Result<void> find_ob1_objects(const std::vector<Words::Value>& objects) {
    Words words;
    for (const auto& object : objects) {
      words.want(object, layout_.channels);
      words.want(object, layout_.assertions);
    }
    if (auto done = words.read(space_); !done)
      return done;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const auto ob1 = words.get(objects[i], layout_.channels);
      found_[i].has_object = objects[i].has_value();
      if (objects[i] && !ob1)
        found_[i].damage = "its object cannot be read";
      else if (ob1.value_or(0) != 0)
        ob1_objects_.push_back({i, 0, {*ob1}});
      overtaking_.push_back(
          (words.get(objects[i], layout_.assertions).value_or(0) & allow_overtake) != 0);
    }
    // One that is just being made may have none; MPI_COMM_WORLD is among them.
    if (ob1_objects_.empty())
      for (CommunicatorChannels& channels : found_)
        if (channels.has_object && !channels.damage)
          channels.damage = "ob1 has no object of any communicator";
    return {};
  }

  Result<void> read_communicators() {
    auto read = read_objects(ob1_objects_, layout_.communicator_bytes());
    if (!read)
      return forward(std::move(read));
    std::int64_t left = wire::max_group_total;
    for (std::size_t n = 0; n < ob1_objects_.size(); ++n) {
      const auto [i, unused, address] = ob1_objects_[n];
      const auto value = [&, at = n](const Field& field) { return read->value(at, field); };
      const auto table = value(layout_.processes);
      const auto count = value(layout_.process_count);
      const auto posted = value(layout_.posted);
      const auto expected = peer_count(communicators_[i]);
      if (!table || !count || !posted ||
          !is_of(value(layout_.class_of), layout_.communicator_class))
        found_[i].damage = fmt::format("what ob1 keeps of it is not at {:#x}", address.value);
      else if (expected ? std::cmp_not_equal(*count, *expected)
                        : std::cmp_greater(*count, wire::max_group_size))
        found_[i].damage =
            fmt::format("ob1 has {} peers there, and the communicator has {}", *count,
                        expected ? fmt::to_string(*expected) : "not so many");
      else if (std::cmp_greater(*count, left))
        found_[i].damage = "with it there are more peers than can be looked at";
      if (found_[i].damage)
        continue;
      left -= static_cast<std::int64_t>(*count);
      found_[i].wild_receives = list_at(address, *read, n, layout_.wild_receives);
      if (!overtaking_[i])
        communicators_[i].counters = MessageCounters{modulus, counted(*posted), {}};
      tables_.push_back({i, static_cast<std::int64_t>(*count), {*table}});
    }
    return {};
  }

  /// Finds ob1's process objects: some peers have none.
  Result<void> read_tables() {
    const auto pointer = static_cast<std::size_t>(space_.platform.pointer_size);
    std::vector<std::vector<std::byte>> bytes;
    std::vector<MemoryRange> ranges;
    for (const auto& [i, count, address] : tables_)
      bytes.emplace_back(static_cast<std::size_t>(count) * pointer);
    for (std::size_t n = 0; n < tables_.size(); ++n)
      ranges.push_back({tables_[n].address, bytes[n]});
    if (auto done = space_.memory.read_ranges(ranges); !done)
      return done;
    for (std::size_t n = 0; n < tables_.size(); ++n) {
      const auto [i, count, address] = tables_[n];
      if (ranges[n].read < bytes[n].size()) {
        doubt(i, fmt::format("the table of its peers at {:#x} cannot be read", address.value));
        continue;
      }
      for (std::int64_t peer = 0; peer < count; ++peer) {
        const auto at = static_cast<std::size_t>(peer) * pointer;
        const auto word =
            decode_unsigned(std::span(bytes[n]).subspan(at, pointer), space_.platform.byte_order);
        if (word != 0)
          processes_.push_back({i, peer, {word}});
      }
    }
    return {};
  }

  Result<void> read_processes() {
    const std::size_t at_once = Structures::at_once(layout_.process_bytes());
    for (std::size_t from = 0; from < processes_.size(); from += at_once) {
      const auto some =
          std::span(processes_).subspan(from, std::min(at_once, processes_.size() - from));
      auto read = read_objects(some, layout_.process_bytes());
      if (!read)
        return forward(std::move(read));
      for (std::size_t n = 0; n < some.size(); ++n)
        take_process(some[n], *read, n);
    }
    return {};
  }

  void take_process(const ProcessObject& process, const Structures& read, std::size_t n) {
    CommunicatorChannels& of = found_[process.communicator];
    const auto value = [&](const Field& field) { return read.value(n, field); };
    const auto sent = value(layout_.sent);
    const auto expected = value(layout_.expected);
    const auto out_of_order = value(layout_.out_of_order);
    if (!sent || !expected || !out_of_order ||
        !is_of(value(layout_.class_of), layout_.process_class)) {
      doubt(process.communicator, fmt::format("what ob1 keeps of its peer {} is not at {:#x}",
                                              process.peer, process.address.value));
      return;
    }
    of.channels.push_back({process.peer, *expected, *out_of_order,
                           list_at(process.address, read, n, layout_.specific_receives),
                           list_at(process.address, read, n, layout_.unexpected)});
    // The first message of a channel has the number 1.
    if (auto& counters = communicators_[process.communicator].counters)
      counters->peers.push_back({process.peer, counted(*sent),
                                 counted(*expected + static_cast<std::uint64_t>(modulus) - 1)});
  }

  Result<Structures> read_objects(std::span<const ProcessObject> objects, std::size_t size) const {
    std::vector<TargetAddress> addresses;
    for (const auto& object : objects)
      addresses.push_back(object.address);
    return Structures::read(addresses, size, space_);
  }

  /// Whether an object has the expected class. If the plugin's file does not tell the class's
  /// address, there is nothing to compare.
  static bool is_of(const Words::Value& said, std::uint64_t expected) {
    return expected == 0 || said == expected;
  }

  ItemList list_at(TargetAddress object, const Structures& read, std::size_t n, Field list) const {
    return {object.value + list.offset + layout_.links.head.offset,
            read.value(n, layout_.links.first(list)).value_or(0),
            read.value(n, layout_.links.last(list)).value_or(0),
            read.value(n, layout_.links.length_of(list)).value_or(0)};
  }

  void doubt(std::size_t communicator, std::string damage) {
    if (!found_[communicator].damage)
      found_[communicator].damage = std::move(damage);
    communicators_[communicator].counters.reset();
  }

  std::vector<Communicator>& communicators_;
  const Ob1Layout& layout_;
  AddressSpace space_;
  std::vector<CommunicatorChannels> found_;
  std::vector<bool> overtaking_;           ///< by communicator
  std::vector<ProcessObject> ob1_objects_; ///< mca_pml_ob1_comm_t
  std::vector<PeerTable> tables_;          ///< of processes
  std::vector<ProcessObject> processes_;   ///< mca_pml_ob1_comm_proc_t
};

} // namespace

Result<std::vector<CommunicatorChannels>> read_channels(std::vector<Communicator>& communicators,
                                                        const std::vector<Words::Value>& objects,
                                                        const Ob1Layout& layout,
                                                        const AddressSpace& space) {
  return ChannelReader(communicators, layout, space).run(objects);
}

} // namespace mqbridge::openmpi
