#pragma once

#include "rsp/limits.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// How much mqbridge believes of the contents of a target's memory and files: larger numbers are an
/// error, and are never read. rsp/limits.h has those for the stub, host/mqs/wire.h those for a
/// worker's messages, in which the DLL's answers come.
namespace mqbridge::limits {

using rsp::limits::page;
using rsp::limits::path;

// --- the process

/// Libraries of one process, listed by the stub or found in the dynamic linker's list. An MPI rank
/// has some 60, a Python with everything imported some 500.
inline constexpr std::size_t loaded_objects = 4'096;
/// Program headers of one object: compilers write a dozen.
inline constexpr std::uint64_t program_headers = 256;
/// Entries of the executable's dynamic section; bytes of one note.
inline constexpr std::uint64_t dynamic_entries = 4'096;
inline constexpr std::size_t note = 4'096;
/// Files of a target description: the first ones name the architecture.
inline constexpr int description_files = 4;
/// /proc/PID/maps and /proc/PID/environ, in bytes: 65,530 mappings (vm.max_map_count) have some 6
/// MB of lines.
inline constexpr std::size_t maps = std::size_t{16} << 20;
inline constexpr std::size_t environment = std::size_t{4} << 20;

/// Variables of the MPI's library, in bytes: MPICH 4 has 300 KB. Of an MPI that is linked into a
/// program those of the program are among them.
inline constexpr std::uint64_t library_variables = std::uint64_t{4} << 20;

/// How often a thread that waits for another thread's work checks whether it should stop.
inline constexpr std::chrono::milliseconds between_looks{50};

// --- files that are read from the target, in bytes

/// libmpi is a few MB, and some hundred with debug information in it.
inline constexpr std::uint64_t fetched_file = std::uint64_t{1} << 30;
inline constexpr std::uint64_t fetched_files = std::uint64_t{2} << 30;

// --- ELF files, and what mqbridge-indexer says of their DWARF

/// Tables and texts that are read whole. The largest programs have some hundred MiB of them; a
/// larger number, in a file full of holes, would only eat memory. In bytes, as the next three.
inline constexpr std::uint64_t elf_table = std::uint64_t{1} << 30;
/// The same for tables that are small in every file; and for all notes of a file, which may
/// overlap.
inline constexpr std::uint64_t elf_list = std::uint64_t{16} << 20;
/// All texts of a dynamic section, in bytes. The same text may be named again and again.
inline constexpr std::size_t dynamic_text = std::size_t{1} << 20;
/// Bytes of one symbol's name; and bytes of all names of a table, as a multiple of its string
/// table: linkers let names share their ends, and store equal ones once. Further names are not
/// found.
inline constexpr std::size_t symbol_name = 4'096;
inline constexpr std::uint64_t symbol_names = 16;
inline constexpr std::size_t symbols_of_one_name = 16'384;
/// All compressed sections of one file, unpacked.
inline constexpr std::uint64_t elf_unpacked = std::uint64_t{2} << 30;
/// SHA-512 would have so many; linkers write 8 to 20.
inline constexpr std::size_t build_id = 64;
/// Sections with DWARF in them: libdwarf counts in 16 bits. A name may be there more than once
/// (type units in COMDAT groups), but only in object files.
inline constexpr std::size_t dwarf_sections = 4'096;
/// Names of one file's types; fields of one type, and the bytes of their names; files over which
/// the DWARF of one is spread. No real file reaches these: a larger number is nonsense.
inline constexpr std::size_t type_names = std::size_t{16} << 20;
inline constexpr std::size_t type_fields = 1'000'000;
inline constexpr std::size_t type_field_bytes = std::size_t{64} << 20;
inline constexpr std::size_t dwarf_files = 65'536;

// --- stacks

/// Bytes of all frames of one process, with their texts: 1,000 frames of 64 threads have some 20
/// MB.
inline constexpr std::size_t stack_frame_bytes = std::size_t{64} << 20;

// --- core files

/// Program headers, and entries of the list of mapped files: vm.max_map_count is 65,530, and for
/// some services 262,144.
inline constexpr std::size_t core_mappings = std::size_t{1} << 18;
/// All notes of a core, in bytes: a thread's registers have 4 to 12 kB in them.
inline constexpr std::uint64_t core_notes = std::uint64_t{64} << 20;

// --- variables of MPI_T

/// Control variables, performance variables and categories; the limit is for each of the three:
/// Open MPI has some 2,000 and 250 with all of its plugins.
inline constexpr std::size_t variables = 65'536;
/// Bytes of one name, description or value, and of all of a process. Descriptions have at most 2
/// kB.
inline constexpr std::size_t variable_text = std::size_t{16} << 10;
inline constexpr std::size_t variable_texts = std::size_t{32} << 20;
/// Bytes of a library's writable data that are searched for objects without a symbol: libopen-pal
/// has 60 kB.
inline constexpr std::size_t searched_data = std::size_t{16} << 20;
/// Slots of all tables of objects that are found there: some 100 tables have 20,000.
inline constexpr std::size_t searched_slots = std::size_t{1} << 20;
/// Names of one enumeration.
inline constexpr std::size_t enumeration_items = 4'096;

// --- jobs

/// Entries of a launcher's MPIR_proctable, one a rank; bytes of a host's name (DNS allows 253).
inline constexpr std::uint64_t proctable_entries = std::uint64_t{1} << 18;
inline constexpr std::size_t host_name = 256;
/// Nodes of one job of Slurm.
inline constexpr std::size_t slurm_nodes = 65'536;

// --- saved by an earlier dump

/// Pages of a process: as many as the page store holds. Of an image's writable data only few pages
/// matter: pages that only one process uses are no hint for others.
inline constexpr std::uint64_t replayed_process_pages = std::uint64_t{1} << 18;
inline constexpr std::uint64_t replayed_image_pages = 1024;

/// Files that are looked up before a target is held: enough for a job of several programs, each
/// with a hundred plugins.
inline constexpr std::size_t known_files = 1024;

} // namespace mqbridge::limits
