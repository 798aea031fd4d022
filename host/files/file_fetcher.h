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
/// them from one run to the next. Shared by the ranks of a dump: a file is read once, the user is
/// asked once. What one target gave is believed of another only where its stub shows the same file
/// (FileOrigin), and its memory agrees with it. Thread-safe.
class FileFetcher {
public:
  explicit FileFetcher(FetchOptions options,
                       std::optional<std::filesystem::path> directory = default_store_directory());

  /// Whether a file of that build was read before: by this run alone, where there is no directory
  /// to keep files in.
  bool has(const std::string& build_id);

  /// Sets `found` of those that are kept, and of those that could be had, if the user wants them
  /// read. A rank that wants what another one is reading waits for it. Why a file was not read goes
  /// into `faults` (fetch.not_asked, fetch.refused, fetch.too_long, vfile.*, files.*, elf.*).
  /// Error: the connection is lost, or its deadline is over.
  Result<void> fetch(rsp::Client& client, std::int64_t pid, std::span<WantedFile> wanted,
                     const FileDownload::Agrees& agrees, const FetchContext& context,
                     std::vector<Error>& faults);

  /// The user is asked anew: what he said was about the dump before.
  void forget_answers();

private:
  class Claim;
  /// Whose files, through which stub, and for whom.
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
  std::mutex mutex_; ///< of what follows, up to the next mutex
  std::condition_variable changed_;
  std::set<std::string> under_way_; ///< build-ids that a rank is reading
  std::optional<FileStore> store_;
  std::optional<FileStore> for_this_run_; ///< files that one process alone may use
  std::timed_mutex question_mutex_;       ///< of the answer; held while the user is asked
  bool refused_ = false;
  std::optional<FetchQuestion> agreed_; ///< the last one answered with yes
};

} // namespace mqbridge
