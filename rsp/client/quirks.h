#pragma once

#include "rsp/client/features.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

/// How one kind of stub differs from the protocol's documentation. Every special treatment of a
/// particular stub begins here; the code that carries it out asks Features or quirks_of(), or is
/// named below.
struct Quirks {
  StubKind kind = StubKind::unknown;
  std::string_view name = "unknown stub";

  /// PacketSize is written in decimal, where the protocol has hexadecimal (parse_features).
  bool decimal_packet_size = false;
  /// It reads requests in blocks, but swallows everything up to the acknowledgement of its reply:
  /// several requests at once must be padded (PaddedSender).
  bool padded_bursts = false;
  /// It obeys QStartNoAckMode before it answers it, and understands what comes behind in the same
  /// send (rsp/client/negotiation.h).
  bool no_ack_in_burst = false;
  /// It lets its process run when the connection closes. After a `D` it goes on speaking to a
  /// connection that is gone: on a Unix socket it then dies of SIGPIPE at the next signal. It
  /// crashes on a second `D` in one read (Holds::set_closing_releases).
  bool closing_releases = false;
  /// Refuses a read as a whole when a part of it cannot be read (MemoryBurst).
  bool reads_whole_or_not = false;
  /// What can be read changes at page borders only: one refusal of a page is a hole. Any other stub
  /// may refuse for another reason, or look at memory that ends anywhere (StubMemory).
  bool holes_are_pages = false;
  /// Opens /proc/PID/mem of its process with vFile:open (MemoryFile).
  bool has_memory_file = false;
  /// Features::unreadable_reads_zero.
  bool unreadable_reads_zero = false;
  /// Bytes that one `m` may ask for at a given PacketSize; null: half of the packet, less its
  /// frame.
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

/// Further questions for a stub that announced itself as `kind`: their answers tell kinds apart, or
/// bring the version. They are harmless everywhere: they read no memory, change nothing, and do not
/// begin like a packet that writes (`M`, `X`). In order of importance: if the first has no answer,
/// the second is not worth asking.
std::vector<std::string> identity_probes(StubKind kind);

/// Takes the answers to identity_probes(features.kind), as many as were asked, and sets what
/// follows from the kind.
void identify_by_answers(Features& features, std::span<const std::string> answers);

/// A question that only QEMU answers, and whose answer cannot be mistaken for another one: it shows
/// whether QEMU's replies are in step (Connection::pad_bursts).
inline constexpr std::string_view qemu_marker = "qqemu.sstepbits";

} // namespace mqbridge::rsp
