#pragma once

#include "host/disk/file_descriptor.h"
#include "host/memory/architecture.h"
#include "host/stacks/unwinder_wire.h"

#include <cstddef>
#include <cstdint>
#include <elfutils/libdwfl.h>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge::unwinder {

/// Where the files of modules come from. An empty descriptor: there is none.
class Files {
public:
  virtual ~Files() = default;
  virtual FileDescriptor file(std::uint32_t module) = 0;
  virtual FileDescriptor debug(std::uint32_t module) = 0;     ///< separate debug file
  virtual FileDescriptor alternate(std::uint32_t module) = 0; ///< of .gnu_debugaltlink
};

const Architecture& architecture_of(const GElf_Ehdr& header);

/// The loaded objects of one process, for libdwfl. A file is fetched when something is looked up in
/// its module: of some 60 modules a thread's stack needs some 5.
class Modules {
public:
  /// `files` outlives this.
  Modules(Files& files, std::span<const wire::ModulePlace> places);
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  Dwfl* dwfl() const { return dwfl_; }

  std::optional<std::uint32_t> number_at(std::uint64_t address) const;
  /// The module at this address, with its file; nullptr: there is none, or its file cannot be had.
  Dwfl_Module* at(std::uint64_t address);
  /// Any module with a file, from which libdwfl learns the architecture. nullptr: there is none.
  Dwfl_Module* any();

  /// The module's DWARF, with the parts that dwz moved elsewhere; nullptr: there is none. An
  /// address of the process minus `bias` is the address there.
  Dwarf* dwarf(Dwfl_Module* module, Dwarf_Addr& bias);

  /// Reads bytes of the module's file for that address of the process, if they cannot have changed
  /// since: code and constants. False: some of them are not there.
  bool read(std::uint64_t address, std::span<std::byte> into);

private:
  struct Entry {
    Modules* modules = nullptr;
    std::uint32_t number = 0;
    wire::ModulePlace place;
    bool was_asked_for = false;
    bool has_dwarf = false; ///< and the alternate file was looked for
    Dwfl_Module* module = nullptr;
    FileDescriptor alternate_file = FileDescriptor();
    Dwarf* alternate = nullptr;
  };

  Dwfl_Module* load(Entry& entry);
  void find_alternate(Entry& entry, Dwarf* dwarf);
  static Entry& entry_of(Dwfl_Module* module);
  static int find_debug(Dwfl_Module* module, void** of, const char* name, Dwarf_Addr base,
                        const char* file, const char* link, GElf_Word checksum, char** found);

  Files& files_;
  Dwfl* dwfl_;
  std::vector<Entry> entries_;
};

} // namespace mqbridge::unwinder
