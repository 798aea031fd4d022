#pragma once

#include "host/files/fetch_options.h"
#include "host/files/file_download.h"
#include "host/files/file_store.h"
#include "rsp/client/client.h"

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// "2 files of the target: /a, /b", for messages; the first three are named.
std::string files_of_the_target(std::span<const std::string> paths);

/// --fetch-files: reads files that this host lacks from the targets, with vFile packets, and keeps
/// them from one run to the next. The ranks of a dump share it: a file is read once, and the user
/// is asked once. A file from one target is used for another only if that target's stub shows the
/// same file (FileOrigin), and its memory agrees with it. Thread-safe.
class FileFetcher {
public:
  explicit FileFetcher(FetchOptions options,
                       std::optional<std::filesystem::path> directory = default_store_directory());

  /// Whether a file of that build was read before. Without a directory to keep files in, only files
  /// of this run count.
  bool has(const std::string& build_id);

  /// Sets `found` of files that are kept, and of files that can be read, if the user wants that. A
  /// rank that wants a file which another rank is reading waits for it. The reason why a
  /// file was not read goes into `faults` (fetch.not_asked, fetch.refused, fetch.too_long, vfile.*,
  /// files.*, elf.*). Error: the connection is lost, or its deadline is over.
  Result<void> fetch(rsp::Client& client, std::int64_t pid, std::span<WantedFile> wanted,
                     const FileDownload::Agrees& agrees, const FetchContext& context,
                     std::vector<Error>& faults);

  /// The user will be asked again: the last answer was about an earlier dump.
  void forget_answers();

private:
  class Claim;
  /// The files' process, its stub, and the rank for which they are fetched.
  struct Task {
    rsp::Client& client;
    std::int64_t pid;
    const FileDownload::Agrees& agrees;
    const FetchContext& context;
  };
  Result<void> download(const Task& task, std::span<WantedFile> wanted, std::vector<Error>& faults);
  Result<void> take_kept(FileDownload& download, const Task& task);
  Result<void> read_missing(FileDownload& download, const Task& task, std::vector<Error>& faults);
  Result<void> read(FileDownload& download, const Task& task, std::vector<Error>& faults);
  std::optional<std::filesystem::path> kept(const FileOrigin& origin);
  std::optional<Error> objection(const FetchQuestion& question, const FetchContext& context);
  bool user_agrees(const FetchQuestion& question, const FetchContext& context);
  const FileStore* existing_store();
  Result<const FileStore*> persistent_store();
  Result<const FileStore*> store_of_this_run();

  const FetchOptions options_;
  const std::optional<std::filesystem::path> directory_;
  std::mutex mutex_; ///< guards the members up to the next mutex
  std::condition_variable changed_;
  std::set<std::string> under_way_; ///< build-ids that a rank is reading
  std::optional<FileStore> store_;
  std::optional<FileStore> for_this_run_; ///< files that one process alone may use
  std::timed_mutex question_mutex_;       ///< guards the answers; held while the user is asked
  bool refused_ = false;
  std::optional<FetchQuestion> agreed_; ///< the last question that was answered with yes
};

} // namespace mqbridge
