#pragma once

#include "host/image/file_store.h"
#include "rsp/client.h"
#include "rsp/commands/remote_file.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A file of the target's that this host lacks.
struct WantedFile {
  std::string path;     ///< as the target names it
  std::string build_id; ///< in the target's memory; empty: none
  bool is_executable = false;
  std::filesystem::path found = {}; ///< out: where it is now; empty: nowhere
};

/// Files that are open at one target's stub, to be read one after the other. Its methods return an
/// error only where the connection is lost; what is wrong with one file goes into `faults`.
class FileDownload {
public:
  using Progress =
      std::function<void(std::string_view file, std::uint64_t bytes, std::uint64_t of)>;
  using StoreFor = std::function<Result<const FileStore*>(const WantedFile&)>;

  explicit FileDownload(rsp::Client& client) : client_(client) {}

  /// Opens what there is, in the file system of process `pid` where the stub can enter it. `wanted`
  /// outlives the download.
  Result<void> open(std::int64_t pid, std::span<WantedFile> wanted, std::vector<Error>& faults);

  bool empty() const { return files_.empty(); }
  std::uint64_t bytes() const; ///< of all files
  std::vector<std::string> paths() const;

  /// How long the rest takes, by what the first pieces took; they are not read twice. Files that
  /// cannot be read are left out: there may be none afterwards.
  Result<std::chrono::milliseconds> measure(std::vector<Error>& faults);

  /// Reads every file into the store that is named for it. After measure().
  Result<void> read(const Progress& progress, const StoreFor& store_for,
                    std::vector<Error>& faults);

  Result<void> close();

private:
  struct Open {
    WantedFile* wanted = nullptr;
    rsp::RemoteFile remote;
  };

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
