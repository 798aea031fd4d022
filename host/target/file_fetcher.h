#pragma once

#include "host/image/file_store.h"
#include "host/target/fetch_options.h"
#include "host/target/file_download.h"
#include "rsp/client.h"

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
/// them by build-id from one run to the next. Shared by the ranks of a dump: a file is read once,
/// the user is asked once. Thread-safe.
class FileFetcher {
public:
  explicit FileFetcher(FetchOptions options,
                       std::optional<std::filesystem::path> directory = default_store_directory());

  /// The file of that build, where one was read before: by this run alone, where there is no
  /// directory to keep files in.
  std::optional<std::filesystem::path> kept(const std::string& build_id);

  /// Sets `found` of those that could be had, if the user wants them read. A rank that wants what
  /// another one is reading waits for it. Why a file was not read goes into `faults`
  /// (fetch.not_asked, fetch.refused, fetch.too_long, vfile.*, files.*, elf.*). Error: the
  /// connection is lost, or its deadline is over.
  Result<void> fetch(rsp::Client& client, std::int64_t pid, std::span<WantedFile> wanted,
                     const FetchContext& context, std::vector<Error>& faults);

private:
  class Claim;
  Result<void> download(rsp::Client& client, std::int64_t pid, std::span<WantedFile> wanted,
                        const FetchContext& context, std::vector<Error>& faults);
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
  std::optional<FileStore> for_this_run_; ///< files without build-id
  std::timed_mutex question_mutex_;       ///< of the answer; held while the user is asked
  bool refused_ = false;
  std::optional<FetchQuestion> agreed_; ///< the last one answered with yes
};

} // namespace mqbridge
