#include "host/bridge/guest.h"

#include "host/bridge/requests.h"
#include "rsp/client/features.h"
#include "rsp/packet/file_reply.h"
#include "rsp/packet/gate.h"
#include "rsp/packet/hex.h"

#include <fmt/format.h>
#include <optional>
#include <sys/socket.h>
#include <sys/time.h>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

bool opens_memory(std::string_view packet) {
  return packet.starts_with(open_name) &&
         packet.substr(0, packet.find(',')).ends_with(rsp::encode_hex("/mem"));
}

bool is_about_file(std::string_view packet) {
  return packet.starts_with(close_name) || packet.starts_with("vFile:pread:") ||
         packet.starts_with("vFile:fstat:");
}

/// "5" of "vFile:pread:5,1000,0".
std::string descriptor_of(std::string_view packet) {
  constexpr std::size_t begin = sizeof("vFile:") - 1;
  const auto number = packet.substr(packet.find(':', begin) + 1);
  return std::string(number.substr(0, number.find(',')));
}

/// Who takes no reply for so long holds up the debugger.
rsp::UniqueFd patient(rsp::UniqueFd client) {
  const timeval patience{2, 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  return client;
}

} // namespace

/// What the guest has asked by now, as one burst. An answer of our own takes a round trip, too: by
/// such times a client measures how far away the stub is, and how much it is to read at once.
class Guest::Questions final : public rsp::Burst {
public:
  Questions(Guest& guest, const std::function<bool()>& is_over)
      : guest_(guest), is_over_(is_over) {}

  bool next(std::string& payload) override {
    constexpr std::size_t most_waiting = 256; // what is on its way keeps the debugger waiting
    while (waiting_.size() < most_waiting && !is_over_()) {
      auto input = guest_.client_.take();
      if (!input)
        return false;
      if (input->kind == rsp::Debugger::Input::Kind::closed) {
        guest_.has_left_ = true;
        return false;
      }
      if (input->kind == rsp::Debugger::Input::Kind::interrupt)
        continue;
      auto answer = guest_.own_answer(input->payload);
      payload = answer ? "vMustReplyEmpty" : input->payload;
      waiting_.push_back({std::move(input->payload), std::move(answer)});
      return true;
    }
    return false;
  }

  Result<void> take(std::string_view reply) override {
    const Question asked = std::move(waiting_.front());
    waiting_.pop_front();
    guest_.note(asked.packet, reply);
    guest_.client_.reply(asked.answer.value_or(std::string(reply)));
    return {};
  }

private:
  struct Question {
    std::string packet;
    std::optional<std::string> answer; ///< nullopt: the stub's
  };

  Guest& guest_;
  const std::function<bool()>& is_over_;
  std::deque<Question> waiting_; ///< the oldest first
};

Guest::Guest(rsp::UniqueFd client, rsp::Connection& stub, rsp::Bell& bell, ForGuests facts)
    : stub_(stub), facts_(std::move(facts)), client_(patient(std::move(client)), [&bell, &stub] {
        bell.ring();
        stub.wake();
      }) {}

/// nullopt: the stub's.
std::optional<std::string> Guest::own_answer(std::string_view packet) const {
  static const rsp::Gate gate(rsp::read_only_policy());
  if (!gate.packet(packet))
    return "E.who comes second may only look";
  if (packet.starts_with("qSupported")) // so that it knows that the process stands still anyway
    return facts_.features + (facts_.features.empty() ? "" : ";") + std::string(rsp::held_feature);
  if (packet == "?")
    return facts_.stop;
  if (packet.starts_with("vAttach;"))
    return "E.a debugger holds the process already";
  if (packet.starts_with("D") || packet == "QStartNoAckMode" || packet == "!" ||
      packet.starts_with("QProgramSignals:"))
    return "OK";
  if (facts_.has_breakpoints && opens_memory(packet))
    return "F-1,d"; // EACCES
  if (is_about_file(packet) && !opened_.contains(descriptor_of(packet)))
    return "F-1,9"; // EBADF: it may be the debugger's
  if (const auto range = parse_two_numbers(packet.substr(1));
      (packet.front() == 'm' || packet.front() == 'x') && range &&
      range->second > facts_.packet_size)
    return "E01";
  return std::nullopt;
}

void Guest::note(std::string_view packet, std::string_view reply) {
  has_selected_ = has_selected_ || packet.starts_with("Hg") || packet.starts_with(setfs_name);
  if (packet.starts_with(close_name))
    opened_.erase(std::string(packet.substr(close_name.size())));
  if (const auto opened = rsp::parse_file_reply(reply);
      packet.starts_with(open_name) && opened && opened->result >= 0)
    opened_.insert(fmt::format("{:x}", opened->result));
}

Result<bool> Guest::serve(const std::function<bool()>& is_over) {
  Questions questions(*this, is_over);
  if (auto done = stub_.stream(questions); !done)
    return forward(std::move(done));
  return !has_left_;
}

Result<void> Guest::leave() {
  client_.hang_up();
  std::vector<std::string> packets;
  for (const std::string& descriptor : opened_)
    packets.push_back(std::string(close_name) + descriptor);
  if (has_selected_) {
    packets.push_back(std::string(setfs_name) + facts_.root);
    if (!facts_.selection.empty())
      packets.push_back(facts_.selection);
  }
  opened_.clear();
  has_selected_ = false;
  const auto restored = stub_.burst(packets);
  return restored ? Result<void>() : Failure(restored.error());
}

} // namespace mqbridge
