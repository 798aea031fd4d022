#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// What a debugger's packet does, as far as it matters to what is kept of the process.
enum class RequestKind : std::uint8_t {
  negotiation, ///< qSupported
  no_acks,     ///< QStartNoAckMode
  memory,      ///< m
  object,      ///< qXfer:OBJECT:read of an object that stays the same while the process is stopped
  file,        ///< vFile that only reads
  file_change, ///< any other vFile
  symbol,      ///< qSymbol
  breakpoint,  ///< Z0, Z1, z0, z1
  selection,   ///< Hg, Hc
  look,        ///< reads only, or sets what concerns later stops
  run,         ///< lets the process run, or may do so; its reply may come late
  change,      ///< anything else: it may write what is kept
  farewell,    ///< D, vKill: nothing may come behind it
  kill,        ///< k: as farewell, and without a reply
  restart,     ///< R: the program begins anew, and there is no reply
  monitor,     ///< `monitor mpi ...`
};

RequestKind kind_of(std::string_view packet);

// How packets about files begin.
inline constexpr std::string_view open_name = "vFile:open:";
inline constexpr std::string_view close_name = "vFile:close:";
inline constexpr std::string_view setfs_name = "vFile:setfs:";

/// The process that a selection names for what is read and set: "p1f" of "Hgp1f.20". Empty: none,
/// or any.
std::string selected_process(std::string_view packet);

/// "p1f" of "Hgp1f.20", and of "Hgp1f.20,8"; empty: the protocol names none.
std::string_view process_in(std::string_view selection);

/// "queues --tag 7" of the packet of `monitor mpi queues --tag 7`; nullopt: it is for the stub.
std::optional<std::string> mpi_command(std::string_view packet);

/// 401136 of "Z0,401136,1"; nullopt: it is no such packet.
std::optional<std::uint64_t> place_of_breakpoint(std::string_view packet);

/// "vFile:pread:", "3" and ",1000,0" of a packet whose file is a descriptor.
struct AboutFile {
  std::string name;
  std::uint64_t descriptor = 0;
  std::string rest;
};
/// nullopt: it is no such packet.
std::optional<AboutFile> parse_about_file(const std::string& packet);

/// Of the file, from a reply to fstat (gdb's manual, "struct stat"); nullopt: it is none.
std::optional<std::uint64_t> size_in_status(std::string_view reply);

/// Whether the process has stopped by SIGINT, which is what 0x03 becomes.
bool is_interrupt(const std::string& stop_reply);

/// "1000,4", as in "m1000,4". nullopt: it is no such thing.
struct TwoNumbers {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};
std::optional<TwoNumbers> parse_two_numbers(std::string_view text);

/// The beginning of `data` that a reply carries, where some bytes take two (binary data).
std::string_view fitting(std::string_view data, std::size_t packet_size);

} // namespace mqbridge
