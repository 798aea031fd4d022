#include "rsp/client/negotiation.h"

#include "rsp/client/quirks.h"
#include "rsp/codes.h"
#include "rsp/exchange/burst.h"
#include "rsp/exchange/step_marker.h"
#include "rsp/limits.h"
#include "rsp/packet/another_protocol.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

constexpr std::string_view hello = "qSupported:multiprocess+";
constexpr std::string_view no_ack_request = "QStartNoAckMode";

std::size_t packet_size(std::string_view text, const Quirks& quirks) {
  std::size_t size = 0;
  const int base = quirks.decimal_packet_size ? 10 : 16;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (error == std::errc::result_out_of_range)
    return limits::packet_size;
  if (error != std::errc() || end != text.data() + text.size() || size < limits::least_packet_size)
    return Features{}.packet_size;
  return std::min(size, limits::packet_size);
}

struct AnnouncedFeature {
  std::string_view name;
  bool Features::*flag;
};

constexpr AnnouncedFeature announced_features[] = {
    {"MultiMemRead+", &Features::multi_mem_read},
    {"multiprocess+", &Features::multiprocess},
    {held_feature, &Features::held},
    {"QStartNoAckMode+", &Features::no_ack},
    {"qXfer:auxv:read+", &Features::qxfer_auxv},
    {"qXfer:exec-file:read+", &Features::qxfer_exec_file},
    {"qXfer:features:read+", &Features::qxfer_features},
    {"qXfer:libraries-svr4:read+", &Features::qxfer_libraries_svr4},
    {"qXfer:osdata:read+", &Features::qxfer_osdata},
    {"qXfer:threads:read+", &Features::qxfer_threads},
};

/// Whether an error before the first packet means that there is no stub, rather than that a stub
/// broke off.
bool never_spoke_rsp(const Connection& connection, std::string_view code) {
  const auto& heard = connection.heard();
  if (heard.packet || codes::given_up_by_us(code))
    return false;
  if (!heard.garbage.empty() || code == codes::stub_garbage)
    return true;
  return code == codes::stub_timeout && !heard.ack;
}

std::string not_a_stub_hint(std::string_view garbage) {
  if (garbage.empty())
    return "is another debugger connected to this stub, does its target run, or is it no GDB stub "
           "at all? On the node: gdbserver --once --attach :PORT PID";
  const auto speaks = another_protocol(garbage);
  if (speaks == "TLS")
    return "a stub behind TLS is reached through a client of it: 'exec:openssl s_client -quiet "
           "-connect HOST:PORT'";
  if (speaks == "SSH")
    return "through ssh a stub is started on the node: 'exec:ssh -T HOST gdbserver --once --attach "
           "- PID'";
  return "another service listens there: check host and port. On the node: gdbserver --once "
         "--attach :PORT PID";
}

Error not_a_stub(const Connection& connection, Error error) {
  const auto& garbage = connection.heard().garbage;
  const auto speaks = another_protocol(garbage);
  if (garbage.empty())
    error.message += "; it has never said anything: no GDB stub, or one that is busy";
  else if (speaks.empty())
    error.message += fmt::format("; it said '{}': no GDB stub", shorten(garbage));
  else
    error.message += fmt::format("; it speaks {}: no GDB stub", speaks);
  return {codes::stub_not_a_stub, std::move(error.message), not_a_stub_hint(garbage)};
}

Result<std::string> first_exchange(Connection& connection) {
  connection.greet();
  auto reply = connection.request(hello);
  if (!reply && never_spoke_rsp(connection, reply.error().code))
    return Failure(not_a_stub(connection, reply.error()));
  if (reply && *reply == hello)
    return fail(codes::stub_not_a_stub, "the other side only echoes what it is sent: no GDB stub",
                "check host and port; on the node: gdbserver --once --attach :PORT PID");
  return reply;
}

/// GDB answers `b`, LLDB `OK`, others nothing or an error.
BinaryRead binary_read_of(std::string_view reply) {
  if (reply == "b")
    return BinaryRead::gdb;
  return reply == "OK" ? BinaryRead::lldb : BinaryRead::none;
}

/// The questions of `probes` from the `from`th on, one by one, until one is not answered.
Result<void> ask_in_turn(Connection& connection, const std::vector<std::string>& probes,
                         std::size_t from, std::vector<std::string>& answers) {
  for (std::size_t i = from; i < probes.size(); ++i) {
    auto answer = connection.request(probes[i]);
    if (!answer)
      return forward(std::move(answer));
    answers.push_back(std::move(*answer));
    if (answers.back().empty())
      break;
  }
  return {};
}

/// Questions about features that qSupported does not announce. A stub that does not know them takes
/// no harm, since none begins like a packet that writes. In ack mode `x` is not asked for: no stub
/// is known that has it there.
struct Probes {
  explicit Probes(const Features& features) : with_binary_read(features.no_ack) {
    questions.emplace_back("vFile:setfs:0");
    if (with_binary_read)
      questions.emplace_back("x0,0");
    asked_of_all = questions.size();
    for (auto& identity : identity_probes(features.kind))
      questions.push_back(std::move(identity));
  }

  void take(std::span<const std::string> replies, Features& features) const {
    features.vfile = replies.front().starts_with('F');
    if (with_binary_read && features.binary_read == BinaryRead::none)
      features.binary_read = binary_read_of(replies[1]);
    identify_by_answers(features, replies.subspan(asked_of_all));
  }

  std::vector<std::string> questions;
  std::size_t asked_of_all = 0; ///< the first ones
  bool with_binary_read;
};

/// In ack mode every probe costs a round trip, so the probes end at the first unknown one.
Result<void> probe(Connection& connection, Features& features) {
  const Probes probes(features);
  const std::size_t at_once = features.no_ack ? probes.questions.size() : probes.asked_of_all;
  auto replies = connection.burst(std::span(probes.questions).first(at_once));
  if (!replies)
    return forward(std::move(replies));
  if (auto asked = ask_in_turn(connection, probes.questions, at_once, *replies); !asked)
    return forward(std::move(asked));
  probes.take(*replies, features);
  if (quirks_of(features.kind).padded_bursts)
    connection.pad_bursts(std::string(qemu_marker), (*replies)[probes.asked_of_all]);
  return {};
}

/// One burst of QStartNoAckMode, the opening and the probes: the stub acknowledges the first of
/// these requests, and none behind it.
class FirstBurst final : public Burst {
public:
  FirstBurst(const Features& features, Opening& opening, const StepCheck& check)
      : features_(features), opening_(opening), questions_(opening.questions(features)),
        probes_(features), check_(check) {}

  bool next(std::string& payload) override {
    if (sent_ == requests())
      return check_.next(payload);
    payload = request(sent_++);
    return true;
  }

  Result<void> take(std::string_view reply) override {
    const std::size_t index = answered_++;
    if (index >= requests())
      return check_.take(reply);
    if (index == 0)
      return take_first(reply);
    if (index > questions_.size())
      replies_.emplace_back(reply);
    else
      opening_.heard(features_, questions_[index - 1], std::string(reply));
    return {};
  }

  /// Whether replies and requests do not pair; then the answers that the opening heard do not
  /// count.
  bool unpaired() const { return check_.failed() || unpaired_; }
  const StepCheck& check() const { return check_; }
  void finish(Features& features) const { probes_.take(replies_, features); }

private:
  std::size_t requests() const { return 1 + questions_.size() + probes_.questions.size(); }
  Result<void> take_first(std::string_view reply) {
    if (reply == "OK")
      return {};
    unpaired_ = !reply.empty() && !is_error_reply(reply);
    return fail(
        codes::stub_garbage,
        fmt::format("the stub announces QStartNoAckMode, but answers '{}' to it", shorten(reply)),
        "look at what the stub says with --trace FILE");
  }
  std::string request(std::size_t index) const {
    if (index == 0)
      return std::string(no_ack_request);
    return index <= questions_.size() ? questions_[index - 1]
                                      : probes_.questions[index - 1 - questions_.size()];
  }

  const Features& features_;
  Opening& opening_;
  std::vector<std::string> questions_;
  Probes probes_;
  StepCheck check_;
  bool unpaired_ = false; ///< seen in the first reply
  std::size_t sent_ = 0;
  std::size_t answered_ = 0;
  std::vector<std::string> replies_; ///< to the probes
};

Result<Features> open_at_once(Connection& connection, const Features& features, Opening& opening) {
  connection.set_no_ack();
  for (int attempt = 1;; ++attempt) {
    FirstBurst burst(features, opening, connection.step_check().value());
    auto done = connection.stream(burst);
    if (done) {
      connection.passed(burst.check());
      Features known = features;
      burst.finish(known);
      return known;
    }
    if (!burst.unpaired() || attempt == limits::unpaired_exchanges)
      return forward(std::move(done));
    if (auto in_step = connection.resynchronise(); !in_step)
      return forward(std::move(in_step));
  }
}

} // namespace

Features parse_features(std::string_view reply) {
  Features features;
  features.kind = identify_by_announcement(reply);
  while (!reply.empty()) {
    const auto item = reply.substr(0, reply.find(';'));
    reply.remove_prefix(std::min(reply.size(), item.size() + 1));
    if (item.starts_with("PacketSize="))
      features.packet_size = packet_size(item.substr(item.find('=') + 1), quirks_of(features.kind));
    if (item == "binary-upload+")
      features.binary_read = BinaryRead::gdb;
    for (const auto& [name, flag] : announced_features)
      if (item == name)
        features.*flag = true;
  }
  return features;
}

Result<Features> negotiate(Connection& connection, Opening& opening) {
  auto reply = first_exchange(connection);
  if (!reply)
    return forward(std::move(reply));
  Features features = parse_features(*reply);
  connection.check_pairing();
  // No packet takes longer than about a second, since another request may have to wait for it.
  constexpr std::size_t smallest_worthwhile = 1024;
  if (const std::size_t speed = connection.link().bytes_per_second; speed != 0) {
    features.packet_size = std::min(features.packet_size, std::max(speed, smallest_worthwhile));
    // A request that the line damages is asked for again. Without acknowledgements a stub obeys the
    // damaged request: one flipped bit makes an `M` of an `m`. gdbserver does not even offer no-ack
    // mode there.
    features.no_ack = false;
  }
  if (features.no_ack && quirks_of(features.kind).no_ack_in_burst)
    return open_at_once(connection, features, opening);
  if (features.no_ack) {
    auto accepted = connection.request(no_ack_request);
    if (!accepted)
      return forward(std::move(accepted));
    features.no_ack = *accepted == "OK";
    if (features.no_ack)
      connection.set_no_ack();
  }
  if (auto probed = probe(connection, features); !probed)
    return forward(std::move(probed));
  return features;
}

Result<bool> negotiate_again(Connection& connection, const Features& features) {
  // This comes first, since the stub is in ack mode again: only this reply still needs an
  // acknowledgement.
  if (features.no_ack) {
    auto accepted = connection.request(no_ack_request);
    if (!accepted)
      return forward(std::move(accepted));
    if (*accepted != "OK")
      return false;
  }
  auto reply = connection.request(hello);
  if (!reply)
    return forward(std::move(reply));
  return parse_features(*reply).multiprocess == features.multiprocess;
}

} // namespace mqbridge::rsp
