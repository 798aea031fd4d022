#pragma once

#include "rsp/codes.h"

/// The codes of the host's errors that somebody tells apart; see rsp/codes.h.
namespace mqbridge::codes {

inline constexpr std::string_view command_not_found = "command.not_found";
inline constexpr std::string_view command_start = "command.start";
inline constexpr std::string_view debuginfod_given_up = "debuginfod.given_up";
inline constexpr std::string_view dll_architecture = "dll.architecture";
inline constexpr std::string_view dll_protocol = "dll.protocol";
inline constexpr std::string_view dll_timeout = "dll.timeout";
inline constexpr std::string_view dll_version_differs = "dll.version_differs";
inline constexpr std::string_view dwarf_corrupt = "dwarf.corrupt";
inline constexpr std::string_view elf_open = "elf.open";
inline constexpr std::string_view launcher_no_ranks = "launcher.no_ranks";
inline constexpr std::string_view node_denied = "node.denied";
inline constexpr std::string_view libraries_corrupt = "libraries.corrupt";
inline constexpr std::string_view memory_unreadable = "memory.unreadable";
inline constexpr std::string_view mpi_not_initialized = "mpi.not_initialized";
inline constexpr std::string_view mpirun_no_proctable = "mpirun.no_proctable";
inline constexpr std::string_view mpirun_not_started = "mpirun.not_started";
inline constexpr std::string_view output_write = "output.write";
inline constexpr std::string_view queue_damaged = "queue.damaged";
inline constexpr std::string_view queue_no_stacks = "queue.no_stacks";
inline constexpr std::string_view run_stopped = "run.stopped";
inline constexpr std::string_view service_no_job = "service.no_job";
inline constexpr std::string_view service_not_running = "service.not_running";
inline constexpr std::string_view transport_bypasses = "transport.bypasses";
inline constexpr std::string_view twice_exited = "twice.exited"; ///< between two looks
inline constexpr std::string_view twice_failed = "twice.failed";
inline constexpr std::string_view types_missing = "types.missing";
inline constexpr std::string_view types_other_build = "types.other_build"; ///< a warning
inline constexpr std::string_view types_partial = "types.partial";
inline constexpr std::string_view types_unknown_mpi = "types.unknown_mpi";
inline constexpr std::string_view variables_clock = "variables.clock"; ///< clocks differ
inline constexpr std::string_view walk_unreadable = "walk.unreadable";

/// Families of codes: each code of the family begins with this text.
inline constexpr std::string_view of_elf = "elf.";     ///< an ELF file of this host
inline constexpr std::string_view of_files = "files."; ///< a file of the target, kept here

} // namespace mqbridge::codes
