#include "tests/dll/kept_state.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

constexpr std::size_t most_nodes = 1'000'000;

class Reader {
public:
  Reader(Memory& memory, KeptState& state) : memory_(memory), state_(state) {}

  bool read(std::uint64_t address, void* into, std::size_t size) {
    const auto bytes = std::as_writable_bytes(std::span(static_cast<char*>(into), size));
    MemoryRange range{{address}, bytes};
    if (memory_.read_ranges({&range, 1}) && range.read == size)
      return true;
    fault(fmt::format("{} bytes at {:#x} cannot be read", size, address));
    return false;
  }

  void fault(std::string what) { state_.faults.push_back(std::move(what)); }

  /// `take` is given the address and the node. While the generation is odd a count may be one off.
  template <class Node, class Take>
  void read_list(const mqr_list& list, std::uint32_t magic, const char* what, Take take) {
    std::size_t seen = 0;
    for (std::uint64_t at = list.first.word; at != 0; ++seen) {
      Node node;
      if (seen == most_nodes)
        return fault(fmt::format("{}: no end", what));
      if (!read(at, &node, sizeof node))
        return;
      if (node.node.magic != magic)
        return fault(fmt::format("{} at {:#x}: magic {:#x}", what, at, node.node.magic));
      take(at, node);
      at = node.node.next.word;
    }
    const std::size_t slack = state_.updating() ? 1 : 0;
    if (seen > list.count + slack || list.count > seen + slack)
      fault(fmt::format("{}: {} nodes, count {}", what, seen, list.count));
  }

  void read_communicator(std::uint64_t at, const mqr_communicator& raw) {
    auto& of = state_.communicators.emplace_back(at, KeptCommunicator{}).second;
    of.raw = raw;
    for (std::uint32_t queue = 0; queue < MQR_QUEUES; ++queue)
      read_list<mqr_operation>(
          raw.queues[queue], MQR_MAGIC_OPERATION, "operation", [&](auto address, const auto& node) {
            if (node.node.kind != queue || node.status > MQR_COMPLETE)
              fault(fmt::format("operation at {:#x}: kind {}", address, node.node.kind));
            of.queues[queue].emplace_back(address, node);
          });
    read_list<mqr_collective>(raw.under_way, MQR_MAGIC_COLLECTIVE, "collective",
                              [&](auto, const auto& node) { of.under_way.push_back(node); });
    read_channels(of);
    read_returned(of);
    read_topology(of);
    read_attributes(of);
  }

  void read_handles() {
    mqr_handles handles = {};
    const std::uint64_t at = state_.root.handles.word;
    if (at == 0 || !read(at, &handles, sizeof handles))
      return;
    if (handles.magic != MQR_MAGIC_HANDLES || handles.size != sizeof handles)
      return fault(fmt::format("handles at {:#x}: {} bytes", at, handles.size));
    read_list<mqr_errhandler>(handles.errhandlers, MQR_MAGIC_ERRHANDLER, "error handler",
                              [&](auto, const auto& node) { state_.errhandlers.push_back(node); });
    read_list<mqr_unqueued>(handles.unqueued, MQR_MAGIC_UNQUEUED, "request",
                            [&](auto, const auto& node) { state_.unqueued.push_back(node); });
  }

private:
  void read_topology(KeptCommunicator& of) {
    mqr_topology head = {};
    const std::uint64_t at = of.raw.topology.word;
    if (at == 0 || !read(at, &head, sizeof head))
      return;
    if (head.magic != MQR_MAGIC_TOPOLOGY || head.kind != MQR_CARTESIAN || head.first > 8)
      return fault(fmt::format("topology at {:#x}: kind {}", at, head.kind));
    of.topology.resize(2 * head.first);
    read(at + sizeof head, of.topology.data(), of.topology.size() * sizeof(std::int32_t));
  }

  void read_attributes(KeptCommunicator& of) {
    mqr_attributes head = {};
    const std::uint64_t at = of.raw.attributes.word;
    if (at == 0 || !read(at, &head, sizeof head))
      return;
    if (head.magic != MQR_MAGIC_ATTRIBUTES || head.count > MQR_MAX_ATTRIBUTES)
      return fault(fmt::format("attributes at {:#x}: {}", at, head.count));
    of.attributes.resize(head.count);
    read(at + sizeof head, of.attributes.data(), of.attributes.size() * sizeof(mqr_attribute));
  }

  void read_channels(KeptCommunicator& of) {
    mqr_channels head = {};
    const std::uint64_t at = of.raw.channels.word;
    if (at == 0 || !read(at, &head, sizeof head))
      return;
    if (head.magic != MQR_MAGIC_CHANNELS || head.capacity > MQR_MAX_CHANNELS)
      return fault(fmt::format("channels at {:#x}: capacity {}", at, head.capacity));
    std::vector<mqr_channel> entries(head.capacity);
    if (!read(at + sizeof head, entries.data(), entries.size() * sizeof(mqr_channel)))
      return;
    std::erase_if(entries, [](const auto& entry) { return entry.peer == MQR_NO_PEER; });
    const std::size_t slack = state_.updating() ? 1 : 0;
    if (entries.size() > head.count + slack || head.count > entries.size())
      fault(fmt::format("channels: {} entries, count {}", entries.size(), head.count));
    of.channels = std::move(entries);
  }

  void read_returned(KeptCommunicator& of) {
    mqr_returned ring[MQR_RETURNED];
    const std::uint64_t at = of.raw.returned_sends.word;
    if (at == 0 || !read(at, ring, sizeof ring))
      return;
    for (std::uint32_t place = 0; place < MQR_RETURNED; ++place)
      of.returned.push_back(ring[(of.raw.returned + place) % MQR_RETURNED]);
  }

  Memory& memory_;
  KeptState& state_;
};

std::string text_of(const mqr_operation& of) {
  const bool inactive = (of.flags & MQR_INACTIVE) != 0;
  const std::uint32_t status = inactive ? std::uint32_t{MQR_COMPLETE} : of.status;
  auto text =
      fmt::format("    {} flags {:x} peer {} ({}) tag {} length {} buffer {:x} request {:x} "
                  "{} {} {} site {:x} number {}",
                  status, of.flags, of.peer, of.peer_world, of.tag, of.length, of.buffer.word,
                  of.request.word, of.count, of.call, of.datatype, of.site.word, of.number);
  if (of.node.kind != MQR_RECEIVE || (status != MQR_PENDING && !inactive))
    text += fmt::format(" actual {} ({}) {} {}", of.actual_peer, of.actual_peer_world,
                        of.actual_tag, of.actual_length);
  return text + "\n";
}

/// What is not known of a handle says nothing.
std::string handle_text(const KeptCommunicator& of) {
  const auto known = [&](std::uint32_t bit, std::uint64_t value) {
    return (of.raw.known & bit) != 0 ? value : 0;
  };
  auto text =
      fmt::format(" handle {:x} {} errhandler {:x} all {} topology {}:",
                  known(MQR_KNOWN_HANDLE, of.raw.handle.word),
                  known(MQR_KNOWN_FORTRAN, static_cast<std::uint32_t>(of.raw.fortran)),
                  known(MQR_KNOWN_ERRHANDLER, of.raw.errhandler.word),
                  known(MQR_KNOWN_ATTRIBUTES, 1), known(MQR_KNOWN_TOPOLOGY, of.topology.size()));
  for (const auto& attribute : of.attributes)
    text += fmt::format(" {}={}", attribute.keyval, attribute.value);
  return text + "\n";
}

void add_texts(KeptTexts& texts, std::uint64_t at, const KeptCommunicator& of, bool updating) {
  texts.handles += handle_text(of);
  // The flag follows the name.
  const std::uint32_t flags = of.raw.flags & ~(updating ? std::uint32_t{MQR_NAMED} : 0U);
  texts.lists +=
      fmt::format("{:#x} id {} flags {} name {:#x}\n", at, of.raw.id, flags, of.raw.name.word);
  for (const auto& queue : of.queues) {
    texts.lists += "  queue\n";
    for (const auto& operation : queue)
      texts.lists += text_of(operation.second);
  }
  texts.collectives += fmt::format("{:#x}: {}\n", at, of.raw.collectives);
  for (const auto& node : of.under_way)
    texts.collectives += fmt::format("  {} {} {} {:x} {:x}\n", node.function, node.sequence,
                                     node.root, node.request.word, node.site.word);
  std::vector<std::string> entries;
  for (const auto& entry : of.channels)
    if (entry.sent != 0 || entry.received != 0) // one that was just made counts nothing yet
      entries.push_back(
          fmt::format(" {}/{}: {} {}", entry.peer, entry.tag, entry.sent, entry.received));
  std::sort(entries.begin(), entries.end());
  texts.channels += fmt::format("{:#x}:", at);
  for (const auto& entry : entries)
    texts.channels += entry;
  texts.returned += fmt::format("{:#x}: {}", at, of.raw.returned);
  for (std::size_t i = updating ? 1 : 0; i < of.returned.size(); ++i)
    if (const auto& send = of.returned[i]; send.peer != MQR_NO_PEER)
      texts.returned += fmt::format(" [{} {} {} {} {} {:x}]", send.peer, send.tag, send.length,
                                    send.number, send.function, send.site.word);
}

} // namespace

std::size_t waited_by(const KeptState& state, const mqr_thread& thread) {
  std::size_t count = 0;
  for (const auto& [at, of] : state.communicators) {
    for (const auto& queue : of.queues)
      for (const auto& operation : queue)
        count += operation.second.wait == thread.wait;
    for (const auto& node : of.under_way)
      count += node.wait == thread.wait;
  }
  return thread.wait != 0 ? count : 0;
}

KeptState read_kept(Memory& memory, TargetAddress root) {
  KeptState state;
  Reader reader(memory, state);
  if (!reader.read(root.value, &state.root, sizeof state.root))
    return state;
  if (state.root.magic != MQR_MAGIC_ROOT)
    reader.fault("no root");
  reader.read_list<mqr_communicator>(
      state.root.communicators, MQR_MAGIC_COMMUNICATOR, "communicator",
      [&](auto at, const auto& node) { reader.read_communicator(at, node); });
  reader.read_list<mqr_thread>(state.root.threads, MQR_MAGIC_THREAD, "thread",
                               [&](auto, const auto& node) { state.threads.push_back(node); });
  reader.read_handles();
  char library[MQR_LIBRARY_SIZE] = {};
  if (const auto at = state.root.library.word; at != 0 && reader.read(at, library, sizeof library))
    state.library.assign(library, std::find(library, std::end(library), '\0'));
  return state;
}

KeptTexts texts_of(const KeptState& state, bool updating) {
  KeptTexts texts;
  texts.lists = fmt::format("state {} flags {}\n", state.root.state, state.root.flags);
  for (const auto& of : state.threads)
    texts.threads +=
        of.changes % 2 != 0
            ? "changing\n"
            : fmt::format("{} {} {:x} {:x} {} {} {} wait {} ({}) {} {}\n", of.thread, of.function,
                          of.communicator.word, of.site.word, of.has_sequence, of.sequence, of.root,
                          of.wait, waited_by(state, of), of.needed, of.unseen);
  if (state.root.state != MQR_INITIALIZED)
    return texts; // nothing else is to be believed
  for (const auto& [at, communicator] : state.communicators)
    add_texts(texts, at, communicator, updating);
  texts.library = state.library;
  texts.handles += fmt::format("handles {:#x}", state.root.handles.word);
  for (const auto& of : state.errhandlers)
    texts.errhandlers +=
        fmt::format("{:x} {:x} flags {}\n", of.handle.word, of.function.word, of.flags);
  for (const auto& of : state.unqueued)
    texts.unqueued += fmt::format("{:x} on {:x} function {} flags {} fortran {}\n", of.request.word,
                                  of.communicator.word, of.function, of.flags,
                                  (of.flags & MQR_HAS_FORTRAN) != 0 ? of.fortran : 0);
  return texts;
}

} // namespace mqbridge
