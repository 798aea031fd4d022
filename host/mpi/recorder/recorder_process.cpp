#include "host/mpi/recorder/recorder_process.h"

#include "dll/recorder/functions.h"
#include "host/codes.h"
#include "host/mpi/recorder/record.h"
#include "host/mpi/recorder/recorded_threads.h"
#include "rsp/packet/printable.h"

#include <algorithm>

namespace mqbridge::recorder {
namespace {

/// Whether a thread is in MPI_Finalize, which may wait for other processes.
Result<bool> is_finalizing(const AddressSpace& space, const Root& root) {
  auto threads = read_threads(space, root);
  if (!threads)
    return forward(std::move(threads));
  return std::ranges::any_of(threads->in_calls, [](const RecordedThread& thread) {
    return thread.function == MQR_Finalize;
  });
}

/// A text of the target; empty if its address is 0 or cannot be read.
Result<std::string> read_text(const AddressSpace& space, std::uint64_t address, std::size_t most) {
  if (address == 0)
    return std::string();
  auto text = read_string(space.memory, {address}, most);
  if (!text && text.error().code == codes::memory_unreadable)
    return std::string();
  return text;
}

} // namespace

Result<MpiState> read_state(const AddressSpace& space) {
  auto root = read_root(space);
  if (!root)
    return forward(std::move(root));
  if (!*root)
    return MpiState::unknown;
  switch ((*root)->state) {
  case MQR_NOT_INITIALIZED:
    return MpiState::not_initialized;
  case MQR_INITIALIZED: {
    auto finalizing = is_finalizing(space, **root);
    if (!finalizing)
      return forward(std::move(finalizing));
    return *finalizing ? MpiState::finalizing : MpiState::initialized;
  }
  case MQR_FINALIZED:
    return MpiState::finalized;
  default:
    return MpiState::unknown;
  }
}

Result<ThreadLevel> read_thread_level(const AddressSpace& space) {
  auto root = read_root(space);
  if (!root)
    return forward(std::move(root));
  switch (*root ? (*root)->thread_level : static_cast<std::uint32_t>(MQR_LEVEL_UNKNOWN)) {
  case MQR_LEVEL_SINGLE:
    return ThreadLevel::single;
  case MQR_LEVEL_FUNNELED:
    return ThreadLevel::funneled;
  case MQR_LEVEL_SERIALIZED:
    return ThreadLevel::serialized;
  case MQR_LEVEL_MULTIPLE:
    return ThreadLevel::multiple;
  default:
    return ThreadLevel::unknown;
  }
}

Result<std::string> read_library(const AddressSpace& space) {
  auto root = read_root(space);
  if (!root)
    return forward(std::move(root));
  auto text = read_text(space, *root ? (*root)->library : 0, MQR_LIBRARY_SIZE);
  if (!text)
    return text;
  return printable(text->substr(0, text->find('\n')));
}

Result<std::string> read_job(const AddressSpace& space) {
  auto root = read_root(space);
  if (!root)
    return forward(std::move(root));
  auto text = read_text(space, *root ? (*root)->job : 0, MQR_JOB_SIZE);
  if (!text)
    return text;
  return printable(*text);
}

} // namespace mqbridge::recorder
