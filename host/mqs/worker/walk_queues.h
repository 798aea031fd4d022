#pragma once

#include "host/mqs/worker/callbacks.h"
#include "host/mqs/worker/debug_dll.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::worker {

/// Makes the calls of MQD 4.2 in their order, and puts the results into the host's outbox.
class QueueWalk {
public:
  QueueWalk(DebugDll& dll, Host& host) : dll_(dll), host_(host) {}

  /// Walks from mqs_setup_basic_callbacks to the last operation; if the DLL knows the job already,
  /// from mqs_setup_image. nullopt: all of it was walked.
  std::optional<WalkFailure> run();

private:
  using Outcome = std::optional<WalkFailure>;

  Outcome introduce();
  Outcome set_up_job();
  Outcome set_up();
  Outcome walk_communicators();
  Outcome walk_communicator();
  void send_group(const mqs_communicator& communicator);
  void walk_queue(int op_class);
  void end_queue(int op_class, wire::QueueEnd end, std::string_view text = {});

  /// A has_queues answer (MQD 5.8.2): the message may come with success, too.
  Outcome has_queues(std::string_view function, int code, const char* message);
  WalkFailure failed(std::string_view function, int code);

  DebugDll& dll_;
  Host& host_;
  std::uint64_t group_total_ = 0;
};

/// Gives the infos back to the DLL: those of the processes, the job's, and those of the images.
void destroy_infos(DebugDll& dll, Job& job);

/// `message` with its first %s replaced and %% made %. Never handed to printf: it is the DLL's.
std::string substitute(std::string_view message, std::string_view name);

} // namespace mqbridge::worker
