#pragma once

#include "host/memory/memory.h"
#include "host/memory/page_cache.h"
#include "host/memory/page_store.h"
#include "rsp/client/features.h"
#include "rsp/exchange/connection.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// The memory that a debugger reads with `m`, for as long as nobody can have changed it. Pages of
/// private mappings are read ahead and kept, as they are for a dump. What others can change while
/// the process stands still (shared mappings, devices), and all memory of a process whose mappings
/// are not known, is read as the debugger asks for it. One thread.
class KeptMemory {
public:
  /// Seconds. On a link with less, a debugger computes longer than it waits.
  static constexpr double least_delay = 0.001;

  explicit KeptMemory(rsp::Connection& stub);
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  void set_features(const rsp::Features& features);
  /// The process is this one, by the number that its system has given it; 0: not known.
  void set_process(std::int64_t pid);
  /// The process has stopped. A debugger that steps reads the same pages at each stop, one after
  /// the other: over a link with delay, those that it has read at the last stops come in one burst,
  /// with the mappings, until it wants none of them. Errors: those of Connection.
  Result<void> process_stopped();
  /// Its program is another one now.
  void forget_program();
  /// Packets that close what is not needed any more at the stub.
  std::vector<std::string> take_farewells() { return std::exchange(farewells_, {}); }
  /// The file system that the debugger has chosen (vFile:setfs) and finds again.
  void set_root(std::string root) { root_ = std::move(root); }
  /// The reply to `m`. Errors: those of Connection.
  Result<std::string> answer(const std::string& packet);
  /// The memory as the stub has it. Nothing is kept.
  Memory& of_stub();
  /// Whether the mappings of this stop are known, and a private one is there.
  bool has(std::optional<std::uint64_t> address) const;
  /// Reads its mappings, once in each stop. Errors: those of Connection.
  Result<void> know_mappings();
  /// The text of its /proc/PID/maps, read for this stop; empty: not known.
  const std::string& mappings() const { return mappings_; }
  std::vector<std::string> mappings_paths() const;
  /// The process has run, or something was written. The mappings may be others, too.
  void forget();
  /// A debugger was silent for so long that it may expect something new: a page can be written by
  /// others even while all threads stand still (process_vm_writev, XPMEM, RDMA).
  void forget_pages();

private:
  class Below;
  Result<std::optional<std::string>> read_mappings();
  Result<std::optional<std::string>> read_pieces();
  std::vector<std::string> pieces_of_mappings(std::size_t from) const;
  void close_mappings();
  void touch(std::uint64_t address, std::size_t size);
  bool may_keep(std::uint64_t address, std::size_t size) const;

  rsp::Connection& stub_;
  std::unique_ptr<Below> below_;
  std::unique_ptr<PageStore> store_; ///< null: nothing is kept
  std::optional<PageCache> cache_;
  std::int64_t pid_ = 0;
  std::string root_ = "0";
  std::optional<std::string> descriptor_; ///< of /proc/PID/maps at the stub, which stays open
  bool is_live_ = false;               ///< that file shows the mappings as they are when it is read
  std::vector<std::string> farewells_; ///< of descriptors that are not needed any more
  std::size_t pieces_ = 16;            ///< of that file, asked for together
  std::string mappings_;
  bool has_files_ = true;         ///< the stub: it knows vFile
  int read_singly_ = 0;           ///< requests of this stop
  std::optional<MemoryMap> kept_; ///< the private mappings; nullopt: not asked in this stop
  // For process_stopped().
  std::optional<MemoryMap> last_kept_;
  std::string last_mappings_;
  std::vector<std::uint64_t> touched_; ///< pages that the debugger has read, the latest first
  bool was_touched_ = false;           ///< in this stop
};

} // namespace mqbridge
