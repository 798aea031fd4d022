#include "host/bridge/guest.h"

#include "host/bridge/requests.h"
#include "rsp/packet/file_reply.h"
#include "rsp/packet/gate.h"
#include "rsp/packet/hex.h"

#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

bool opens_memory(std::string_view packet) {
  return packet.starts_with(open_name) &&
         packet.substr(0, packet.find(',')).ends_with(rsp::encode_hex("/mem"));
}

} // namespace

/// What the guest has asked by now, as one burst. Answers of our own wait for their turn.
class Guest::Questions final : public rsp::Burst {
public:
  explicit Questions(Guest& guest) : guest_(guest) {}

  bool next(std::string& payload) override {
    for (;;) {
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
      waiting_.push_back({input->payload, std::move(answer)});
      answer_own();
      if (waiting_.empty() || waiting_.back().answer)
        continue;
      payload = std::move(input->payload);
      return true;
    }
  }

  Result<void> take(std::string_view reply) override {
    const Question asked = std::move(waiting_.front());
    waiting_.pop_front();
    guest_.note(asked.packet, reply);
    guest_.client_.reply(reply);
    answer_own();
    return {};
  }

private:
  struct Question {
    std::string packet;
    std::optional<std::string> answer; ///< nullopt: the stub's
  };

  void answer_own() {
    for (; !waiting_.empty() && waiting_.front().answer; waiting_.pop_front())
      guest_.client_.reply(*waiting_.front().answer);
  }

  Guest& guest_;
  std::deque<Question> waiting_; ///< the oldest first
};

/// nullopt: the stub is asked.
std::optional<std::string> Guest::own_answer(std::string_view packet) const {
  static const rsp::Gate gate(rsp::read_only_policy());
  if (!gate.packet(packet))
    return "E.who comes second may only look";
  if (packet.starts_with("qSupported"))
    return facts_.features;
  if (packet == "?")
    return facts_.stop;
  if (packet.starts_with("vAttach;"))
    return "E.a debugger holds the process already";
  if (packet.starts_with("D") || packet == "QStartNoAckMode" || packet == "!" ||
      packet.starts_with("QProgramSignals:"))
    return "OK";
  if (facts_.has_breakpoints && opens_memory(packet))
    return "F-1,d"; // EACCES
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

Result<bool> Guest::serve() {
  Questions questions(*this);
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
