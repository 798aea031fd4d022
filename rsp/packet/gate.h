#pragma once

#include "rsp/result.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mqbridge::rsp {

class Gate;

/// Bytes that a Gate has cleared. Only a Gate makes them, and a Transport sends nothing else: there
/// is no way around the gate.
class Outgoing {
public:
  std::string_view bytes() const { return bytes_; }
  /// Puts further cleared bytes behind these, to leave in one send.
  void append(const Outgoing& more) { bytes_ += more.bytes_; }

private:
  friend class Gate;
  explicit Outgoing(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string bytes_;
};

/// A packet that a policy lets through: its payload begins with `name`, and `arguments` accepts all
/// that follows.
struct Rule {
  std::string_view name;
  bool (*arguments)(std::string_view rest);
};

/// An allow-list. A packet that no rule lets through is refused, packets of the future included.
struct Policy {
  std::string_view name; ///< for messages
  std::span<const Rule> allowed;
  bool interrupts = false; ///< whether the byte 0x03 may leave
};

/// Allows packets that look, stop and detach, and none that writes memory, registers or files,
/// resumes, or kills; nor the byte 0x03: a stopped gdbserver keeps it until the detach, and its
/// process then dies of it.
const Policy& read_only_policy();

/// --run-until: `vCont?`, the packets that let the target run (`vCont;c`, `vCont;CSIG`, `c`,
/// `CSIG`; never a step, another address, or another thread alone), and the refusal of a file
/// request. Nothing else, and in effect only while Connection::permit() says so.
const Policy& run_policy();

/// For the debugger of a user, who asks for what he does (rsp/server): all packets, and 0x03.
const Policy& debugger_policy();

/// The one gate through which every byte to a stub leaves. Immutable; any thread.
class Gate {
public:
  /// `policy` is not owned, and outlives the gate.
  explicit Gate(const Policy& policy) : policy_(&policy) {}

  /// The framed packet. Error: gate.refused, with the packet's name.
  Result<Outgoing> packet(std::string_view payload) const;
  /// 0x03, which stops a running target. Error: gate.refused.
  Result<Outgoing> interrupt() const;
  Outgoing ack() const { return Outgoing("+"); }
  Outgoing nack() const { return Outgoing("-"); }

private:
  const Policy* policy_;
};

} // namespace mqbridge::rsp
