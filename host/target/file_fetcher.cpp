#include "host/target/file_fetcher.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace mqbridge {
namespace {

std::string in_megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string in_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:.1f} s", static_cast<double>(time.count()) / 1000);
}

std::vector<std::string> paths_of(std::span<const WantedFile> files) {
  std::vector<std::string> paths;
  for (const auto& file : files)
    paths.push_back(file.path);
  return paths;
}

constexpr std::chrono::milliseconds patience{50}; ///< until a wait looks up

/// Whether who said yes to `agreed` has said yes to `next`: of as much for about as long. Times are
/// measured, and no two are the same.
bool covers(const FetchQuestion& agreed, const FetchQuestion& next) {
  constexpr std::chrono::milliseconds unnoticed{500};
  return next.bytes <= agreed.bytes && next.held <= agreed.held + agreed.held / 4 + unnoticed;
}

} // namespace

std::string files_of_the_target(std::span<const std::string> paths) {
  constexpr std::size_t shown = 3;
  const auto first = paths.first(std::min(shown, paths.size()));
  return fmt::format("{} of the target: {}{}",
                     paths.size() == 1 ? "1 file" : fmt::format("{} files", paths.size()),
                     fmt::join(first, ", "), paths.size() > shown ? ", ..." : "");
}

/// The right to read some builds. Waits until nobody else reads any of them; who waits holds
/// nothing that others wait for.
class FileFetcher::Claim {
public:
  Claim(FileFetcher& fetcher, std::span<const WantedFile> wanted, const FetchContext& context)
      : fetcher_(fetcher) {
    const auto busy = [&](const WantedFile& file) {
      return fetcher_.under_way_.count(file.build_id) > 0;
    };
    std::unique_lock lock(fetcher_.mutex_);
    while (std::any_of(wanted.begin(), wanted.end(), busy)) {
      if (context.over())
        return;
      fetcher_.changed_.wait_for(lock, patience);
    }
    for (const auto& file : wanted)
      if (!file.build_id.empty() && fetcher_.under_way_.insert(file.build_id).second)
        builds_.push_back(file.build_id);
    granted_ = true;
  }
  ~Claim() {
    const std::lock_guard lock(fetcher_.mutex_);
    for (const auto& build : builds_)
      fetcher_.under_way_.erase(build);
    fetcher_.changed_.notify_all();
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// False: the rank's time was over first.
  bool granted() const { return granted_; }

private:
  FileFetcher& fetcher_;
  std::vector<std::string> builds_;
  bool granted_ = false;
};

FileFetcher::FileFetcher(FetchOptions options, std::optional<std::filesystem::path> directory)
    : options_(std::move(options)), directory_(std::move(directory)) {}

std::optional<std::filesystem::path> FileFetcher::kept(const std::string& build_id) {
  const FileStore* const store = existing_store();
  return store != nullptr ? store->find(build_id) : std::nullopt;
}

/// Null: none yet. Nothing is made for a question.
const FileStore* FileFetcher::existing_store() {
  std::error_code error;
  const std::lock_guard lock(mutex_);
  if (!directory_)
    return for_this_run_ ? &*for_this_run_ : nullptr;
  if (!store_ && !std::filesystem::is_directory(*directory_, error))
    return nullptr;
  const auto store = persistent_store();
  return store ? *store : nullptr;
}

// With mutex_ held.
Result<const FileStore*> FileFetcher::persistent_store() {
  if (!directory_)
    return store_of_this_run();
  if (!store_) {
    auto opened = FileStore::open(*directory_);
    if (!opened)
      return forward(std::move(opened));
    store_.emplace(std::move(*opened));
  }
  return &*store_;
}

// With mutex_ held.
Result<const FileStore*> FileFetcher::store_of_this_run() {
  if (!for_this_run_) {
    auto opened = FileStore::open(std::nullopt);
    if (!opened)
      return forward(std::move(opened));
    for_this_run_.emplace(std::move(*opened));
  }
  return &*for_this_run_;
}

Result<void> FileFetcher::fetch(rsp::Client& client, std::int64_t pid, std::span<WantedFile> wanted,
                                const FetchContext& context, std::vector<Error>& faults) {
  if (options_.mode == FetchMode::never || wanted.empty())
    return {};
  if (!client.features().vfile) {
    faults.push_back(
        {"vfile.unsupported",
         fmt::format("not on this host, and the stub at {} reads no files for its clients: {}",
                     client.endpoint().text, files_of_the_target(paths_of(wanted))),
         "copy the node's files, and give their top directory: --sysroot DIR"});
    return {};
  }
  const Claim claim(*this, wanted, context);
  if (!claim.granted()) {
    faults.push_back({"fetch.too_long",
                      fmt::format("still being read by another rank when this one's time was "
                                  "over: {}",
                                  files_of_the_target(paths_of(wanted))),
                      "give it more time: --max-stop S; or dump again: what was read is kept"});
    return {};
  }
  std::vector<WantedFile> still_wanted;
  for (auto& file : wanted) {
    if (auto place = file.build_id.empty() ? std::nullopt : kept(file.build_id))
      file.found = std::move(*place);
    else
      still_wanted.push_back(file);
  }
  auto done = download(client, pid, still_wanted, context, faults);
  for (auto& file : wanted)
    for (auto& read : still_wanted)
      if (file.path == read.path && !read.found.empty())
        file.found = read.found;
  return done;
}

Result<void> FileFetcher::download(rsp::Client& client, std::int64_t pid,
                                   std::span<WantedFile> wanted, const FetchContext& context,
                                   std::vector<Error>& faults) {
  if (wanted.empty())
    return {};
  FileDownload download(client);
  if (auto done = download.open(pid, wanted, faults); !done)
    return done;
  const auto held = download.measure(faults);
  if (!held)
    return Failure(held.error());
  Result<void> done;
  if (!download.empty()) {
    const FetchQuestion question{client.endpoint().text, download.paths(), download.bytes(), *held,
                                 context.deadline};
    if (auto fault = objection(question, context)) {
      faults.push_back(std::move(*fault));
    } else {
      done = download.read(
          [&](std::string_view file, std::uint64_t bytes, std::uint64_t of) {
            context.tell(fmt::format("reading {} from the target: {} of {}",
                                     std::filesystem::path(file).filename().string(),
                                     in_megabytes(bytes), in_megabytes(of)));
          },
          [&](const WantedFile& file) {
            const std::lock_guard lock(mutex_);
            return file.build_id.empty() ? store_of_this_run() : persistent_store();
          },
          faults);
    }
  }
  if (done)
    done = download.close();
  return done;
}

// Why the files are not read after all.
std::optional<Error> FileFetcher::objection(const FetchQuestion& question,
                                            const FetchContext& context) {
  const auto what = fmt::format("not on this host, and not read from the target: {} ({})",
                                files_of_the_target(question.files), in_megabytes(question.bytes));
  const std::string copy = "copy the node's files, and give their top directory: --sysroot DIR";
  const auto too_long = [&]() -> std::optional<Error> {
    if (!context.deadline || std::chrono::steady_clock::now() + question.held < *context.deadline)
      return std::nullopt;
    return Error{"fetch.too_long",
                 fmt::format("{}. It would take {}, longer than --max-stop allows", what,
                             in_seconds(question.held)),
                 "give it more time: --max-stop S; or " + copy};
  };
  if (auto error = too_long())
    return error;
  if (options_.mode == FetchMode::always)
    return std::nullopt;
  if (!options_.ask)
    return Error{"fetch.not_asked",
                 fmt::format("{}. There is no terminal to ask on, and the target would be held "
                             "{} longer",
                             what, in_seconds(question.held)),
                 "to have them read: --fetch-files always; or " + copy};
  if (!user_agrees(question, context))
    return Error{"fetch.refused", what, "to have them read: --fetch-files always; or " + copy};
  return too_long(); // the answer took its time
}

bool FileFetcher::user_agrees(const FetchQuestion& question, const FetchContext& context) {
  std::unique_lock lock(question_mutex_, std::defer_lock);
  while (!lock.try_lock_for(patience))
    if (context.over())
      return false;
  if (refused_)
    return false;
  if (agreed_ && covers(*agreed_, question))
    return true;
  refused_ = !options_.ask(question);
  if (!refused_)
    agreed_ = question;
  return !refused_;
}

} // namespace mqbridge
