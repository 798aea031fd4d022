#include "host/dump/rank/rank_mpi.h"

#include "host/codes.h"
#include "host/disk/file_name.h"
#include "host/dump/rank/select_types.h"
#include "host/launch/node.h"
#include "host/limits.h"
#include "host/memory/digest.h"
#include "host/mpi/launcher_programs.h"
#include "host/mpi/mpi_roots.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/preload/recorder_files.h"

#include <fmt/format.h>

namespace mqbridge {
namespace {

std::string with(std::string hint, const std::optional<std::string>& entry_hint) {
  return entry_hint ? hint + "\n" + *entry_hint : hint;
}

} // namespace

Result<void> RankMpi::identify(const std::optional<std::string>& entry_hint) {
  if (auto loaded = process_.load_images(warnings_); !loaded)
    return loaded;
  if (auto done = process_.preload(mpi_root_pages(process_.images())); !done)
    return done;
  auto mpi = identify_mpi(process_.space());
  if (!mpi)
    return forward(std::move(mpi));
  if (!*mpi) {
    if (starts_jobs())
      return fail("mpi.launcher",
                  fmt::format("{}: {} starts the ranks of a job, and is none of them",
                              dump_.endpoint, dump_.executable.value_or("the process")),
                  fmt::format("for all ranks that it has started: mqbridge dump --mpirun {}",
                              launcher_name()));
    std::string hint = process_.is_alive()
                           ? "check the process id; files of another machine: --sysroot DIR"
                           : "check which program left this core; files of another machine: "
                             "--sysroot DIR";
    if (process_.reads_files() && options_.fetch.mode != FetchMode::always)
      hint += ", or --fetch-files always";
    return fail("mpi.not_found",
                fmt::format("{}: {} is no MPI program, or its MPI library is not on this host",
                            dump_.endpoint, dump_.executable.value_or("the process")),
                with(std::move(hint), entry_hint));
  }
  library_ = std::move(**mpi);
  auto& info = dump_.mpi.emplace();
  info.name = library_.name;
  info.version = library_.version;
  if (library_.image != nullptr && library_.image->file &&
      !library_.image->file->build_id().empty())
    info.build_id = library_.image->file->build_id();
  return read_state(entry_hint);
}

/// By its name, or by the table that debuggers look for.
bool RankMpi::starts_jobs() const {
  const std::string_view path = dump_.executable ? *dump_.executable : std::string_view();
  const auto program = file_name(path);
  return launcher_role(program.substr(0, kept_name_bytes)) != LauncherRole::none ||
         process_.images().find_symbol("MPIR_proctable");
}

/// As --mpirun takes it.
std::string RankMpi::launcher_name() const {
  constexpr std::string_view local = "local:";
  if (dump_.endpoint.starts_with(local))
    return dump_.endpoint.substr(local.size());
  if (names_node_process(dump_.endpoint))
    return dump_.endpoint;
  return fmt::format("ssh:HOST:{}", dump_.pid ? fmt::to_string(*dump_.pid) : "PID");
}

Result<void> RankMpi::read_state(const std::optional<std::string>& entry_hint) {
  auto state = support_of(library_.provider).read_state(process_.space());
  if (!state)
    return forward(std::move(state));
  dump_.mpi->state = *state;
  auto threads = support_of(library_.provider).read_thread_level(process_.space());
  if (!threads)
    return forward(std::move(threads));
  auto unlisted = support_of(library_.provider).has_made_unlisted_requests(process_.space());
  if (!unlisted)
    return forward(std::move(unlisted));
  dump_.mpi->unlisted_requests = *unlisted;
  auto progress = support_of(library_.provider).read_progress(process_.space());
  if (!progress)
    return forward(std::move(progress));
  dump_.mpi->progress = *progress;
  // MPI_Init writes it on its way.
  if (*state != MpiState::not_initialized)
    dump_.mpi->thread_level = *threads;
  if (*state == MpiState::not_initialized)
    warnings_.push_back(
        process_.is_alive()
            ? Error{codes::mpi_not_initialized,
                    "the process has not finished MPI_Init: there are no queues yet",
                    with("dump again when it has", entry_hint)}
            : Error{codes::mpi_not_initialized,
                    "the process ended before MPI_Init had finished: there were no queues", ""});
  return {};
}

/// A digest of all variables of the library.
Result<void> RankMpi::read_waits_state() {
  if (!dump_.mpi || library_.image == nullptr || library_.image->file == nullptr ||
      !support_of_mpi(library_).facts().counts_waits)
    return {};
  dump_.mpi->waits_state.reset();
  dump_.mpi->waits_counted = library_.name == support_of_mpi(library_).facts().name;
  std::vector<std::byte> variables;
  std::optional<std::uint32_t> digest;
  for (const ElfSegment& segment : library_.image->file->segments()) {
    if (!segment.writable)
      continue;
    if (segment.memory_size > limits::library_variables)
      return {};
    variables.resize(segment.memory_size);
    auto read = process_.space().memory.read(library_.image->bias(segment.address), variables);
    if (!read)
      return forward(std::move(read));
    if (*read != variables.size())
      return {};
    digest = digest_of(variables, digest.value_or(empty_digest));
  }
  dump_.mpi->waits_state = digest;
  return {};
}

bool RankMpi::has_queues() const {
  return dump_.mpi && dump_.mpi->state != MpiState::not_initialized &&
         dump_.mpi->state != MpiState::finalized;
}

Result<void> RankMpi::find_types() {
  return find_types(library_, [this] { return process_.find_debug_information(warnings_); });
}

Result<void> RankMpi::find_types_of_mpi() {
  if (library_.recorded.empty())
    return find_types();
  auto library = library_;
  library.provider = library.recorded;
  return find_types(library, [] { return false; });
}

Result<void> RankMpi::find_types(const MpiLibrary& library,
                                 const std::function<bool()>& find_debug_information) {
  if (!support_of(library.provider).facts().dll.needs_types)
    return {};
  auto choice = select_types(process_.space(), library, options_.types_files,
                             options_.pack_directories, find_debug_information, warnings_);
  if (!choice) {
    dump_.mpi->types_match = TypesMatch::none;
    return forward(std::move(choice));
  }
  dump_.mpi->types_source = choice->source;
  dump_.mpi->types_match = choice->match;
  return {};
}

Result<void> RankMpi::read_transport() {
  auto transport = support_of(library_.provider).read_transport(process_.space());
  if (!transport)
    return forward(std::move(transport));
  dump_.mpi->transport = transport->name;
  if (transport->warning && transport->bypasses_dll) {
    bypass_ = std::move(transport->warning);
    bypass_->hint += "\nor " + recorder_hint();
  } else if (transport->warning) {
    warnings_.push_back(std::move(*transport->warning));
  }
  return {};
}

std::string RankMpi::hint_without_dll() const {
  return library_.dll_name.empty() && !options_.dll.given ? recorder_hint() : "";
}

std::string RankMpi::recorder_hint() const {
  return preload::recorder_hint(options_.dll.own_directories, library_.provider,
                                process_.platform());
}

} // namespace mqbridge
