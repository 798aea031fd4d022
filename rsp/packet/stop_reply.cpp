#include "rsp/packet/stop_reply.h"

#include "rsp/codes.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/thread_id.h"

#include <fmt/format.h>
#include <limits>

namespace mqbridge::rsp {
namespace {

Failure garbage(std::string_view payload) {
  return fail(codes::stub_garbage, fmt::format("'{}' is no stop reply", shorten(payload)),
              "look at what the stub says with --trace FILE");
}

/// Calls `use(key, value)` for each "key:value" between semicolons, register values with numbers as
/// keys too. Fields without a colon are skipped.
template <class Use>
void for_each_field(std::string_view fields, Use use) {
  while (!fields.empty()) {
    const auto end = fields.find(';');
    const std::string_view field = fields.substr(0, end);
    fields.remove_prefix(end == std::string_view::npos ? fields.size() : end + 1);
    if (const auto colon = field.find(':'); colon != std::string_view::npos)
      use(field.substr(0, colon), field.substr(colon + 1));
  }
}

void take_thread(StopReply& reply, std::string_view value) {
  const auto id = parse_thread_id(value);
  if (!id)
    return; // taken as a reply that does not name the thread
  if (id->pid > 0)
    reply.pid = id->pid;
  if (id->tid > 0)
    reply.tid = id->tid;
}

} // namespace

Result<StopReply> parse_stop_reply(std::string_view payload) {
  StopReply reply;
  if (payload == "N")
    return reply;
  // W and X may have more than two digits: an exit status may be any number.
  const auto digits = payload.substr(0, payload.find(';'));
  const char kind = payload.empty() ? '\0' : payload.front();
  const bool fixed_width = kind == 'S' || kind == 'T';
  const auto number = payload.size() < 3 || digits.empty()
                          ? std::nullopt
                          : parse_hex(fixed_width ? payload.substr(1, 2) : digits.substr(1));
  if (!number || *number > std::numeric_limits<int>::max())
    return garbage(payload);
  reply.signal_or_status = static_cast<int>(*number);
  switch (kind) {
  case 'S':
  case 'T':
    reply.kind = StopReply::Kind::stopped;
    for_each_field(payload.substr(3), [&reply](std::string_view key, std::string_view value) {
      if (key == "thread")
        take_thread(reply, value);
    });
    return reply;
  case 'W':
  case 'X':
    reply.kind = kind == 'W' ? StopReply::Kind::exited : StopReply::Kind::signalled;
    for_each_field(payload.substr(digits.size()),
                   [&reply](std::string_view key, std::string_view value) {
                     const auto pid = key == "process" ? parse_hex(value) : std::nullopt;
                     if (pid && *pid <= std::numeric_limits<std::int64_t>::max())
                       reply.pid = static_cast<std::int64_t>(*pid);
                   });
    return reply;
  default:
    return garbage(payload);
  }
}

} // namespace mqbridge::rsp
