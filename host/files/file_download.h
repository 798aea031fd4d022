#pragma once

#include "host/files/file_store.h"
#include "host/memory/address.h"
#include "rsp/client/client.h"
#include "rsp/commands/remote_file.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A file of the target's that this host lacks.
struct WantedFile {
  std::string path;     ///< as the target names it
  std::string build_id; ///< in the target's memory; empty: none
  TargetAddress header; ///< the address of its ELF header in the process
  bool is_executable = false;
  std::filesystem::path found = {}; ///< out: the file on this host; empty: none
};

/// Files that are open at one target's stub, to be read one after the other. Its methods return an
/// error only if the connection is lost; faults of one file go into `faults`.
class FileDownload {
public:
  using Progress =
      std::function<void(std::string_view file, std::uint64_t bytes, std::uint64_t of)>;
  /// Whether a file that was kept earlier is the one that this process has loaded. Error: a lost
  /// connection.
  using Agrees = std::function<Result<bool>(const WantedFile&, const std::filesystem::path&)>;
  using Find = std::function<std::optional<std::filesystem::path>(const FileOrigin&)>;
  /// Where to keep a file. `apart`: for this process alone (FileStore::keep_apart).
  using StoreFor = std::function<Result<const FileStore*>(bool apart)>;

  explicit FileDownload(rsp::Client& client) : client_(client) {}

  /// Opens the files that are there, in the file system of process `pid` if the stub can enter it.
  /// A stub that opens a FIFO, or some devices, never answers again, and never lets its target go.
  /// So it is asked only for the process's executable, for its mappings if it may open those
  /// (/proc/PID), and for names that /proc/PID/maps shows for a file that still has the name. A
  /// file is read only if it is that very inode. `wanted` outlives the download.
  Result<void> open(std::int64_t pid, std::span<WantedFile> wanted, std::vector<Error>& faults);

  /// Drops files that are kept already. If a kept file has the same origin and does not agree, the
  /// file will be read for this process alone.
  Result<void> take_kept(const Find& find, const Agrees& agrees);

  bool empty() const { return files_.empty(); }
  std::uint64_t bytes() const; ///< of all files
  std::vector<std::string> paths() const;
  /// The build-ids of files that another process may use, too.
  std::vector<std::string> shared_builds() const;

  /// How long reading the rest takes, estimated from the first pieces, which are not read twice.
  /// Files that cannot be read are dropped: afterwards there may be none.
  Result<std::chrono::milliseconds> measure(std::vector<Error>& faults);

  /// Reads every file into its store. After measure().
  Result<void> read(const Progress& progress, const StoreFor& store_for,
                    std::vector<Error>& faults);

  Result<void> close();

private:
  struct Open {
    WantedFile* wanted = nullptr;
    rsp::RemoteFile remote;
    bool apart = false; ///< for this process alone

    FileOrigin origin() const;
  };

  Result<std::optional<std::string>> read_maps(std::int64_t pid, std::vector<Error>& faults);
  void drop_excess(std::vector<Error>& faults);
  Result<void> read_head();
  Result<std::filesystem::path> read_file(const Open& file, const std::string& head,
                                          const FileStore& store, const Progress& progress);

  rsp::Client& client_;
  std::vector<Open> files_;
  std::vector<rsp::RemoteFile> not_wanted_; ///< open at the stub, but not needed
  std::string head_;                        ///< the beginning of the first file, read by measure()
  double bytes_per_second_ = 0;
};

} // namespace mqbridge
