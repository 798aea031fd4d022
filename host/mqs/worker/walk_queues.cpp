#include "host/mqs/worker/walk_queues.h"

#include "host/mqs/worker/out_structure.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace mqbridge::worker {
namespace {

using wire::FailureKind;
using wire::QueueEnd;

/// Room behind the arrays that a DLL fills in: some DLLs write more than they should.
constexpr std::size_t spare_ranks = 1024;

std::string_view terminated(const char* text, std::size_t size) {
  return {text, ::strnlen(text, size)};
}

void encode(int op_class, const mqs_pending_operation& operation, wire::Encoder& item) {
  const wire::OperationFields fields = {
      operation.status,
      operation.desired_local_rank,
      operation.desired_global_rank,
      operation.tag_wild,
      operation.desired_tag,
      operation.desired_length,
      operation.system_buffer,
      operation.buffer,
      operation.actual_local_rank,
      operation.actual_global_rank,
      operation.actual_tag,
      operation.actual_length,
  };
  std::uint8_t lines = 0;
  while (lines < MQS_EXTRA_LINES && operation.extra_text[lines][0] != '\0')
    ++lines;
  item.put(wire::Item::operation).put(static_cast<std::uint8_t>(op_class)).put(fields).put(lines);
  for (std::uint8_t i = 0; i < lines; ++i)
    item.text(terminated(operation.extra_text[i], MQS_EXTRA_LENGTH));
}

} // namespace

std::string substitute(std::string_view message, std::string_view name) {
  std::string result;
  bool substituted = false;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const std::string_view two = message.substr(i, 2);
    if (two == "%%") {
      result += '%';
      ++i;
    } else if (two == "%s" && !substituted) {
      result += name;
      substituted = true;
      ++i;
    } else {
      result += message[i];
    }
  }
  return result;
}

std::optional<WalkFailure> QueueWalk::run() {
  if (const auto& known = host_.job.introduction)
    host_.outbox.add(*known);
  else if (auto failure = introduce())
    return failure;
  if (auto failure = set_up())
    return failure;
  return walk_communicators();
}

/// MQD 4.2, steps 3 and 4: callbacks and versions.
QueueWalk::Outcome QueueWalk::introduce() {
  dll_.call<in("mqs_setup_basic_callbacks")>(dll_->setup_basic_callbacks, &basic_callbacks.level_2);
  const std::string version = bounded(dll_.call<in("mqs_version_string")>(dll_->version_string));
  const std::int32_t level =
      dll_.call<in("mqs_version_compatibility")>(dll_->version_compatibility);
  wire::Encoder introduction;
  introduction.put(wire::Item::dll).text(version).put(level);
  host_.outbox.add(introduction);
  if (level != MQS_INTERFACE_COMPATIBILITY && level != MQS_INTERFACE_COMPATIBILITY_JOBS)
    return WalkFailure{FailureKind::version, std::to_string(level)};
  if (dll_->dll_taddr_width != nullptr) {
    const int width = dll_.call<in("mqs_dll_taddr_width")>(dll_->dll_taddr_width);
    if (width != static_cast<int>(sizeof(mqs_taddr_t)))
      return WalkFailure{FailureKind::width, std::to_string(width)};
  }
  if (level == MQS_INTERFACE_COMPATIBILITY_JOBS) {
    if (auto failure = set_up_job())
      return failure;
    host_.job.goes_on = host_.start.of_job;
  }
  host_.job.introduction = std::move(introduction);
  return std::nullopt;
}

/// Sets up level 3, which no document describes. Nothing was sent so far: if this is not the job's
/// worker, the parent lets it go no further.
QueueWalk::Outcome QueueWalk::set_up_job() {
  if (host_.start.of_job)
    host_.channel.ask(wire::Encoder().put(wire::Kind::job));
  if (dll_->setup_job == nullptr)
    return std::nullopt;
  const int code = dll_.call<in("mqs_setup_job")>(dll_->setup_job, host_.job.key(), &job_callbacks);
  return code == mqs_ok ? std::nullopt : Outcome(failed("mqs_setup_job", code));
}

/// MQD 4.2, steps 5 to 7. The mqs_setup_process_info of step 7 does not exist.
QueueWalk::Outcome QueueWalk::set_up() {
  int code = dll_.call<in("mqs_setup_image")>(dll_->setup_image, host_.image(), &image_callbacks);
  if (code != mqs_ok)
    return failed("mqs_setup_image", code);
  char* message = nullptr;
  code = dll_.call<in("mqs_image_has_queues")>(dll_->image_has_queues, host_.image(), &message);
  if (auto no = has_queues("mqs_image_has_queues", code, message))
    return no;
  code = dll_.call<in("mqs_setup_process")>(dll_->setup_process, host_.process(),
                                            &process_callbacks.level_2);
  if (code != mqs_ok)
    return failed("mqs_setup_process", code);
  message = nullptr;
  code =
      dll_.call<in("mqs_process_has_queues")>(dll_->process_has_queues, host_.process(), &message);
  return has_queues("mqs_process_has_queues", code, message);
}

QueueWalk::Outcome QueueWalk::has_queues(std::string_view function, int code, const char* message) {
  const std::string text = substitute(bounded(message), host_.start.process_name);
  if (code != mqs_ok) {
    std::string why = std::string(function) + ": " + dll_.error_string(code);
    if (!text.empty())
      why += ": " + text;
    return WalkFailure{FailureKind::no_queues, why};
  }
  const bool welcome = function == "mqs_image_has_queues";
  if (!text.empty() && !(welcome && host_.start.ignore_welcome))
    host_.outbox.note(text);
  return std::nullopt;
}

WalkFailure QueueWalk::failed(std::string_view function, int code) {
  return {FailureKind::failed, std::string(function) + ": " + dll_.error_string(code)};
}

/// MQD 4.2, steps 9 and 10.
QueueWalk::Outcome QueueWalk::walk_communicators() {
  mqs_process* process = host_.process();
  int code = dll_.call<in("mqs_update_communicator_list")>(dll_->update_communicator_list, process);
  if (code != mqs_ok)
    return failed("mqs_update_communicator_list", code);
  code =
      dll_.call<in("mqs_setup_communicator_iterator")>(dll_->setup_communicator_iterator, process);
  if (code == mqs_end_of_list)
    return std::nullopt;
  if (code != mqs_ok)
    return failed("mqs_setup_communicator_iterator", code);
  for (std::uint32_t seen = 0; code == mqs_ok; ++seen) {
    if (seen == wire::max_communicators)
      return WalkFailure{FailureKind::limit,
                         std::to_string(seen) +
                             " communicators, and mqs_next_communicator goes on"};
    if (auto failure = walk_communicator())
      return failure;
    code = dll_.call<in("mqs_next_communicator")>(dll_->next_communicator, process);
  }
  if (code == mqs_end_of_list || code == mqs_no_information)
    return std::nullopt;
  return failed("mqs_next_communicator", code);
}

QueueWalk::Outcome QueueWalk::walk_communicator() {
  OutStructure<mqs_communicator> out;
  mqs_communicator& communicator = out.value;
  communicator.local_rank = MQS_INVALID_PROCESS;
  const int code =
      dll_.call<in("mqs_get_communicator")>(dll_->get_communicator, host_.process(), &communicator);
  if (code != mqs_ok)
    return failed("mqs_get_communicator", code);
  host_.outbox.add(wire::Encoder()
                       .put(wire::Item::communicator)
                       .put(communicator.unique_id)
                       .put(communicator.local_rank)
                       .put(communicator.size)
                       .text(terminated(communicator.name, MQS_NAME_LENGTH)));
  if (dll_->get_comm_group != nullptr)
    send_group(communicator);
  for (int op_class = mqs_pending_sends; op_class <= mqs_unexpected_messages; ++op_class)
    if ((host_.start.op_classes >> op_class & 1) != 0)
      walk_queue(op_class);
  return std::nullopt;
}

/// The size comes from memory that may be garbage: nothing is allocated for an impossible size.
void QueueWalk::send_group(const mqs_communicator& communicator) {
  if (communicator.size == 0)
    return;
  const bool plausible = communicator.size > 0 && communicator.size <= wire::max_group_size;
  const auto size = static_cast<std::size_t>(plausible ? communicator.size : 0);
  if (!plausible || group_total_ + size > wire::max_group_total) {
    host_.outbox.note("communicator of size " + std::to_string(communicator.size) +
                      ": its group was not read");
    return;
  }
  group_total_ += size;
  std::vector<int> ranks(size + spare_ranks, MQS_INVALID_PROCESS);
  const int code =
      dll_.call<in("mqs_get_comm_group")>(dll_->get_comm_group, host_.process(), ranks.data());
  if (code != mqs_ok)
    return;
  for (std::size_t from = 0; from < size; from += wire::max_group_chunk) {
    const std::size_t count = std::min(size - from, wire::max_group_chunk);
    host_.outbox.add(wire::Encoder()
                         .put(wire::Item::group)
                         .bytes(std::as_bytes(std::span(ranks).subspan(from, count))));
  }
}

/// MQD 4.2, step 11, for one queue. Any non-zero code ends it, and next is not called again.
void QueueWalk::walk_queue(int op_class) {
  int code = dll_.call<in("mqs_setup_operation_iterator")>(dll_->setup_operation_iterator,
                                                           host_.process(), op_class);
  if (code == mqs_no_information)
    return end_queue(op_class, QueueEnd::not_provided);
  OutStructure<mqs_pending_operation> out;
  wire::Encoder item;
  std::uint64_t seen = 0;
  while (code == mqs_ok) {
    out.clear();
    auto& operation = out.value;
    operation.desired_local_rank = operation.desired_global_rank = MQS_INVALID_PROCESS;
    operation.actual_local_rank = operation.actual_global_rank = MQS_INVALID_PROCESS;
    code = dll_.call<in("mqs_next_operation")>(dll_->next_operation, host_.process(), &operation);
    if (code != mqs_ok)
      break;
    if (seen == host_.start.max_operations)
      return end_queue(op_class, QueueEnd::truncated);
    item.clear();
    encode(op_class, operation, item);
    host_.outbox.add(item);
    ++seen;
  }
  if (code == mqs_no_information && seen == 0)
    return end_queue(op_class, QueueEnd::not_provided);
  if (code == mqs_end_of_list || code == mqs_no_information)
    return end_queue(op_class, QueueEnd::complete);
  end_queue(op_class, QueueEnd::error, dll_.error_string(code));
}

void QueueWalk::end_queue(int op_class, QueueEnd end, std::string_view text) {
  host_.outbox.add(wire::Encoder()
                       .put(wire::Item::queue)
                       .put(static_cast<std::uint8_t>(op_class))
                       .put(end)
                       .text(text));
}

void destroy_infos(DebugDll& dll, Job& job) {
  job.is_over = true;
  for (const Host* host : job.processes)
    if (host->process_info != nullptr && dll->destroy_process_info != nullptr)
      dll.call<in("mqs_destroy_process_info")>(dll->destroy_process_info, host->process_info);
  if (job.info != nullptr && dll->destroy_job_info != nullptr)
    dll.call<in("mqs_destroy_job_info")>(dll->destroy_job_info, job.info);
  for (const Host* host : job.processes)
    if (host->image_info != nullptr && dll->destroy_image_info != nullptr)
      dll.call<in("mqs_destroy_image_info")>(dll->destroy_image_info, host->image_info);
}

} // namespace mqbridge::worker
