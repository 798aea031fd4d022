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

namespace mqbridge::worker {

/// A type as the DLL holds it: mqs_type* points here.
struct KnownType {
  std::uint32_t handle = 0; ///< the parent's
  std::uint64_t size = 0;
  bool has_fields = false; ///< all of them; else the parent is asked for each
  std::map<std::string, std::uint64_t, std::less<>> fields = {}; ///< their offsets
};

/// What the callbacks work on. One process, one image, one DLL: one Host.
struct Host {
  Channel& channel;
  Outbox& outbox;
  wire::SharedState& shared;
  const wire::StartMessage& start;
  ParentMemory memory{channel};
  sandbox::PageView pages{&memory, &shared.touched};
  /// By name; nullopt: there is none.
  std::map<std::string, std::optional<KnownType>, std::less<>> types = {};
  std::unordered_set<const void*> known_types = {}; ///< those of `types` that the DLL has
  mqs_image_info* image_info = nullptr;
  mqs_process_info* process_info = nullptr;

  /// Keys that the DLL passes back; it never looks behind them (MQD 5.3).
  mqs_image* image() { return reinterpret_cast<mqs_image*>(this); }
  mqs_process* process() { return reinterpret_cast<mqs_process*>(this); }
};

/// From now on the callbacks serve `host`, which must outlive the DLL's last call. The basic
/// callbacks carry no context (MQD 5.6), hence one host for the process.
void serve(Host& host);

// The tables (MQD 5.6), full-length for compatibility level 3. No callback throws; each tolerates
// NULL wherever a DLL of the field was seen to pass one.
extern const mqs_basic_callbacks_3 basic_callbacks;
extern const mqs_image_callbacks image_callbacks;
extern const mqs_process_callbacks_3 process_callbacks;

} // namespace mqbridge::worker
