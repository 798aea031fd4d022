#pragma once

#include "dll/mqs_interface.h"
#include "host/mqs/shared_state.h"
#include "host/mqs/worker/channel.h"
#include "host/mqs/worker/outbox.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace mqbridge::worker {

/// A type as the DLL holds it: mqs_type* points here.
struct KnownType {
  std::uint32_t handle = 0; ///< the parent's
  std::uint64_t size = 0;
  bool has_fields = false; ///< all of them; else the parent is asked for each
  std::map<std::string, std::uint64_t, std::less<>> fields = {}; ///< their offsets
};

struct Host;

/// The processes of a job about which the DLL is asked. The infos that the DLL has put for them are
/// kept as long as the job (level 3). Mostly there is one process.
struct Job {
  std::vector<Host*> processes = {}; ///< the last one is walked; the others cannot be read
  bool is_over = false; ///< no process can be read any more, and nobody answers questions
  mqs_job_info* info = nullptr;
  /// The Item::dll of all of them, once the DLL knows the callbacks.
  std::optional<wire::Encoder> introduction = {};
  bool goes_on = false; ///< other processes may come

  mqs_job* key() { return reinterpret_cast<mqs_job*>(this); }
};

/// The state that the callbacks work on: one process, with an image of its own.
struct Host {
  Channel& channel;
  Outbox& outbox;
  wire::SharedState& shared;
  const wire::StartMessage& start;
  Job& job;
  ParentMemory memory{channel};
  sandbox::PageView pages{&memory, &shared.touched};
  /// By name; nullopt: there is none.
  std::map<std::string, std::optional<KnownType>, std::less<>> types = {};
  std::unordered_set<const void*> known_types = {}; ///< elements of `types` that the DLL has
  std::optional<std::uint64_t> unread = {}; ///< the first fetch that failed since this was reset
  mqs_image_info* image_info = nullptr;
  mqs_process_info* process_info = nullptr;

  /// Keys that the DLL passes back; it never looks behind them (MQD 5.3).
  mqs_image* image() { return reinterpret_cast<mqs_image*>(this); }
  mqs_process* process() { return reinterpret_cast<mqs_process*>(this); }
};

/// Adds `host` to its job, and from now on the callbacks serve it. It must outlive the DLL's last
/// call. The basic callbacks carry no context (MQD 5.6), hence one host at a time.
void serve(Host& host);

// The tables (MQD 5.6), full-length for compatibility level 3. No callback throws; each tolerates
// NULL wherever a DLL of the field was seen to pass one.
extern const mqs_basic_callbacks_3 basic_callbacks;
extern const mqs_image_callbacks image_callbacks;
extern const mqs_process_callbacks_3 process_callbacks;
extern const mqs_job_callbacks job_callbacks;

} // namespace mqbridge::worker
