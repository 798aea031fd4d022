#include "rsp/negotiation.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

constexpr std::string_view hello = "qSupported:multiprocess+";
// Beyond 128 KiB larger packets gain nothing. Below 64 bytes it is no packet size.
constexpr std::size_t largest_packet = std::size_t{128} << 10;
constexpr std::size_t smallest_packet = 64;

std::size_t packet_size(std::string_view hex) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), size, 16);
  if (error == std::errc::result_out_of_range)
    return largest_packet;
  if (error != std::errc() || end != hex.data() + hex.size() || size < smallest_packet)
    return Features{}.packet_size;
  return std::min(size, largest_packet);
}

struct Announced {
  std::string_view name;
  bool Features::*flag;
};

constexpr Announced announced[] = {
    {"multiprocess+", &Features::multiprocess},
    {"QStartNoAckMode+", &Features::no_ack},
    {"qXfer:auxv:read+", &Features::qxfer_auxv},
    {"qXfer:exec-file:read+", &Features::qxfer_exec_file},
    {"qXfer:features:read+", &Features::qxfer_features},
    {"qXfer:libraries-svr4:read+", &Features::qxfer_libraries_svr4},
    {"qXfer:osdata:read+", &Features::qxfer_osdata},
    {"qXfer:threads:read+", &Features::qxfer_threads},
};

/// Whether an error before the first packet means that no stub is there, rather than that one broke
/// off.
bool never_spoke_rsp(const Connection& connection, std::string_view code) {
  const auto& heard = connection.heard();
  if (heard.packet || code == "stop.limit" || code == "interrupted")
    return false;
  if (!heard.garbage.empty() || code == "stub.garbage")
    return true;
  return code == "stub.timeout" && !heard.ack;
}

Error not_a_stub(const Connection& connection, Error error) {
  const auto& garbage = connection.heard().garbage;
  const auto hint = garbage.empty()
                        ? "is another debugger connected to this stub, does its target run, or is "
                          "it no GDB stub at all? On the node: gdbserver --once --attach :PORT PID"
                        : "another service listens there: check host and port. On the node: "
                          "gdbserver --once --attach :PORT PID";
  error.message += garbage.empty()
                       ? "; it has never said anything: no GDB stub, or one that is busy"
                       : fmt::format("; it said '{}': no GDB stub", shorten(garbage));
  return {"stub.not_a_stub", std::move(error.message), hint};
}

Result<std::string> first_exchange(Connection& connection) {
  connection.greet();
  auto reply = connection.request(hello);
  if (!reply && never_spoke_rsp(connection, reply.error().code))
    return Failure(not_a_stub(connection, reply.error()));
  if (reply && *reply == hello)
    return fail("stub.not_a_stub", "the other side only echoes what it is sent: no GDB stub",
                "check host and port; on the node: gdbserver --once --attach :PORT PID");
  return reply;
}

/// GDB answers `b`, LLDB `OK`, others nothing or an error.
BinaryRead binary_read_of(std::string_view reply) {
  if (reply == "b")
    return BinaryRead::gdb;
  return reply == "OK" ? BinaryRead::lldb : BinaryRead::none;
}

/// What qSupported does not announce. Both are harmless where they are unknown, as they do not
/// begin like a packet that writes. In ack mode `x` is not asked for: no stub is known that has it
/// there, and every probe costs a round trip.
Result<void> probe(Connection& connection, Features& features) {
  std::vector<std::string> probes{"vFile:setfs:0"};
  if (features.no_ack)
    probes.emplace_back("x0,0");
  auto replies = connection.burst(probes);
  if (!replies)
    return forward(std::move(replies));
  features.vfile = replies->front().starts_with('F');
  if (features.no_ack && features.binary_read == BinaryRead::none)
    features.binary_read = binary_read_of(replies->back());
  return {};
}

} // namespace

Features parse_features(std::string_view reply) {
  Features features;
  while (!reply.empty()) {
    const auto item = reply.substr(0, reply.find(';'));
    reply.remove_prefix(std::min(reply.size(), item.size() + 1));
    if (item.starts_with("PacketSize="))
      features.packet_size = packet_size(item.substr(item.find('=') + 1));
    if (item == "binary-upload+")
      features.binary_read = BinaryRead::gdb;
    for (const auto& [name, flag] : announced)
      if (item == name)
        features.*flag = true;
  }
  return features;
}

Result<Features> negotiate(Connection& connection) {
  auto reply = first_exchange(connection);
  if (!reply)
    return forward(std::move(reply));
  Features features = parse_features(*reply);
  if (features.no_ack) {
    auto accepted = connection.request("QStartNoAckMode");
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

} // namespace mqbridge::rsp
