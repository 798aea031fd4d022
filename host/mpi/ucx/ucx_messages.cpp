#include "host/mpi/ucx/ucx_messages.h"

#include <fmt/format.h>

namespace mqbridge::ucx {
namespace {

/// ucp_recv_desc_t (src/ucp/core/ucp_request.h) as its link in the list of all messages sees it,
/// and the header that follows: its tag first, then what its kind needs (src/ucp/tag/eager.h,
/// src/ucp/rndv/rndv.h).
namespace descriptor {
constexpr Field previous = {0, word};
constexpr Field next = {8, word};
constexpr Field bytes_come = {16, 4}; ///< of this piece, with the header
constexpr Field payload_at = {20, 4}; ///< behind the header's beginning
constexpr Field flags = {24, 2};
constexpr Field tag = {32, word};
constexpr Field length_of_pieces = {40, word}; ///< of a message in several pieces
constexpr Field length_at_sender = {64, word}; ///< of a rendezvous
constexpr std::size_t bytes = 72;
} // namespace descriptor

/// UCP_RECV_DESC_FLAG_*.
enum MessageFlag : std::uint64_t {
  eager = 1U << 1,
  one_piece = 1U << 2,
  by_card = 1U << 4,
  rendezvous = 1U << 6,
};

/// No message is longer than what a process can address: 57 bits on the widest platforms.
constexpr std::uint64_t longest = std::uint64_t{1} << 57;

/// nullopt: it cannot be a message.
std::optional<Message> message_of(const ItemBytes& item) {
  const auto flags = item.value(descriptor::flags).value_or(0);
  const auto come = item.value(descriptor::bytes_come).value_or(0);
  const auto payload = item.value(descriptor::payload_at).value_or(0);
  Message message;
  message.tag = item.value(descriptor::tag).value_or(0);
  message.rendezvous = (flags & rendezvous) != 0;
  const bool is_eager = (flags & eager) != 0;
  if (message.rendezvous == is_eager || (flags & by_card) != 0)
    return std::nullopt;
  if (message.rendezvous)
    message.length = item.value(descriptor::length_at_sender).value_or(longest);
  else if (payload > come || payload < word)
    return std::nullopt;
  else
    message.length = (flags & one_piece) != 0
                         ? come - payload
                         : item.value(descriptor::length_of_pieces).value_or(longest);
  return message.length < longest ? std::optional(message) : std::nullopt;
}

} // namespace

Result<Messages> read_messages(const Worker& worker, std::uint64_t most,
                               const AddressSpace& space) {
  Messages found;
  const ListLinks links = {{0, word}, descriptor::next, descriptor::previous};
  const TakeItem take = [&](std::size_t, const ItemBytes& item) -> std::optional<std::string> {
    if (found.all.size() == most)
      return fmt::format("there are more than {} of them", most);
    const auto message = message_of(item);
    if (!message)
      return fmt::format("what stands at {:#x} is no message of UCX", item.address().value);
    found.all.push_back(*message);
    return std::nullopt;
  };
  auto ends = walk_lists({&worker.unexpected, 1}, links, descriptor::bytes, space, take);
  if (!ends)
    return forward(std::move(ends));
  found.damage = std::move(ends->front());
  return found;
}

} // namespace mqbridge::ucx
