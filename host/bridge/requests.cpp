#include "host/bridge/requests.h"

#include "rsp/packet/codec.h"
#include "rsp/packet/file_reply.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/stop_reply.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace mqbridge {
namespace {

struct Named {
  std::string_view beginning;
  RequestKind kind;
};

/// The first one that fits counts.
constexpr std::array beginnings = {
    Named{"qSupported", RequestKind::negotiation},
    Named{"QStartNoAckMode", RequestKind::no_acks},
    Named{"qXfer:auxv:read:", RequestKind::object},
    Named{"qXfer:exec-file:read:", RequestKind::object},
    Named{"qXfer:features:read:", RequestKind::object},
    Named{"qXfer:libraries-svr4:read:", RequestKind::object},
    Named{"qXfer:libraries:read:", RequestKind::object},
    Named{"qXfer:memory-map:read:", RequestKind::object},
    Named{"qXfer:threads:read:", RequestKind::object},
    Named{"qSymbol:", RequestKind::symbol},
    Named{"vFile:close:", RequestKind::file},
    Named{"vFile:fstat:", RequestKind::file},
    Named{"vFile:pread:", RequestKind::file},
    Named{"vFile:readlink:", RequestKind::file},
    Named{"vFile:setfs:", RequestKind::file},
    Named{"vFile:", RequestKind::file_change},
    Named{"vFlash", RequestKind::run}, // it takes its time
    Named{"vCont?", RequestKind::look},
    Named{"vMustReplyEmpty", RequestKind::look},
    Named{"vCont;", RequestKind::run},
    Named{"vRun;", RequestKind::run},
    Named{"vAttach;", RequestKind::run},
    Named{"vKill;", RequestKind::farewell},
    Named{"Z0,", RequestKind::breakpoint},
    Named{"Z1,", RequestKind::breakpoint},
    Named{"z0,", RequestKind::breakpoint},
    Named{"z1,", RequestKind::breakpoint},
    Named{"Z", RequestKind::look}, // a watchpoint: a register of the processor
    Named{"z", RequestKind::look},
    Named{"H", RequestKind::selection},
    Named{"QPassSignals:", RequestKind::look},
    Named{"QProgramSignals:", RequestKind::look},
    Named{"QThreadEvents:", RequestKind::look},
    Named{"QCatchSyscalls:", RequestKind::look},
    Named{"QStartupWithShell:", RequestKind::look},
    Named{"QEnvironment", RequestKind::look},
    Named{"QDisableRandomization:", RequestKind::look},
    Named{"QSetWorkingDir:", RequestKind::look},
    Named{"qRcmd,", RequestKind::run}, // the stub's own commands, such as "reset run"
    Named{"q", RequestKind::look},
    Named{"bc", RequestKind::run}, // backwards
    Named{"bs", RequestKind::run},
    Named{"D;", RequestKind::farewell},
    Named{"F", RequestKind::run}, // the answer to what the process has asked for
};

/// "c", "s", "C05", "S05;1000", "c1000": the old packets that let the process run.
bool is_old_resumption(std::string_view packet) {
  constexpr std::string_view letters = "cCsSiI";
  return letters.find(packet.front()) != letters.npos &&
         std::all_of(packet.begin() + 1, packet.end(),
                     [](char sign) { return rsp::is_hex(sign) || sign == ';'; });
}

/// "vFile:open:HEXPATH,0,MODE": other flags create the file, or empty it.
bool opens_to_read(std::string_view packet) {
  const auto flags = packet.substr(std::min(packet.find(','), packet.size()));
  return packet.starts_with("vFile:open:") && flags.starts_with(",0,");
}

} // namespace

std::optional<std::string> mpi_command(std::string_view packet) {
  constexpr std::string_view name = "qRcmd,";
  constexpr std::string_view mpi = "mpi";
  if (!packet.starts_with(name))
    return std::nullopt;
  const auto digits = packet.substr(name.size());
  std::string line(digits.size() / 2, '\0');
  if (!rsp::decode_hex(digits, std::as_writable_bytes(std::span(line))) || !line.starts_with(mpi))
    return std::nullopt;
  line.erase(0, mpi.size());
  const auto word = line.find_first_not_of(' ');
  if (!line.empty() && word == 0)
    return std::nullopt; // "mpirun"
  return word == line.npos ? "" : line.substr(word);
}

RequestKind kind_of(std::string_view packet) {
  if (packet.empty())
    return RequestKind::look;
  if (mpi_command(packet))
    return RequestKind::monitor;
  if (opens_to_read(packet))
    return RequestKind::file;
  if (packet.starts_with("qXfer:") && packet.find(":write:") != packet.npos)
    return RequestKind::change;
  for (const auto& [beginning, kind] : beginnings)
    if (packet.starts_with(beginning))
      return kind;
  if (packet == "D")
    return RequestKind::farewell;
  if (packet == "k")
    return RequestKind::kill;
  if (is_old_resumption(packet))
    return RequestKind::run;
  switch (packet.front()) {
  case 'm':
    return RequestKind::memory;
  case 'R':
    return RequestKind::restart;
  case '?':
  case '!':
  case 'g':
  case 'p':
  case 'x':
  case 'T':
    return RequestKind::look;
  default:
    return RequestKind::change;
  }
}

std::string selected_process(std::string_view packet) {
  constexpr std::string_view name = "Hg";
  if (!packet.starts_with(name))
    return {};
  const auto process = packet.substr(name.size(), packet.find('.') - name.size());
  const bool is_any = process == "p0" || process == "p-1";
  return process.starts_with('p') && !is_any ? std::string(process) : std::string();
}

std::string_view process_in(std::string_view selection) {
  const auto process = selection.substr(std::min<std::size_t>(2, selection.size()));
  return process.starts_with('p') ? process.substr(0, process.find('.')) : std::string_view();
}

std::optional<std::uint64_t> place_of_breakpoint(std::string_view packet) {
  const auto numbers = packet.substr(std::min(packet.find(','), packet.size() - 1) + 1);
  return rsp::parse_hex(numbers.substr(0, numbers.find(',')));
}

std::optional<AboutFile> parse_about_file(const std::string& packet) {
  const auto colon = packet.find(':', sizeof("vFile:") - 1);
  if (colon == std::string::npos)
    return std::nullopt;
  const auto comma = std::min(packet.find(',', colon), packet.size());
  const auto number = rsp::parse_hex(std::string_view(packet).substr(colon + 1, comma - colon - 1));
  if (!number)
    return std::nullopt;
  return AboutFile{packet.substr(0, colon + 1), *number, packet.substr(comma)};
}

std::optional<std::uint64_t> size_in_status(std::string_view reply) {
  constexpr std::size_t place = 28;
  constexpr std::size_t length = 8;
  const auto status = rsp::parse_file_reply(reply);
  if (!status || status->result < 0 || status->attachment.size() < place + length)
    return std::nullopt;
  std::uint64_t size = 0;
  for (const char byte : status->attachment.substr(place, length))
    size = size << 8 | static_cast<unsigned char>(byte);
  return size;
}

bool is_interrupt(const std::string& stop_reply) {
  constexpr int interrupt = 2; // SIGINT, in the protocol's numbers
  const auto stop = rsp::parse_stop_reply(stop_reply);
  return stop && stop->kind == rsp::StopReply::Kind::stopped && stop->signal_or_status == interrupt;
}

std::optional<TwoNumbers> parse_two_numbers(std::string_view text) {
  const auto comma = text.find(',');
  if (comma == text.npos)
    return std::nullopt;
  const auto first = rsp::parse_hex(text.substr(0, comma));
  const auto second = rsp::parse_hex(text.substr(comma + 1));
  return first && second ? std::optional(TwoNumbers{*first, *second}) : std::nullopt;
}

std::string_view fitting(std::string_view data, std::size_t packet_size) {
  constexpr std::size_t beside = 32; // the frame, and what stands before the data
  while (data.size() > 1) {
    const auto size = rsp::encode(data).size() + beside;
    if (size <= packet_size)
      break;
    data = data.substr(0, data.size() - std::min(size - packet_size, data.size() - 1));
  }
  return data;
}

} // namespace mqbridge
