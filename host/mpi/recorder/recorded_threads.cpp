#include "host/mpi/recorder/recorded_threads.h"

#include "dll/recorder/functions.h"

#include <algorithm>

namespace mqbridge::recorder {
namespace {

constexpr std::size_t most_threads = 1 << 16;

bool waits_for_any(std::uint32_t function) {
  return function == MQR_Waitany || function == MQR_Waitsome || function == MQR_Testany ||
         function == MQR_Testsome;
}

RecordedThread decode_thread(const Record& record) {
  RecordedThread thread;
  thread.thread = static_cast<std::int64_t>(record.u64(offsetof(mqr_thread, thread)));
  thread.function = record.u32(offsetof(mqr_thread, function));
  thread.communicator = record.u64(offsetof(mqr_thread, communicator));
  thread.site = record.u64(offsetof(mqr_thread, site));
  if (record.u32(offsetof(mqr_thread, has_sequence)) != 0)
    thread.sequence = record.u32(offsetof(mqr_thread, sequence));
  thread.root = record.i32(offsetof(mqr_thread, root));
  thread.wait = record.u32(offsetof(mqr_thread, wait));
  thread.needed = record.u32(offsetof(mqr_thread, needed));
  thread.unseen = record.u32(offsetof(mqr_thread, unseen));
  return thread;
}

} // namespace

Result<RecordedThreads> read_threads(const AddressSpace& space, const Root& root) {
  auto list = read_list(space, root.threads, MQR_MAGIC_THREAD, sizeof(mqr_thread), root.updating,
                        most_threads);
  if (!list)
    return forward(std::move(list));
  RecordedThreads threads;
  threads.whole = list->whole;
  for (const auto& node : list->nodes) {
    const auto record = node.record(space);
    const bool changing = record.u32(offsetof(mqr_thread, changes)) % 2 != 0;
    if (!changing && record.u32(offsetof(mqr_thread, function)) != MQR_NO_FUNCTION)
      threads.in_calls.push_back(decode_thread(record));
  }
  return threads;
}

Waits waits_of(const std::vector<RecordedThread>& threads) {
  Waits waits;
  for (const auto& thread : threads) {
    if (thread.wait == 0)
      continue;
    Waited waited;
    waited.group = thread.wait;
    waited.count = std::min(thread.needed, Waited::unknown_count) & Waited::unknown_count;
    waited.mode = waits_for_any(thread.function) ? WaitMode::any : WaitMode::all;
    waited.unseen = thread.unseen > 0;
    waits.emplace(thread.wait, waited);
  }
  return waits;
}

Waited waited_by(const Waits& waits, std::uint32_t wait) {
  const auto found = waits.find(wait);
  return found != waits.end() ? found->second : Waited();
}

std::vector<BlockedCall> calls_of(const std::vector<RecordedThread>& threads,
                                  const CommunicatorIds& ids, SitePool& sites) {
  std::vector<BlockedCall> calls;
  for (const auto& thread : threads) {
    BlockedCall call;
    call.thread = thread.thread;
    call.call = function_name(thread.function);
    if (const auto id = ids.find(thread.communicator); id != ids.end())
      call.communicator = TargetAddress{id->second};
    call.root = root_rank(thread.root);
    call.sequence = thread.sequence;
    call.group = thread.wait;
    call.site = site_at(thread.site, sites);
    calls.push_back(std::move(call));
  }
  return calls;
}

std::string function_name(std::uint32_t number) {
  const char* const name = mqr_function_name(number);
  return name != nullptr ? name : "an MPI function";
}

std::optional<std::int64_t> root_rank(std::int32_t root) {
  return root >= 0 ? std::optional<std::int64_t>(root) : std::nullopt;
}

SharedSite site_at(std::uint64_t address, SitePool& sites) {
  return address != 0 ? sites.share({TargetAddress{address}}) : nullptr;
}

} // namespace mqbridge::recorder
