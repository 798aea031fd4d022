#pragma once

#include "rsp/client/features.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

/// How one kind of stub differs from what the protocol's documentation leads to expect. All that
/// mqbridge does for the sake of one particular stub starts here; the code that does it asks
/// Features, or is named below.
struct Quirks {
  StubKind kind = StubKind::unknown;
  std::string_view name = "unknown stub";

  /// PacketSize is written in decimal, where the protocol has hexadecimal (parse_features).
  bool decimal_packet_size = false;
  /// Reads a request through a buffer and its acknowledgement past it: several requests at once
  /// must be padded (PaddedSender).
  bool padded_bursts = false;
  /// Heeds QStartNoAckMode before it answers it, and what comes behind in the same send
  /// (rsp/client/negotiation.h).
  bool no_ack_in_burst = false;
  /// Lets its process run when the connection closes, and stays in a conversation with nobody over
  /// a `D`: it then dies of SIGPIPE at the next signal on a Unix socket. It crashes over a second
  /// `D` in one read (Holds::set_closing_releases).
  bool closing_releases = false;
  /// Features::unreadable_reads_zero.
  bool unreadable_reads_zero = false;
  /// Bytes of one `m` for a given PacketSize; null: half of it, less what frames it.
  std::size_t (*longest_read)(std::size_t packet_size) = nullptr;
  LostLink lost_link = LostLink::unknown;
};

/// The row of `kind`; every kind has one.
const Quirks& quirks_of(StubKind kind);
/// All rows.
std::span<const Quirks> all_quirks();

/// The kind that a reply to qSupported gives away. QEMU's does not: it is `unknown` until
/// identify_by_answers().
StubKind identify_by_announcement(std::string_view supported);

/// Asked of a stub that announced itself as `kind`: what tells further kinds apart, or brings the
/// version. Harmless everywhere: they read no memory, change nothing, and do not begin like a
/// packet that writes (`M`, `X`). In order of importance: without an answer to the first there is
/// no point in the second.
std::vector<std::string> identity_probes(StubKind kind);

/// Takes the answers to identity_probes(features.kind), as many as were asked, and sets what
/// follows from the kind.
void identify_by_answers(Features& features, std::span<const std::string> answers);

/// The question whose answer only QEMU knows, and that is never mistaken for another: it tells
/// where its stream of replies stands (Connection::pad_bursts).
inline constexpr std::string_view qemu_marker = "qqemu.sstepbits";

} // namespace mqbridge::rsp
