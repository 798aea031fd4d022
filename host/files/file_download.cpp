#include "host/files/file_download.h"

#include "host/codes.h"
#include "host/limits.h"
#include "host/memory/memory_map_parser.h"
#include "rsp/commands/vfile.h"
#include "rsp/seconds.h"

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

/// Whether the error concerns this file alone; otherwise it concerns the connection.
bool concerns_the_file(const Error& error) {
  return error.code.starts_with(codes::of_vfile) || error.code.starts_with(codes::of_elf) ||
         error.code.starts_with(codes::of_files);
}

constexpr const char* give_sysroot =
    "give a directory tree with the node's own files: --sysroot DIR";

/// The places where the file may be, best first. The first two are the very file that is mapped,
/// whatever file has its name by now; the second one takes privileges. If ld.so was told to start
/// the program, the first one is ld.so.
std::vector<rsp::RemotePath> places_of(const WantedFile& file, std::int64_t pid,
                                       const std::optional<MappedFile>& mapped) {
  std::vector<rsp::RemotePath> places;
  if (file.is_executable)
    places.push_back({fmt::format("/proc/{}/exe", pid), 0,
                      mapped ? std::optional(mapped->inode) : std::nullopt});
  if (!mapped)
    return places;
  places.push_back({fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapped->first.value,
                                mapped->last.value + 1)});
  if (mapped->is_deleted || mapped->is_ambiguous)
    return places;
  places.push_back({mapped->path, pid, mapped->inode});
  places.push_back({fmt::format("/proc/{}/root{}", pid, mapped->path), 0, mapped->inode});
  return places;
}

/// Why the file cannot be looked for by its name.
std::optional<Error> why_unnamed(const WantedFile& file, const std::optional<MappedFile>& mapped) {
  if (!mapped)
    return Error{"vfile.not_mapped",
                 fmt::format("{} is not read from the target: no file is mapped at {:#x}, where it "
                             "is said to be loaded",
                             file.path, file.header.value),
                 give_sysroot};
  if (mapped->is_deleted)
    return Error{"vfile.replaced",
                 fmt::format("{} is not read from the target: it was removed or replaced since the "
                             "process loaded it, and what has its name now may hang the stub",
                             file.path),
                 "give a directory tree with the file that runs: --sysroot DIR"};
  if (mapped->is_ambiguous)
    return Error{"vfile.ambiguous",
                 fmt::format("{} is not read from the target: the kernel shows a line's end in a "
                             "name as it shows \\012, and another file may have the other name",
                             file.path),
                 give_sysroot};
  return std::nullopt;
}

Error about(const WantedFile& file, Error error) {
  error.message = fmt::format("{} was read from the target: {}", file.path, error.message);
  return error;
}

struct Search {
  WantedFile* file = nullptr;
  std::vector<rsp::RemotePath> places = {};
  std::optional<Error> unnamed = {}; ///< why its name is not among them
  std::optional<Error> fault = {};   ///< of the last place tried
  std::optional<rsp::RemoteFile> found = {};
};

std::vector<Search> searches_for(std::span<WantedFile> wanted, std::int64_t pid,
                                 std::string_view maps, std::size_t longest_path) {
  std::vector<Search> searches;
  for (auto& file : wanted) {
    const auto mapped = find_mapped_file(maps, file.header);
    auto& search = searches.emplace_back(
        Search{&file, places_of(file, pid, mapped), why_unnamed(file, mapped)});
    std::erase_if(search.places,
                  [&](const rsp::RemotePath& place) { return place.path.size() > longest_path; });
    if (search.places.empty())
      search.fault = Error{"vfile.open",
                           fmt::format("the path of a file of the target, of {} bytes, does not "
                                       "fit into the stub's packets",
                                       file.path.size()),
                           give_sysroot};
  }
  return searches;
}

/// Opens the best place of each file in one burst, then the next one for files that were not there.
Result<void> open_first_places(rsp::Client& client, std::vector<Search>& searches) {
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
      return {};
    auto opened = rsp::open_files(client, places);
    if (!opened)
      return forward(std::move(opened));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (auto& file = (*opened)[i])
        asked[i]->found = std::move(*file);
      else
        asked[i]->fault = std::move(file).error();
    }
  }
}

double seconds_since(Clock::time_point start) {
  return std::max(in_seconds(Clock::now() - start), 1e-6);
}

} // namespace

FileOrigin FileDownload::Open::origin() const {
  return {wanted->build_id, remote.inode, remote.size, remote.modified, remote.changed};
}

// nullopt: they cannot be read, which is in `faults`.
Result<std::optional<std::string>> FileDownload::read_maps(std::int64_t pid,
                                                           std::vector<Error>& faults) {
  const auto unknown = [&](std::string_view why) {
    faults.push_back({"vfile.no_maps",
                      fmt::format("no file is read from the target, since nothing shows which may "
                                  "be opened safely: {}",
                                  why),
                      give_sysroot});
    return std::optional<std::string>();
  };
  if (pid == 0)
    return unknown(fmt::format("{} does not say which process it holds", client_.endpoint().text));
  auto maps = rsp::read_file(client_, fmt::format("/proc/{}/maps", pid), limits::maps);
  if (maps)
    return std::optional(std::move(*maps));
  const auto& error = maps.error();
  if (concerns_the_file(error) || error.code == codes::stub_garbage ||
      error.code == codes::stub_trickles)
    return unknown(error.message);
  return Failure(error);
}

Result<void> FileDownload::open(std::int64_t pid, std::span<WantedFile> wanted,
                                std::vector<Error>& faults) {
  const auto maps = read_maps(pid, faults);
  if (!maps)
    return Failure(maps.error());
  if (!*maps)
    return {};
  auto searches = searches_for(wanted, pid, **maps, rsp::longest_path(client_));
  if (auto done = open_first_places(client_, searches); !done)
    return done;
  for (auto& search : searches) {
    if (search.found)
      files_.push_back({search.file, std::move(*search.found), search.file->build_id.empty()});
    else if (auto& fault = search.unnamed ? search.unnamed : search.fault)
      faults.push_back(std::move(*fault));
  }
  drop_excess(faults);
  return {};
}

// A target's statements about its own files are not trusted: it could fill this host's disk.
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

Result<void> FileDownload::take_kept(const Find& find, const Agrees& agrees) {
  for (auto file = files_.begin(); file != files_.end();) {
    auto kept = file->apart ? std::nullopt : find(file->origin());
    if (kept) {
      const auto same = agrees(*file->wanted, *kept);
      if (!same)
        return Failure(same.error());
      file->apart = !*same;
    }
    if (!kept || file->apart) {
      ++file;
      continue;
    }
    file->wanted->found = std::move(*kept);
    not_wanted_.push_back(file->remote);
    file = files_.erase(file);
  }
  return {};
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

std::vector<std::string> FileDownload::shared_builds() const {
  std::vector<std::string> builds;
  for (const auto& file : files_)
    if (!file.apart)
      builds.push_back(file.wanted->build_id);
  return builds;
}

// Reads one piece, which takes seconds on a serial line. Unless the link is that slow, a burst
// follows, since a single piece only measures the round trip.
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
    auto store = store_for(file.apart);
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
    // A piece takes about half a second, so that progress is visible and an interrupt is noticed.
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
  return file.apart ? store.keep_apart(std::move(*incoming), file.wanted->build_id)
                    : store.keep(std::move(*incoming), file.origin());
}

Result<void> FileDownload::close() {
  for (auto& file : std::exchange(files_, {}))
    not_wanted_.push_back(std::move(file.remote));
  return rsp::close_files(client_, std::exchange(not_wanted_, {}));
}

} // namespace mqbridge
