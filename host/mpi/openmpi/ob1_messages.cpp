#include "host/mpi/openmpi/ob1_messages.h"

#include "host/mpi/openmpi/collective_tags.h"
#include "host/mpi/queue_filler.h"
#include "host/mpi/stray_messages.h"
#include "host/mqs/interpret.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// MCA_PML_OB1_HDR_TYPE_*: MCA_BTL_TAG_PML, which is 0x40, and 1 to 3.
enum class MessageType : std::uint64_t { match = 0x41, rendezvous = 0x42, rendezvous_get = 0x43 };

/// No message is longer than what a process can address: 57 bits on the widest platforms.
constexpr std::uint64_t longest_message = std::uint64_t{1} << 57;

/// Bytes that the program sent; nullopt: it cannot be a message.
std::optional<std::uint64_t> length_of(const ItemBytes& item, const Ob1Layout& layout) {
  const auto type = item.value(layout.type);
  if (!type)
    return std::nullopt;
  switch (static_cast<MessageType>(*type)) {
  case MessageType::rendezvous:
  case MessageType::rendezvous_get:
    return item.value(layout.message_length);
  case MessageType::match:
    break;
  default:
    return std::nullopt;
  }
  const auto segments = item.value(layout.segment_count);
  if (!segments || *segments == 0 || *segments > layout.most_segments)
    return std::nullopt;
  std::uint64_t length = 0;
  Field segment = layout.first_segment_length;
  for (std::uint64_t i = 0; i < *segments; ++i, segment.offset += layout.segment_size) {
    const auto bytes = item.value(segment);
    if (!bytes || *bytes > longest_message)
      return std::nullopt;
    length += *bytes;
  }
  return length < layout.header_bytes ? std::nullopt : std::optional(length - layout.header_bytes);
}

/// Returns the message, or the reason why it cannot be one of this channel.
struct Message {
  std::optional<Operation> operation;
  std::string damage;
};

Message read_message(const ItemBytes& item, const Communicator& communicator,
                     const Channel& channel, const Ob1Layout& layout) {
  const auto damaged = [&](std::string_view why) {
    return Message{std::nullopt, fmt::format("what stands at {:#x} is no message: {}",
                                             item.address().value, why)};
  };
  const auto as_int = [&](const Field& field) {
    return as_target_int(static_cast<std::int64_t>(item.value(field).value_or(0)));
  };
  if (layout.message_class != 0 && item.value(layout.class_of) != layout.message_class)
    return damaged("it is an object of another class");
  if (as_int(layout.source) != channel.peer)
    return damaged(fmt::format("it says that it came from {}", as_int(layout.source)));
  constexpr std::uint64_t context_bits = 0xffff; // hdr_ctx is an uint16_t
  if (item.value(layout.context) != (communicator.id.value & context_bits))
    return damaged("it belongs to another communicator");
  const auto length = length_of(item, layout);
  if (!length || *length > longest_message)
    return damaged("it has no type or no length that a message can have");

  Operation operation;
  operation.source = OpSource::mqbridge;
  operation.kind = OpKind::message;
  operation.peer.local_rank = channel.peer;
  operation.tag.value = as_int(layout.tag);
  operation.collective = collective_of(as_int(layout.tag));
  operation.length.value = static_cast<std::int64_t>(*length);
  const bool eager = static_cast<MessageType>(*item.value(layout.type)) == MessageType::match;
  operation.protocol = eager ? Protocol::eager : Protocol::rendezvous;
  if (const auto sequence = item.value(layout.sequence))
    operation.sequence = static_cast<std::uint32_t>(*sequence);
  return {std::move(operation), {}};
}

/// Messages that came before their turn form nested rings: each message of a ring may have a ring
/// of its own in `range`, which continues at its end (append_frag_to_ordered_list).
class EarlyMessages {
public:
  EarlyMessages(const Communicator& communicator, const Channel& channel, const Ob1Layout& layout,
                const AddressSpace& space)
      : communicator_(communicator), channel_(channel), layout_(layout), space_(space) {}

  /// The messages in the order of their numbers. `damage`: why some are missing.
  Result<std::vector<Operation>> read(std::optional<std::string>& damage) {
    constexpr std::size_t most = 1 << 16; // different sequence numbers
    std::set<std::uint64_t> wanted = {channel_.out_of_order};
    while (!wanted.empty() && !damage && operations_.size() <= most) {
      auto round = read_round(wanted, damage);
      if (!round)
        return forward(std::move(round));
      wanted = std::move(*round);
    }
    if (operations_.size() > most)
      damage = "there are more of them than numbers";
    std::vector<Operation> all;
    all.reserve(operations_.size());
    for (auto& [distance, operation] : operations_)
      all.push_back(std::move(operation));
    return all;
  }

private:
  /// Reads these items; returns the items they point to that have not been read yet.
  Result<std::set<std::uint64_t>> read_round(const std::set<std::uint64_t>& items,
                                             std::optional<std::string>& damage) {
    const std::size_t size = layout_.message_bytes();
    std::vector<std::byte> bytes(size * items.size());
    std::vector<MemoryRange> ranges;
    ranges.reserve(items.size());
    for (const std::uint64_t item : items)
      ranges.push_back({{item}, std::span(bytes).subspan(ranges.size() * size, size)});
    if (auto done = space_.memory.read_ranges(ranges); !done)
      return forward(std::move(done));
    seen_.insert(items.begin(), items.end());
    std::set<std::uint64_t> next;
    for (const MemoryRange& range : ranges) {
      const ItemBytes item(range.address, range.into.first(range.read), space_.platform.byte_order);
      if (range.read < size)
        damage = fmt::format("what stands at {:#x} cannot be read", range.address.value);
      else if (auto message = read_message(item, communicator_, channel_, layout_);
               !message.operation)
        damage = std::move(message.damage);
      else
        take(item, std::move(*message.operation), next);
    }
    return next;
  }

  void take(const ItemBytes& item, Operation operation, std::set<std::uint64_t>& next) {
    for (const Field& link : {layout_.links.next, layout_.range})
      if (const auto to = item.value(link); to.value_or(0) != 0 && !seen_.contains(*to))
        next.insert(*to);
    const auto number = static_cast<std::uint16_t>(operation.sequence.value_or(0));
    const auto distance = static_cast<std::uint16_t>(number - channel_.expected);
    operation.text = {fmt::format("before its turn: message {}, and message {} has not come",
                                  number, channel_.expected)};
    operations_.emplace(distance, std::move(operation));
  }

  const Communicator& communicator_;
  const Channel& channel_;
  const Ob1Layout& layout_;
  AddressSpace space_;
  std::set<std::uint64_t> seen_;
  std::multimap<std::uint16_t, Operation> operations_; ///< by distance from the expected one
};

/// One channel's list of messages, with its channel and communicator.
struct Inbox {
  std::size_t communicator = 0;
  const Channel* channel = nullptr;
  ChunkedList<Operation> messages = {};
};

class Messages {
public:
  Messages(std::vector<Communicator>& communicators, const std::vector<CommunicatorChannels>& found,
           const Ob1Layout& layout, const UnshownRequest& request, const AddressSpace& space)
      : communicators_(communicators), found_(found), layout_(layout), request_(request),
        space_(space) {}

  Result<void> run() {
    open_queues();
    auto done = read_lists();
    if (done)
      done = read_early();
    for (Inbox& inbox : inboxes_)
      for (Operation& message : inbox.messages)
        communicators_[inbox.communicator]
            .queue(OpClass::unexpected)
            .operations.push_back(std::move(message));
    return done;
  }

private:
  /// Opens the queues that the debug DLL does not provide. A queue that it failed at, or that
  /// nobody asked for, stays as it is; so do those of communicators that only the DLL knows.
  void open_queues() {
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
      Queue& queue = communicators_[i].queue(OpClass::unexpected);
      fillers_.emplace_back(communicators_[i], OpClass::unexpected, request_);
      if (queue.state != QueueState::unavailable || !found_[i].has_object)
        continue;
      queue.state = QueueState::available;
      queue.reason = QueueReason::none;
      queue.total = 0;
      if (found_[i].damage)
        fillers_[i].damage(*found_[i].damage);
      for (const Channel& channel : found_[i].channels)
        inboxes_.push_back({i, &channel, {}});
    }
  }

  Result<void> read_lists() {
    std::vector<ItemList> lists;
    for (const Inbox& inbox : inboxes_)
      lists.push_back(inbox.channel->unexpected);
    const TakeItem take = [&](std::size_t i, const ItemBytes& item) -> std::optional<std::string> {
      auto message = read_message(item, communicators_[inboxes_[i].communicator],
                                  *inboxes_[i].channel, layout_);
      if (!message.operation)
        return std::move(message.damage);
      return take_message(inboxes_[i], std::move(*message.operation))
                 ? std::nullopt
                 : std::optional(std::string(no_more));
    };
    auto ends = walk_lists(lists, layout_.links, layout_.message_bytes(), space_, take);
    if (!ends)
      return forward(std::move(ends));
    for (std::size_t i = 0; i < inboxes_.size(); ++i)
      if ((*ends)[i])
        doubt(inboxes_[i], "the list of messages", *(*ends)[i]);
    return {};
  }

  Result<void> read_early() {
    for (Inbox& inbox : inboxes_) {
      if (inbox.channel->out_of_order == 0)
        continue;
      std::optional<std::string> damage;
      EarlyMessages early(communicators_[inbox.communicator], *inbox.channel, layout_, space_);
      auto messages = early.read(damage);
      if (!messages)
        return forward(std::move(messages));
      for (auto& message : *messages)
        if (!take_message(inbox, std::move(message)))
          break;
      if (damage)
        doubt(inbox, "the messages before their turn", *damage);
    }
    return {};
  }

  bool take_message(Inbox& inbox, Operation message) {
    const Admission admission = fillers_[inbox.communicator].admit(message);
    if (admission == Admission::kept)
      inbox.messages.push_back(std::move(message));
    return admission != Admission::full;
  }

  void doubt(const Inbox& inbox, std::string_view what, std::string_view damage) {
    fillers_[inbox.communicator].damage(fmt::format("{} from {} is damaged or being changed: {}",
                                                    what, inbox.channel->peer, damage));
  }

  std::vector<Communicator>& communicators_;
  const std::vector<CommunicatorChannels>& found_;
  const Ob1Layout& layout_;
  const UnshownRequest& request_;
  AddressSpace space_;
  std::vector<QueueFiller> fillers_; ///< by communicator
  std::vector<Inbox> inboxes_;
};

/// The lists that ob1 has beside those of the communicators, in its own object (mca_pml_ob1_t). No
/// pack has that type, but each list in it says what it is. Free lists are passed over: they have
/// lists of their own.
Result<std::vector<ItemList>> lists_of_ob1(const Ob1Layout& layout, const AddressSpace& space) {
  const auto class_at = [&](std::string_view name) {
    const auto symbol = space.images.find_symbol(name);
    return symbol ? symbol->address.value : 0;
  };
  std::vector<ItemList> lists;
  const auto object = space.images.find_symbol("mca_pml_ob1");
  const auto of_list = class_at("opal_list_t_class");
  const auto of_free_list = class_at("opal_free_list_t_class");
  const auto free_list = space.images.find_type("opal_free_list_t");
  if (!object || of_list == 0 || of_free_list == 0 || !free_list || *free_list == nullptr)
    return lists;
  const auto size = std::min(object->size, Fields::max_structure);
  const auto read = Structures::read({object->address}, static_cast<std::size_t>(size), space);
  if (!read)
    return Failure(read.error());
  const auto word = static_cast<std::size_t>(space.platform.pointer_size);
  for (std::uint64_t at = 0; at < size; at += word) {
    const auto what = read->value(0, {at, word}).value_or(0);
    const Field list{at, 1};
    if (what == of_list)
      lists.push_back({object->address.value + at + layout.links.head.offset,
                       read->value(0, layout.links.first(list)).value_or(0),
                       read->value(0, layout.links.last(list)).value_or(0)});
    else if (what == of_free_list)
      at += std::min((*free_list)->size, size) / word * word - word;
  }
  return lists;
}

} // namespace

Result<std::optional<Error>> find_stray_messages(const Ob1Layout& layout,
                                                 const AddressSpace& space) {
  if (layout.message_class == 0) // then nothing tells which of the lists has messages
    return std::nullopt;
  const auto lists = lists_of_ob1(layout, space);
  if (!lists)
    return Failure(lists.error());
  StrayMessages strays;
  const auto as_int = [](const Words::Value& value) {
    return as_target_int(static_cast<std::int64_t>(value.value_or(0)));
  };
  const TakeItem take = [&](std::size_t, const ItemBytes& item) -> std::optional<std::string> {
    if (item.value(layout.class_of) != layout.message_class ||
        !strays.take({item.value(layout.context).value_or(0), as_int(item.value(layout.source)),
                      as_int(item.value(layout.tag))}))
      return std::string(no_more);
    return std::nullopt;
  };
  auto ends = walk_lists(*lists, layout.links, layout.message_bytes(), space, take);
  if (!ends)
    return forward(std::move(ends));
  return strays.warning();
}

Result<void> add_unexpected_messages(std::vector<Communicator>& communicators,
                                     const std::vector<CommunicatorChannels>& found,
                                     const Ob1Layout& layout, const UnshownRequest& request,
                                     const AddressSpace& space) {
  return Messages(communicators, found, layout, request, space).run();
}

} // namespace mqbridge::openmpi
