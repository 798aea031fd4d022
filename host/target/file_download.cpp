#include "host/target/file_download.h"

#include "host/limits.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t first_piece = std::size_t{16} << 10;
constexpr std::size_t first_burst = std::size_t{256} << 10;
constexpr std::size_t max_burst = std::size_t{1} << 20;

/// What concerns this file alone; anything else is the connection's.
bool concerns_the_file(const Error& error) {
  return error.code.starts_with("vfile.") || error.code.starts_with("elf.") ||
         error.code.starts_with("files.");
}

/// Where a file may be, best first.
std::vector<rsp::RemotePath> places_of(const WantedFile& file, std::int64_t pid) {
  if (pid == 0)
    return {{file.path}};
  std::vector<rsp::RemotePath> places;
  // What the process runs, also where another file has its name by now.
  if (file.is_executable)
    places.push_back({fmt::format("/proc/{}/exe", pid)});
  places.push_back({file.path, pid});
  places.push_back({fmt::format("/proc/{}/root{}", pid, file.path)});
  places.push_back({file.path});
  return places;
}

Error about(const WantedFile& file, Error error) {
  error.message = fmt::format("{} was read from the target: {}", file.path, error.message);
  return error;
}

struct Search {
  WantedFile* file = nullptr;
  std::vector<rsp::RemotePath> places = {};
  std::optional<Error> fault = {}; ///< of the last place tried
  bool found = false;
};

double seconds_since(Clock::time_point start) {
  return std::max(std::chrono::duration<double>(Clock::now() - start).count(), 1e-6);
}

} // namespace

Result<void> FileDownload::open(std::int64_t pid, std::span<WantedFile> wanted,
                                std::vector<Error>& faults) {
  std::vector<Search> searches;
  for (auto& file : wanted) {
    auto& search = searches.emplace_back(Search{&file, places_of(file, pid)});
    std::erase_if(search.places, [this](const rsp::RemotePath& place) {
      return place.path.size() > rsp::longest_path(client_);
    });
    if (search.places.empty())
      search.fault = Error{"vfile.open",
                           fmt::format("the path of a file of the target, of {} bytes, does not "
                                       "fit into the stub's packets",
                                       file.path.size()),
                           "give a directory tree with the node's own files: --sysroot DIR"};
  }
  for (std::size_t round = 0;; ++round) {
    std::vector<Search*> asked;
    std::vector<rsp::RemotePath> places;
    for (auto& search : searches) {
      if (search.found || round >= search.places.size())
        continue;
      asked.push_back(&search);
      places.push_back(search.places[round]);
    }
    if (asked.empty())
      break;
    auto opened = rsp::open_files(client_, places);
    if (!opened)
      return forward(std::move(opened));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      auto& file = (*opened)[i];
      asked[i]->found = file.has_value();
      if (file)
        files_.push_back({asked[i]->file, std::move(*file)});
      else
        asked[i]->fault = std::move(file).error();
    }
  }
  for (auto& search : searches)
    if (!search.found && search.fault)
      faults.push_back(std::move(*search.fault));
  drop_excess(faults);
  return {};
}

// What a target says of its own files is not trusted: it could fill this host's disk.
void FileDownload::drop_excess(std::vector<Error>& faults) {
  std::uint64_t total = 0;
  for (auto file = files_.begin(); file != files_.end();) {
    const auto size = file->remote.size;
    if (size <= limits::fetched_file && total + size <= limits::fetched_files) {
      total += size;
      ++file;
      continue;
    }
    faults.push_back(
        {"vfile.too_large",
         fmt::format("{} on the target has {} bytes: no more than {} of one file are "
                     "read, and {} of all",
                     file->wanted->path, size, limits::fetched_file, limits::fetched_files),
         "copy it, and give the directory tree that it is in: --sysroot DIR"});
    not_wanted_.push_back(file->remote);
    file = files_.erase(file);
  }
}

std::uint64_t FileDownload::bytes() const {
  std::uint64_t total = 0;
  for (const auto& file : files_)
    total += file.remote.size;
  return total;
}

std::vector<std::string> FileDownload::paths() const {
  std::vector<std::string> paths;
  for (const auto& file : files_)
    paths.push_back(file.wanted->path);
  return paths;
}

// One piece, which a serial line takes seconds for; then, unless it was one, a burst, since a
// single piece measures the round trip.
Result<void> FileDownload::read_head() {
  for (const auto size : {first_piece, first_burst}) {
    const auto start = Clock::now();
    auto bytes = rsp::read_file_at(client_, files_.front().remote, head_.size(), size);
    if (!bytes)
      return forward(std::move(bytes));
    head_ += *bytes;
    const auto took = seconds_since(start);
    bytes_per_second_ = std::max(bytes_per_second_, static_cast<double>(bytes->size()) / took);
    if (took > 0.1)
      break;
  }
  return {};
}

Result<std::chrono::milliseconds> FileDownload::measure(std::vector<Error>& faults) {
  while (!files_.empty()) {
    auto done = read_head();
    if (done)
      break;
    if (!concerns_the_file(done.error()))
      return forward(std::move(done));
    head_.clear();
    faults.push_back(about(*files_.front().wanted, std::move(done).error()));
    not_wanted_.push_back(std::move(files_.front().remote));
    files_.erase(files_.begin());
  }
  const auto rest = bytes() - std::min<std::uint64_t>(bytes(), head_.size());
  const auto seconds = static_cast<double>(rest) / std::max(bytes_per_second_, 1.0);
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

Result<void> FileDownload::read(const Progress& progress, const StoreFor& store_for,
                                std::vector<Error>& faults) {
  for (const auto& file : files_) {
    const auto head = std::exchange(head_, {});
    auto store = store_for(*file.wanted);
    auto kept = store ? read_file(file, head, **store, progress)
                      : Result<std::filesystem::path>(forward(std::move(store)));
    if (kept) {
      file.wanted->found = std::move(*kept);
      continue;
    }
    if (!concerns_the_file(kept.error()))
      return forward(std::move(kept));
    faults.push_back(about(*file.wanted, std::move(kept).error()));
  }
  return {};
}

Result<std::filesystem::path> FileDownload::read_file(const Open& file, const std::string& head,
                                                      const FileStore& store,
                                                      const Progress& progress) {
  auto incoming = store.begin();
  if (!incoming)
    return forward(std::move(incoming));
  if (auto done = incoming->append(head); !done)
    return forward(std::move(done));
  for (std::uint64_t at = head.size(); at < file.remote.size;) {
    progress(file.wanted->path, at, file.remote.size);
    // About half a second's worth: progress is seen to move, and an interrupt is heard.
    const auto half_second = static_cast<std::uint64_t>(bytes_per_second_ / 2);
    const auto burst = std::clamp<std::uint64_t>(half_second, first_piece, max_burst);
    const auto wanted = std::min<std::uint64_t>(burst, file.remote.size - at);
    auto bytes = rsp::read_file_at(client_, file.remote, at, static_cast<std::size_t>(wanted));
    if (!bytes)
      return forward(std::move(bytes));
    if (bytes->empty())
      return fail("vfile.read", fmt::format("it ends after {} of {} bytes", at, file.remote.size),
                  "it is being replaced on the node: dump again when that is done");
    if (auto done = incoming->append(*bytes); !done)
      return forward(std::move(done));
    at += bytes->size();
  }
  return store.keep(std::move(*incoming), file.wanted->build_id);
}

Result<void> FileDownload::close() {
  for (auto& file : std::exchange(files_, {}))
    not_wanted_.push_back(std::move(file.remote));
  return rsp::close_files(client_, std::exchange(not_wanted_, {}));
}

} // namespace mqbridge
