#include "host/analysis/findings/findings.h"
#include "host/analysis/wait_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace mqbridge {
namespace {

// Most operations that are compared, beside most_processes and most_others.
constexpr std::size_t most_operations = 16; ///< of a call
constexpr std::size_t most_found = 20;

/// One end of a message, as its process shows it: a receive, a send or a message that has come.
struct End {
  std::size_t process = 0;
  OperationAt at;
};

bool same_tag(const Tag& one, const Tag& other) {
  return one.any || other.any || one.value == other.value;
}

bool longer(const Operation& message, const Operation& receive) {
  return message.length.value && receive.length.value &&
         message.length.unit == receive.length.unit &&
         *message.length.value > *receive.length.value;
}

class NearMisses {
public:
  NearMisses(const FindingInput& input, std::vector<Reason>& reasons)
      : input_(input), picture_(input.picture()), reasons_(reasons) {}

  void look_at(std::size_t process) {
    for (const CallWait& call : input_.waits.of(process).calls)
      for (std::size_t i = 0; i < std::min(call.operations.size(), most_operations); ++i) {
        const OperationAt& at = call.operations[i];
        if (at.operation->collective != Collective::none)
          continue;
        if (at.op_class == OpClass::receive)
          look_for_messages({process, at});
        else
          look_for_receives({process, at});
      }
  }

private:
  std::optional<std::size_t> peer_of(const End& end) const {
    const auto partner =
        picture_.partner(end.process, *end.at.seat->communicator, end.at.operation->peer);
    return partner ? partner->process : std::nullopt;
  }

  /// Calls `take` with the program's own operations of one class of a process.
  template <class Take>
  void each(std::size_t process, OpClass op_class, const Take& take) const {
    for (const Seat& seat : picture_.process(process).seats) {
      const auto& operations = seat.communicator->queue(op_class).operations;
      for (std::size_t i = 0; i < std::min(operations.size(), most_others); ++i)
        if (operations[i].collective == Collective::none)
          take(End{process, {&seat, op_class, &operations[i]}});
    }
  }

  /// Compares messages that have come, and sends to it by the awaited process or by anybody.
  void look_for_messages(const End& receive) {
    each(receive.process, OpClass::unexpected,
         [&](const End& message) { compare(receive, message, peer_of(message)); });
    if (const auto sender = peer_of(receive))
      each(*sender, OpClass::send, [&](const End& send) {
        if (send.at.operation->status == OpStatus::pending && peer_of(send) == receive.process)
          compare(receive, send, sender);
      });
  }

  void look_for_receives(const End& send) {
    const auto receiver = peer_of(send);
    if (!receiver || *receiver == send.process)
      return;
    each(*receiver, OpClass::receive, [&](const End& receive) {
      if (receive.at.operation->status == OpStatus::pending)
        compare(receive, send, send.process);
    });
  }

  /// A near miss differs in one thing.
  void compare(const End& receive, const End& message, std::optional<std::size_t> sender) {
    const Operation& wanted = *receive.at.operation;
    const Operation& got = *message.at.operation;
    const bool source = wanted.peer.any || (sender && peer_of(receive) == sender);
    const bool communicator = receive.at.seat->key == message.at.seat->key;
    const bool tag = same_tag(wanted.tag, got.tag);
    if (source && communicator && !tag)
      add(FindingKind::tag_mismatch, receive, message, sender, "same peer and communicator");
    else if (source && !communicator && tag && !wanted.tag.any)
      add(FindingKind::communicator_mismatch, receive, message, sender,
          "same peer and tag, another communicator");
    else if (!source && communicator && tag && !wanted.tag.any)
      add(FindingKind::source_mismatch, receive, message, sender,
          "same tag and communicator, another source");
    else if (source && communicator && tag && longer(got, wanted))
      add(FindingKind::too_long, receive, message, sender, "longer than the receive");
  }

  /// A send that waits, and its message that has come, are one near miss.
  void add(FindingKind kind, const End& receive, const End& message,
           std::optional<std::size_t> sender, std::string_view why) {
    const auto one = std::tuple(kind, receive.process, sender.value_or(receive.process),
                                message.at.seat->key, message.at.operation->tag.value.value_or(-1));
    if (reasons_.size() >= most_found || !found_.insert(one).second)
      return;
    std::vector<std::size_t> processes{receive.process};
    if (sender && *sender != receive.process)
      processes.push_back(*sender);
    std::ranges::sort(processes);
    auto words = fmt::format("{}; {} waits for a message {} ({})", message_words(receive, message),
                             name_of_process(picture_, receive.process),
                             operation_words(picture_, receive.process, receive.at), why);
    reasons_.push_back({make_finding(picture_, kind, processes, words), words});
  }

  std::string message_words(const End& receive, const End& message) const {
    const Operation& operation = *message.at.operation;
    if (message.at.op_class == OpClass::send)
      return fmt::format("{}: {} {} pending", name_of_process(picture_, message.process),
                         operation.call ? *operation.call : "a send",
                         operation_words(picture_, message.process, message.at));
    return fmt::format("{}: a message {} has come, and nobody receives it",
                       name_of_process(picture_, receive.process),
                       operation_words(picture_, receive.process, message.at));
  }

  const FindingInput& input_;
  const JobPicture& picture_;
  std::vector<Reason>& reasons_;
  std::set<std::tuple<FindingKind, std::size_t, std::size_t, std::uint32_t, std::int64_t>> found_;
};

} // namespace

void find_near_misses(const FindingInput& input, std::vector<Reason>& reasons) {
  NearMisses finder(input, reasons);
  std::size_t looked_at = 0;
  for (const auto& core : input.reduction.cores)
    for (const std::size_t process : core)
      if (looked_at++ < most_processes)
        finder.look_at(process);
}

} // namespace mqbridge
