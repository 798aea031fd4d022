#include "rsp/client/quirks.h"

#include <algorithm>
#include <array>

namespace mqbridge::rsp {
namespace {

/// QEMU compares the bytes asked for with half its buffer, and leaves room for the frame by itself.
std::size_t half(std::size_t packet_size) {
  return packet_size / 2;
}

/// vgdb passes the reply with its frame on through a buffer of the announced size plus one, and
/// closes the connection if the reply does not fit. A small stub may well write past such a buffer.
std::size_t half_without_frame(std::size_t packet_size) {
  constexpr std::size_t frame = 4; // $, # and the checksum
  return (packet_size - frame) / 2;
}

/// Seen with gdbserver 13.1, QEMU 7.2, lldb-server 14.0.6, OpenOCD 0.12.0 and vgdb 3.19; rr and
/// gdbstub by their sources.
constexpr std::array table = {
    Quirks{.kind = StubKind::unknown, .name = "unknown stub", .longest_read = half_without_frame},
    Quirks{.kind = StubKind::gdbserver,
           .name = "gdbserver",
           .no_ack_in_burst = true,
           .reads_whole_or_not = true,
           .holes_are_pages = true,
           .has_memory_file = true,
           .lost_link = LostLink::depends},
    Quirks{.kind = StubKind::qemu_user,
           .name = "QEMU user",
           .padded_bursts = true,
           .closing_releases = true,
           .reads_whole_or_not = true,
           .holes_are_pages = true,
           .longest_read = half,
           .lost_link = LostLink::runs},
    Quirks{.kind = StubKind::qemu_system,
           .name = "QEMU system",
           .reads_whole_or_not = true,
           .longest_read = half,
           .lost_link = LostLink::stays},
    Quirks{.kind = StubKind::lldb_server,
           .name = "lldb-server",
           .decimal_packet_size = true,
           .holes_are_pages = true,
           .lost_link = LostLink::runs},
    Quirks{.kind = StubKind::openocd,
           .name = "OpenOCD",
           .unreadable_reads_zero = true,
           .longest_read = half_without_frame,
           .lost_link = LostLink::stays},
    Quirks{.kind = StubKind::vgdb,
           .name = "vgdb",
           .holes_are_pages = true,
           .longest_read = half_without_frame,
           .lost_link = LostLink::runs},
    Quirks{.kind = StubKind::rr, .name = "rr", .holes_are_pages = true},
    Quirks{.kind = StubKind::gdbstub, .name = "gdbstub", .longest_read = half_without_frame},
};

/// The items of a qSupported reply.
class Announcement {
public:
  explicit Announcement(std::string_view reply) {
    while (!reply.empty()) {
      const auto item = reply.substr(0, reply.find(';'));
      reply.remove_prefix(std::min(reply.size(), item.size() + 1));
      items_.push_back(item);
    }
  }
  bool has(std::string_view item) const {
    return std::find(items_.begin(), items_.end(), item) != items_.end();
  }
  /// Whether the feature is announced at all, with `+`, `-` or `?`.
  bool names(std::string_view feature) const {
    return std::any_of(items_.begin(), items_.end(), [feature](std::string_view item) {
      return item.size() == feature.size() + 1 && item.starts_with(feature);
    });
  }
  bool has_at(std::size_t place, std::string_view item) const {
    return place < items_.size() && items_[place] == item;
  }

private:
  std::vector<std::string_view> items_;
};

bool is_lldb(const Announcement& announced) {
  return announced.has("qEcho+") || announced.has("QThreadSuffixSupported+") ||
         announced.has("QListThreadsInStopReply+");
}

/// gdbstub's announcement always starts with these, in this order.
bool is_gdbstub(const Announcement& announced) {
  return announced.has_at(1, "vContSupported+") && announced.has_at(2, "multiprocess+");
}

bool is_gdbserver(const Announcement& announced) {
  return announced.has("QProgramSignals+") || announced.has("QNonStop+") ||
         announced.has("qXfer:libraries-svr4:read+");
}

/// QEMU's record and replay goes backwards too, but always acknowledges.
bool is_rr(const Announcement& announced) {
  return announced.has("ReverseContinue+") && announced.has("QStartNoAckMode+");
}

/// This is also true of the many stubs of debug probes that announce the same as OpenOCD.
bool is_openocd(const Announcement& announced) {
  return announced.names("qXfer:memory-map:read") && announced.names("qXfer:features:read") &&
         announced.has("qXfer:threads:read+") && announced.has("QStartNoAckMode+");
}

bool is_vgdb(const Announcement& announced) {
  return announced.has("QPassSignals+") && announced.has("QStartNoAckMode+") &&
         !announced.has("vContSupported+") && !announced.has("multiprocess+");
}

struct Signature {
  StubKind kind;
  bool (*fits)(const Announcement& announced);
};

/// The first signature that fits counts: the later ones rely on that.
constexpr std::array signatures = {
    Signature{StubKind::gdbstub, is_gdbstub},     Signature{StubKind::lldb_server, is_lldb},
    Signature{StubKind::gdbserver, is_gdbserver}, Signature{StubKind::rr, is_rr},
    Signature{StubKind::openocd, is_openocd},     Signature{StubKind::vgdb, is_vgdb},
};

/// The value of "KEY:" in "KEY:VALUE;KEY:VALUE;".
std::string_view field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    auto item = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (item.starts_with(key))
      return item.substr(key.size());
  }
  return {};
}

bool is_version(std::string_view text) {
  constexpr std::size_t longest = 32;
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

/// The reply to qAttached tells: QEMU's user emulator always made its process itself, while an
/// emulated machine was always there.
StubKind which_qemu(std::string_view attached) {
  return attached == "0"   ? StubKind::qemu_user
         : attached == "1" ? StubKind::qemu_system
                           : StubKind::unknown;
}

} // namespace

const Quirks& quirks_of(StubKind kind) {
  return *std::find_if(table.begin(), table.end(),
                       [kind](const Quirks& row) { return row.kind == kind; });
}

std::span<const Quirks> all_quirks() {
  return table;
}

StubKind identify_by_announcement(std::string_view supported) {
  const Announcement announced(supported);
  const auto found =
      std::find_if(signatures.begin(), signatures.end(),
                   [&](const Signature& signature) { return signature.fits(announced); });
  return found == signatures.end() ? StubKind::unknown : found->kind;
}

std::vector<std::string> identity_probes(StubKind kind) {
  switch (kind) {
  case StubKind::unknown:
    return {std::string(qemu_marker), "qAttached"};
  case StubKind::lldb_server:
    return {"qGDBServerVersion"};
  default:
    return {};
  }
}

void identify_by_answers(Features& features, std::span<const std::string> answers) {
  if (features.kind == StubKind::unknown && answers.size() == 2 &&
      answers[0].starts_with("ENABLE="))
    features.kind = which_qemu(answers[1]);
  if (features.kind == StubKind::lldb_server && !answers.empty()) {
    if (const auto version = field(answers[0], "version:"); is_version(version))
      features.stub_version = version;
  }
  const Quirks& quirks = quirks_of(features.kind);
  features.stub_name = quirks.name;
  features.unreadable_reads_zero = quirks.unreadable_reads_zero;
  features.lost_link = quirks.lost_link;
  if (quirks.longest_read != nullptr)
    features.longest_read = quirks.longest_read(features.packet_size);
}

} // namespace mqbridge::rsp
