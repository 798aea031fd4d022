#include "rsp/packet/gate.h"

#include "rsp/packet/codec.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/signal_names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

/// 1 to 16 hexadecimal digits: a number that fits 64 bits.
bool number(std::string_view text) {
  return !text.empty() && text.size() <= 16 && std::all_of(text.begin(), text.end(), is_hex);
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

/// Cuts `text` at the first `separator`; false if there is none.
bool cut(std::string_view text, char separator, std::string_view& head, std::string_view& tail) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos)
    return false;
  head = text.substr(0, at);
  tail = text.substr(at + 1);
  return true;
}

bool nothing(std::string_view rest) {
  return rest.empty();
}

/// "ADDRESS,LENGTH"
bool range(std::string_view rest) {
  std::string_view address, length;
  return cut(rest, ',', address, length) && number(address) && number(length);
}

/// "TID", "pPID.TID" or "pPID"; -1 stands for all.
bool thread_id(std::string_view rest) {
  const auto one = [](std::string_view id) { return id == "-1" || number(id); };
  if (!rest.starts_with('p'))
    return one(rest);
  std::string_view pid, tid;
  rest.remove_prefix(1);
  return cut(rest, '.', pid, tid) ? one(pid) && one(tid) : one(rest);
}

bool feature_list(std::string_view rest) {
  return rest.empty() || (rest.starts_with(':') && printable(rest));
}

/// "OBJECT:read:ANNEX:OFFSET,LENGTH"; the rule keeps out "write".
bool object_read(std::string_view rest) {
  std::string_view object, operation, annex, window;
  return cut(rest, ':', object, rest) && !object.empty() && printable(object) &&
         cut(rest, ':', operation, rest) && operation == "read" && cut(rest, ':', annex, window) &&
         printable(annex) && range(window);
}

/// "HEXPATH,0,MODE"; with other flags than 0, an open writes, creates or truncates.
bool open_read_only(std::string_view rest) {
  std::string_view path, flags, mode;
  return cut(rest, ',', path, rest) && cut(rest, ',', flags, mode) && !path.empty() &&
         path.size() % 2 == 0 && std::all_of(path.begin(), path.end(), is_hex) && flags == "0" &&
         number(mode);
}

/// "FD,COUNT,OFFSET"
bool file_read(std::string_view rest) {
  std::string_view descriptor, window;
  return cut(rest, ',', descriptor, window) && number(descriptor) && range(window);
}

/// "ranges:ADDRESS,LENGTH,ADDRESS,LENGTH;" without options. A stub that does not know the packet
/// may take it for an `M` (write memory), but finds neither address nor data in it.
bool range_list(std::string_view rest) {
  constexpr std::string_view name = "ranges:";
  if (!rest.starts_with(name) || !rest.ends_with(';'))
    return false;
  rest = rest.substr(name.size(), rest.size() - name.size() - 1);
  for (bool more = true; more;) {
    std::string_view address, length = rest, tail;
    if (!cut(rest, ',', address, length))
      return false;
    std::string_view last = length;
    more = cut(last, ',', length, tail);
    if (!number(address) || !number(length))
      return false;
    rest = tail;
  }
  return true;
}

/// Another list would keep signals from the program.
bool all_signals_to_hand_on(std::string_view rest) {
  return rest == signals_to_hand_on();
}

constexpr std::array read_only_rules = {
    Rule{"!", nothing},
    Rule{"?", nothing},
    Rule{"D", nothing},
    Rule{"D;", number},
    Rule{"Hg", thread_id},
    Rule{"T", thread_id},
    Rule{"MultiMemRead:", range_list},
    Rule{"QProgramSignals:", all_signals_to_hand_on},
    Rule{"QStartNoAckMode", nothing},
    Rule{"g", nothing},
    Rule{"m", range},
    Rule{"qAttached", nothing},
    Rule{"qC", nothing},
    Rule{"qGDBServerVersion", nothing},
    Rule{"qSupported", feature_list},
    Rule{"qXfer:", object_read},
    Rule{"qfThreadInfo", nothing},
    Rule{"qqemu.sstepbits", nothing},
    Rule{"qsThreadInfo", nothing},
    Rule{"vAttach;", number},
    Rule{"vFile:close:", number},
    Rule{"vFile:fstat:", number},
    Rule{"vFile:open:", open_read_only},
    Rule{"vFile:pread:", file_read},
    Rule{"vFile:setfs:", number},
    Rule{"vMustReplyEmpty", nothing},
    Rule{"x", range},
};

bool signal_number(std::string_view text) {
  return text.size() == 2 && std::all_of(text.begin(), text.end(), is_hex);
}

/// Whether the action is for all threads: it names none, or -1. Then no thread stays stopped.
bool all_threads(std::string_view id) {
  return id.empty() || id == "-1" || id.ends_with(".-1");
}

/// "c", "c:THREAD", "CSIG", "CSIG:THREAD", joined by semicolons; the last action is for all threads
/// that the ones before it did not name.
bool continue_actions(std::string_view rest) {
  for (bool more = true; more;) {
    std::string_view action = rest, tail, thread;
    more = cut(rest, ';', action, tail);
    rest = tail;
    std::string_view verb = action;
    if (cut(action, ':', verb, thread) && !thread_id(thread))
      return false;
    if (!more && !all_threads(thread))
      return false;
    if (verb != "c" && !(verb.starts_with('C') && signal_number(verb.substr(1))))
      return false;
  }
  return true;
}

constexpr std::array run_rules = {
    Rule{"vCont?", nothing},
    Rule{"vCont;", continue_actions},
    Rule{"c", nothing},
    Rule{"C", signal_number},
    Rule{"F-1,1", nothing},
    // This one tells whether replies and requests pair (rsp/exchange/step_marker.h).
    Rule{"vMustReplyEmpty", nothing},
    Rule{"QStartNoAckMode", nothing},
};

constexpr Policy running{"run-until", run_rules};

constexpr Policy read_only{"read-only", read_only_rules};

constexpr std::array debugger_rules = {Rule{"", [](std::string_view) { return true; }}};

constexpr Policy debugger{"debugger", debugger_rules, true};

Failure refused(const Policy& policy, const std::string& what) {
  return fail("gate.refused",
              fmt::format("{} was not sent: the {} policy does not allow it", what, policy.name),
              "mqbridge must never need this packet: please report it, with --trace FILE");
}

} // namespace

const Policy& read_only_policy() {
  return read_only;
}

const Policy& run_policy() {
  return running;
}

const Policy& debugger_policy() {
  return debugger;
}

Result<Outgoing> Gate::interrupt() const {
  return policy_->interrupts ? Result<Outgoing>(Outgoing("\x03"))
                             : refused(*policy_, "the byte 0x03");
}

Result<Outgoing> Gate::packet(std::string_view payload) const {
  const bool allowed =
      std::any_of(policy_->allowed.begin(), policy_->allowed.end(), [payload](const Rule& rule) {
        return payload.starts_with(rule.name) && rule.arguments(payload.substr(rule.name.size()));
      });
  if (!allowed)
    return refused(*policy_, fmt::format("packet '{}'", shorten(payload)));
  return Outgoing(encode(payload));
}

} // namespace mqbridge::rsp
