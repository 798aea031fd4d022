#include "host/process/live/live_process.h"

#include "host/disk/text_file.h"
#include "host/limits.h"
#include "host/memory/memory_map_parser.h"
#include "host/process/target_description.h"
#include "rsp/client/opening.h"
#include "rsp/codes.h"
#include "rsp/commands/life_check.h"
#include "rsp/commands/qxfer.h"

#include <filesystem>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {

LiveProcess::LiveProcess(rsp::Client& client, const rsp::Attachment& attachment,
                         std::shared_ptr<const ProcessRoot> root, std::int64_t pid_here)
    : client_(client), pid_(attachment.pid), root_(std::move(root)), pid_here_(pid_here),
      files_(client, attachment.pid), threads_(client, attachment), stub_(client),
      zeros_(client.features().unreadable_reads_zero
                 ? std::optional<ZeroWatch>(std::in_place, stub_)
                 : std::nullopt) {}

LiveProcess::~LiveProcess() {
  // A failed detach has nobody left to tell; the client closes the connection, and the guardian
  // watches it.
  if (auto done = release(); !done)
    return;
}

std::optional<Error> LiveProcess::doubtful_memory() const {
  if (!zeros_ || zeros_->doubtful() == 0)
    return std::nullopt;
  return Error{
      "memory.zeros",
      fmt::format("{} reads gave nothing but zeros where no image is loaded, the first at {:#x}: "
                  "this stub answers so where memory cannot be read, so that a list may seem to "
                  "end there",
                  zeros_->doubtful(), zeros_->first_doubtful()->value),
      "in OpenOCD: gdb_report_data_abort enable    (after 0.12: gdb report_data_abort enable)"};
}

void LiveProcess::expect_memory(std::span<const MappedRange> ranges) {
  if (zeros_)
    for (const auto& range : ranges)
      zeros_->expect_memory({range.first, range.last});
}

/// An object that the stub does not announce is not asked for: asking would cost a round trip.
Result<std::optional<std::string>> LiveProcess::read_announced(bool announced,
                                                               std::string_view object) {
  return announced ? rsp::read_object(client_, object, "") : std::optional<std::string>();
}

/// This is the first question of all. If attach() has not asked further questions, they leave in
/// one burst with it.
Result<std::optional<std::string>> LiveProcess::executable() {
  rsp::ask_about_process(client_);
  auto path = read_announced(client_.features().qxfer_exec_file, "exec-file");
  if (path && *path && (*path)->find('\0') != std::string::npos)
    return fail(codes::stub_garbage,
                fmt::format("{}: what the stub gives as the path of the executable has a zero "
                            "byte in it",
                            name()),
                "look at its reply to qXfer:exec-file with --trace FILE");
  // gdbserver 16 answers with this link where the file was removed, and that is no name of it.
  if (path && *path && (*path)->starts_with("/proc/") && (*path)->ends_with("/exe"))
    path->reset();
  return path;
}

// The link to the executable takes no privilege, those in map_files do.
ProcessSource::RunningFile LiveProcess::running_file(TargetAddress header) {
  if (pid_here_ == 0)
    return {};
  if (!maps_here_)
    maps_here_ = read_text_file(fmt::format("/proc/{}/maps", pid_here_), limits::maps).value_or("");
  const auto mapped = find_mapped_file(*maps_here_, header);
  if (!mapped)
    return {};
  RunningFile file;
  file.lost_its_name = mapped->is_deleted;
  // Files of two file systems may have one inode number: the name tells them apart.
  const FilePlace executable(fmt::format("/proc/{}/exe", pid_here_));
  std::error_code unknown;
  const auto name = std::filesystem::read_symlink(executable.path, unknown).string();
  const auto status = status_of(executable);
  if (status && status->st_ino == mapped->inode && name.starts_with(mapped->path))
    file.places.push_back(executable);
  file.places.emplace_back(fmt::format("/proc/{}/map_files/{:x}-{:x}", pid_here_,
                                       mapped->first.value, mapped->last.value + 1));
  return file;
}

/// A stub that somebody has started himself may hold a process of this host. The vector tells: the
/// kernel puts a process's random addresses there.
Result<std::optional<std::string>> LiveProcess::auxiliary_vector() {
  auto vector = read_announced(client_.features().qxfer_auxv, "auxv");
  if (!vector || !*vector || (*vector)->empty() || pid_here_ != 0 || !has_real_pid())
    return vector;
  const auto here = read_text_file(fmt::format("/proc/{}/auxv", pid_));
  if (!here || *here != **vector)
    return vector;
  if (auto root = ProcessRoot::of(pid_)) // else its files are looked for as those of another host
    root_ = std::move(*root);
  return vector;
}

Result<std::string> LiveProcess::architecture() {
  return client_.features().qxfer_features ? read_architecture(client_) : Result<std::string>();
}

Result<std::optional<std::vector<LoadedObject>>>
LiveProcess::loaded_objects(std::uint64_t last_address) {
  auto xml = read_announced(client_.features().qxfer_libraries_svr4, "libraries-svr4");
  if (!xml)
    return forward(std::move(xml));
  if (!*xml)
    return std::optional<std::vector<LoadedObject>>();
  auto parsed = parse_libraries_svr4(**xml, last_address);
  if (!parsed)
    return forward(std::move(parsed));
  return std::optional(std::move(*parsed));
}

void LiveProcess::advance() {
  maps_here_.reset();
  files_.advance();
}

std::optional<MemoryMap> LiveProcess::take_new_map(const Platform& platform) {
  return files_.take_new_map(platform);
}

Result<void> LiveProcess::fetch_files(FileFetcher& fetcher, std::span<WantedFile> wanted,
                                      const FileDownload::Agrees& agrees,
                                      const FetchContext& context, std::vector<Error>& faults) {
  return fetcher.fetch(client_, pid_, wanted, agrees, context, faults);
}

void LiveProcess::look_for_life() {
  rsp::look_for_life(client_);
}

Result<void> LiveProcess::release() {
  if (!attached_)
    return {};
  attached_ = false;
  files_.give_up();
  return rsp::detach(client_);
}

} // namespace mqbridge
