#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

/// How much a stub is believed: sizes, counts and times beyond which its answer is an error. Each
/// limit is well above the needs of real stubs, and low enough that a liar costs neither the host's
/// memory nor the target's time. `host/limits.h` has those of the host's rooms; the longest reply
/// is the decoder's (Decoder::default_limit, 1 MiB), the silences that the user sets are in
/// ClientOptions.
namespace mqbridge::rsp::limits {

using std::chrono::seconds;

// --- bytes

/// The range of the PacketSize that a stub may announce: smaller packets carry nothing, and beyond
/// 128 KiB larger ones gain nothing.
inline constexpr std::size_t least_packet_size = 64;
inline constexpr std::size_t packet_size = std::size_t{128} << 10;
/// Bytes outside of packets, in one exchange.
inline constexpr std::size_t garbage = std::size_t{64} << 10;
/// A path: Linux' PATH_MAX.
inline constexpr std::size_t path = 4096;
/// The most that one request for a piece of an object, a file or of memory asks for. A longer piece
/// of memory gains less than it loses when its end turns out to be unmapped.
inline constexpr std::size_t piece = std::size_t{64} << 10;
/// Requests for pieces of one object or file that are under way at once.
inline constexpr std::size_t pieces_under_way = 16;
/// A page of memory. What is readable changes at page borders; every kernel's page size is a
/// multiple of this.
inline constexpr std::size_t page = 4096;
/// Files of /proc that explain why an attach was refused, and environments that name a rank.
inline constexpr std::size_t proc_file = std::size_t{64} << 10;
inline constexpr std::size_t environment_of_another = std::size_t{256} << 10;

/// Objects of qXfer, by what they are. 4,096 libraries with names of some hundred bytes, and the
/// 65,536 threads below, are some MB; an auxiliary vector has some 400 bytes.
struct ObjectLimit {
  std::string_view object;
  std::size_t bytes;
};
inline constexpr ObjectLimit objects[] = {
    {"auxv", std::size_t{64} << 10},
    {"exec-file", path},
    {"features", std::size_t{1} << 20},
};
inline constexpr std::size_t other_object = std::size_t{8} << 20;

/// Registers: of one thread (with SME, some 70 KB), and of all threads of a process together.
inline constexpr std::size_t registers = std::size_t{128} << 10;
inline constexpr std::size_t all_registers = std::size_t{16} << 20;

// --- counts

/// `<` and `=` in a document: the parser's memory goes with elements and attributes, not bytes.
inline constexpr std::size_t xml_marks = 1'000'000;
/// Pieces of an object, a file or a range of memory that may be shorter than asked for: this many,
/// and one more for each `bytes_a_short_piece` bytes that have come. Files of /proc give a page at
/// a time.
inline constexpr std::size_t short_pieces = 64;
inline constexpr std::size_t bytes_a_short_piece = 256;
/// Threads of a server's processes, and packets that list them, if each packet lists one thread.
inline constexpr std::size_t threads = 65'536;
inline constexpr std::size_t thread_packets = 8'192;
/// Processes whose environment is looked into, for a message, and those that it then names.
inline constexpr std::size_t environments = 512;
inline constexpr std::size_t processes_shown = 20;
/// Damaged replies to one request, and refusals of it, where packets are acknowledged.
inline constexpr int damaged_replies = 3;
/// Times that the stub is asked a known question until it is in step again, each with twice the
/// patience.
inline constexpr int resynchronisations = 6;
/// Times that the same is asked until its replies are known to be its own.
inline constexpr int unpaired_exchanges = 4;
/// Breakpoints that a target runs into under --run-until. More of them mean one that it cannot
/// pass.
inline constexpr int traps = 1000;

// --- times

/// A reply that comes byte by byte may take the time of so many silences.
inline constexpr int silences_a_reply = 6;
/// A stub that does not let go within this time is left to the guardian. A stub that resumes says
/// so at once; a running target stops at once, or sleeps where no signal reaches it.
inline constexpr seconds detaching{5};
/// Part of that time, for a stub that has lost count of its replies, or does not answer its
/// farewell.
inline constexpr std::chrono::milliseconds unclear_detaching{2'500};
inline constexpr seconds leaving{1};
/// For finding out which processes of a server are ranks, which only a message needs.
inline constexpr seconds naming_ranks{3};

} // namespace mqbridge::rsp::limits
