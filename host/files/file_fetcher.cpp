#include "host/files/file_fetcher.h"

#include "host/limits.h"
#include "rsp/commands/file_stub.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
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

/// Whether a yes to `agreed` is also a yes to `next`: the download has no more bytes, and takes
/// about as long. Times are measured, and no two are the same.
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

/// The right to read some builds. Waits until nobody else reads any of them; a rank that waits
/// holds nothing that others wait for.
class FileFetcher::Claim {
public:
  Claim(FileFetcher& fetcher, std::span<const std::string> builds, const FetchContext& context)
      : fetcher_(fetcher) {
    const auto busy = [&](const std::string& build) {
      return fetcher_.under_way_.count(build) > 0;
    };
    std::unique_lock lock(fetcher_.mutex_);
    while (std::any_of(builds.begin(), builds.end(), busy)) {
      if (context.over())
        return;
      fetcher_.changed_.wait_for(lock, limits::between_looks);
    }
    for (const auto& build : builds)
      if (fetcher_.under_way_.insert(build).second)
        builds_.push_back(build);
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

  /// False: the rank's time was over before it got the right.
  bool granted() const { return granted_; }

private:
  FileFetcher& fetcher_;
  std::vector<std::string> builds_;
  bool granted_ = false;
};

FileFetcher::FileFetcher(FetchOptions options, std::optional<std::filesystem::path> directory)
    : options_(std::move(options)), directory_(std::move(directory)) {}

void FileFetcher::forget_answers() {
  const std::lock_guard lock(question_mutex_);
  refused_ = false;
  agreed_.reset();
}

bool FileFetcher::has(const std::string& build_id) {
  const FileStore* const store = existing_store();
  return store != nullptr && store->has(build_id);
}

std::optional<std::filesystem::path> FileFetcher::kept(const FileOrigin& origin) {
  const FileStore* const store = existing_store();
  return store != nullptr ? store->find(origin) : std::nullopt;
}

/// The store, if there is one already; otherwise null, and none is made.
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
                                const FileDownload::Agrees& agrees, const FetchContext& context,
                                std::vector<Error>& faults) {
  const bool never = options_.mode == FetchMode::never;
  const auto is_kept = [this](const WantedFile& file) { return has(file.build_id); };
  if (wanted.empty() || (never && std::none_of(wanted.begin(), wanted.end(), is_kept)))
    return {};
  if (!client.features().vfile) {
    if (!never)
      faults.push_back(
          {"vfile.unsupported",
           fmt::format("not on this host, and the stub at {} reads no files for its clients: {}",
                       client.endpoint().text, files_of_the_target(paths_of(wanted))),
           "copy the node's files, and give their top directory: --sysroot DIR"});
    return {};
  }
  const auto beside = rsp::connect_file_stub(client, pid, context.stop);
  if (!beside)
    return download({client, pid, agrees, context}, wanted, faults);
  beside->set_deadline(context.deadline);
  const std::stop_callback cancel(context.stop, [&] { beside->cancel(); });
  if (auto done = download({*beside, pid, agrees, context}, wanted, faults); !done)
    faults.push_back(std::move(done).error()); // it concerns that stub, not the target's own
  return {};
}

Result<void> FileFetcher::download(const Task& task, std::span<WantedFile> wanted,
                                   std::vector<Error>& faults) {
  FileDownload download(task.client);
  std::vector<Error> not_opened;
  if (auto done = download.open(task.pid, wanted, not_opened); !done)
    return done;
  if (auto done = take_kept(download, task); !done)
    return done;
  Result<void> done;
  if (options_.mode != FetchMode::never) {
    std::move(not_opened.begin(), not_opened.end(), std::back_inserter(faults));
    done = read_missing(download, task, faults);
  }
  return done ? download.close() : done;
}

Result<void> FileFetcher::take_kept(FileDownload& download, const Task& task) {
  return download.take_kept([this](const FileOrigin& origin) { return kept(origin); }, task.agrees);
}

// A rank that lacks no file waits for nobody: a hundred targets are held at the same time.
Result<void> FileFetcher::read_missing(FileDownload& download, const Task& task,
                                       std::vector<Error>& faults) {
  if (download.empty())
    return {};
  const Claim claim(*this, download.shared_builds(), task.context);
  if (!claim.granted()) {
    faults.push_back({"fetch.too_long",
                      fmt::format("still being read by another rank when this one's time was "
                                  "over: {}",
                                  files_of_the_target(download.paths())),
                      "give it more time: --max-stop S; or dump again: what was read is kept"});
    return {};
  }
  if (auto done = take_kept(download, task); !done) // another rank may have read it meanwhile
    return done;
  return read(download, task, faults);
}

Result<void> FileFetcher::read(FileDownload& download, const Task& task,
                               std::vector<Error>& faults) {
  const auto held = download.measure(faults);
  if (!held)
    return Failure(held.error());
  if (download.empty())
    return {};
  const auto& context = task.context;
  const FetchQuestion question{task.client.endpoint().text, download.paths(), download.bytes(),
                               *held, context.deadline};
  if (auto fault = objection(question, context)) {
    faults.push_back(std::move(*fault));
    return {};
  }
  return download.read(
      [&](std::string_view file, std::uint64_t bytes, std::uint64_t of) {
        context.tell(fmt::format("reading {} from the target: {} of {}",
                                 std::filesystem::path(file).filename().string(),
                                 in_megabytes(bytes), in_megabytes(of)));
      },
      [&](bool apart) {
        const std::lock_guard lock(mutex_);
        return apart ? store_of_this_run() : persistent_store();
      },
      faults);
}

// The reason why the files are not read after all.
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
  return too_long(); // the user took long to answer
}

bool FileFetcher::user_agrees(const FetchQuestion& question, const FetchContext& context) {
  std::unique_lock lock(question_mutex_, std::defer_lock);
  while (!lock.try_lock_for(limits::between_looks))
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
