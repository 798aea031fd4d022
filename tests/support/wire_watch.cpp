#include "tests/support/wire_watch.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

/// A packet's name, and the only bytes that may follow it.
struct Look {
  std::string_view name;
  std::string_view arguments = {};
};

constexpr std::string_view hex = "0123456789abcdefABCDEF";
constexpr std::string_view range = "0123456789abcdefABCDEF,";
constexpr std::string_view thread = "0123456789abcdefABCDEFp.-";

constexpr std::array looks{
    Look{"!"},
    Look{"?"},
    Look{"D"},
    Look{"D;", hex},
    Look{"Hg", thread},
    Look{"T", thread},
    // Of the stubs that announce it; elsewhere it is an `M` without an address and without data.
    Look{"MultiMemRead:ranges:", "0123456789abcdefABCDEF,;"},
    Look{"QProgramSignals:", "0123456789abcdef;"}, // when it lets its process go
    Look{"QStartNoAckMode"},
    Look{"g"},
    Look{"m", range},
    Look{"qAttached"},
    Look{"qC"},
    Look{"qGDBServerVersion"},
    Look{"qSupported"},
    Look{"qSupported:", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-=+?;."},
    Look{"qfThreadInfo"},
    Look{"qqemu.sstepbits"},
    Look{"qsThreadInfo"},
    Look{"vAttach;", hex},
    Look{"vFile:close:", hex},
    Look{"vFile:fstat:", hex},
    Look{"vFile:pread:", range},
    Look{"vFile:setfs:", hex},
    Look{"vMustReplyEmpty"},
    Look{"x", range},
};

bool consists_of(std::string_view text, std::string_view letters) {
  return text.find_first_not_of(letters) == std::string_view::npos;
}

/// "HEXPATH,FLAGS,MODE": flags other than 0 write, create or truncate.
bool opens_to_read(std::string_view payload, bool whole) {
  constexpr std::string_view name = "vFile:open:";
  if (!payload.starts_with(name))
    return false;
  payload.remove_prefix(name.size());
  const std::size_t flags = payload.find(',');
  if (flags == std::string_view::npos)
    return !whole && consists_of(payload, hex);
  const std::string_view rest = payload.substr(flags);
  constexpr std::string_view reading = ",0,";
  return consists_of(payload.substr(0, flags), hex) &&
         (rest.starts_with(reading) || (!whole && reading.starts_with(rest)));
}

/// "OBJECT:read:ANNEX:OFFSET,LENGTH"
bool reads_object(std::string_view payload, bool whole) {
  constexpr std::string_view name = "qXfer:";
  if (!payload.starts_with(name))
    return false;
  const std::size_t verb = payload.find(':', name.size());
  if (verb == std::string_view::npos)
    return !whole;
  const std::string_view rest = payload.substr(verb);
  constexpr std::string_view reading = ":read:";
  return rest.starts_with(reading) || (!whole && reading.starts_with(rest));
}

/// `whole`: else it was cut off, and what follows is open.
bool looks_only(std::string_view payload, bool whole) {
  const auto fits = [&](const Look& look) {
    return payload.starts_with(look.name)
               ? consists_of(payload.substr(look.name.size()), look.arguments)
               : !whole && look.name.starts_with(payload);
  };
  return payload.empty() || std::any_of(looks.begin(), looks.end(), fits) ||
         opens_to_read(payload, whole) || reads_object(payload, whole);
}

/// "c:THREAD" and "CSIG:THREAD", joined by semicolons: no other action for any thread.
bool only_continues(std::string_view actions) {
  while (!actions.empty()) {
    const std::string_view action = actions.substr(0, actions.find(';'));
    actions.remove_prefix(std::min(action.size() + 1, actions.size()));
    const std::string_view verb = action.substr(0, action.find(':'));
    const bool with_signal = verb.size() == 3 && verb.starts_with('C');
    if (verb != "c" && !(with_signal && consists_of(verb.substr(1), hex)))
      return false;
  }
  return true;
}

} // namespace

bool only_looks(std::string_view payload) {
  return looks_only(payload, true);
}

bool lets_run(std::string_view payload) {
  constexpr std::string_view actions = "vCont;";
  constexpr std::string_view refuses_a_file = "F-1,1";
  const bool with_signal = payload.size() == 3 && payload.starts_with('C');
  return payload == "vCont?" || payload == "c" || payload == refuses_a_file ||
         (with_signal && consists_of(payload.substr(1), hex)) ||
         (payload.size() > actions.size() && payload.starts_with(actions) &&
          only_continues(payload.substr(actions.size())));
}

void WireWatch::read_along(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  for (const Arrival& arrival : reader_.feed(bytes))
    judge(arrival);
}

void WireWatch::note(const Arrival& arrival) {
  const std::lock_guard lock(mutex_);
  judge(arrival);
}

void WireWatch::judge(const Arrival& arrival) {
  const bool whole = arrival.kind == Arrival::Kind::packet;
  const bool interrupt = arrival.kind == Arrival::Kind::interrupt;
  if (!whole && !interrupt && arrival.kind != Arrival::Kind::bad_packet)
    return;
  ++packets_;
  if (allowed_ == Allowed::anything)
    return;
  if (interrupt) {
    offences_.emplace_back("0x03"); // ends a process that a gdbserver holds
    return;
  }
  if (!looks_only(arrival.payload, whole) &&
      !(allowed_ == Allowed::runs && lets_run(arrival.payload)))
    offences_.push_back(arrival.payload);
}

std::size_t WireWatch::packets() const {
  const std::lock_guard lock(mutex_);
  return packets_;
}

std::size_t WireWatch::offences() const {
  const std::lock_guard lock(mutex_);
  return offences_.size();
}

void WireWatch::check() {
  const std::lock_guard lock(mutex_);
  for (; told_ < offences_.size(); ++told_)
    ADD_FAILURE() << "a packet that changes the target: " << offences_[told_];
}

} // namespace mqbridge::test
