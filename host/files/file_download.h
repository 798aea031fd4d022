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
  TargetAddress header; ///< where it is loaded: its ELF header
  bool is_executable = false;
  std::filesystem::path found = {}; ///< out: where it is now; empty: nowhere
};

/// Files that are open at one target's stub, to be read one after the other. Its methods return an
/// error only where the connection is lost; what is wrong with one file goes into `faults`.
class FileDownload {
public:
  using Progress =
      std::function<void(std::string_view file, std::uint64_t bytes, std::uint64_t of)>;
  /// Whether a file that is kept from before is what this process has loaded. Error: a lost
  /// connection.
  using Agrees = std::function<Result<bool>(const WantedFile&, const std::filesystem::path&)>;
  using Find = std::function<std::optional<std::filesystem::path>(const FileOrigin&)>;
  /// Where to keep a file. `apart`: for this process alone (FileStore::keep_apart).
  using StoreFor = std::function<Result<const FileStore*>(bool apart)>;

  explicit FileDownload(rsp::Client& client) : client_(client) {}

  /// Opens what there is, in the file system of process `pid` where the stub can enter it. A stub
  /// that opens a FIFO, or some devices, never answers again, nor lets its target go. So it is
  /// asked for the process's executable, for its mappings where it may open those (/proc/PID), and
  /// else for those names that /proc/PID/maps shows for a file that still has it; read is only what
  /// is that very inode. `wanted` outlives the download.
  Result<void> open(std::int64_t pid, std::span<WantedFile> wanted, std::vector<Error>& faults);

  /// Does without reading those that are kept already. One that is kept by the same origin, and
  /// does not agree, will be read for this process alone.
  Result<void> take_kept(const Find& find, const Agrees& agrees);

  bool empty() const { return files_.empty(); }
  std::uint64_t bytes() const; ///< of all files
  std::vector<std::string> paths() const;
  /// The build-ids of those that another process may use, too.
  std::vector<std::string> shared_builds() const;

  /// How long the rest takes, by what the first pieces took; they are not read twice. Files that
  /// cannot be read are left out: there may be none afterwards.
  Result<std::chrono::milliseconds> measure(std::vector<Error>& faults);

  /// Reads every file into its store. After measure().
  Result<void> read(const Progress& progress, const StoreFor& store_for,
                    std::vector<Error>& faults);

  Result<void> close();

private:
  struct Open {
    WantedFile* wanted = nullptr;
    rsp::RemoteFile remote;
    bool apart = false; ///< nobody else will find it

    FileOrigin origin() const;
  };

  Result<std::optional<std::string>> read_maps(std::int64_t pid, std::vector<Error>& faults);
  void drop_excess(std::vector<Error>& faults);
  Result<void> read_head();
  Result<std::filesystem::path> read_file(const Open& file, const std::string& head,
                                          const FileStore& store, const Progress& progress);

  rsp::Client& client_;
  std::vector<Open> files_;
  std::vector<rsp::RemoteFile> not_wanted_; ///< open all the same
  std::string head_;                        ///< of the first file, read by measure()
  double bytes_per_second_ = 0;
};

} // namespace mqbridge
