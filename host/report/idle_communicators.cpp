#include "host/report/idle_communicators.h"

#include "host/mpi/mpi_support.h"
#include "host/report/fitted_text.h"
#include "host/report/queue_words.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// Every rank has a communicator of its own of that name, such as MPI_COMM_SELF.
bool is_of_one_process(const Communicator& communicator) {
  return communicator.size <= 1 && communicator.kind != CommunicatorKind::inter;
}

std::string identity(const Communicator& communicator) {
  return is_of_one_process(communicator) ? "self " + communicator.name : "key " + communicator.key;
}

/// True if at least one queue was read, and all that were read are empty. Queues with a
/// common_state() are skipped: the report names them once a rank.
bool is_idle(const RankDump& rank, const Communicator& communicator) {
  bool read = false;
  for (const OpClass op_class : op_classes) {
    if (!common_state(rank, op_class).empty())
      continue;
    const Queue& queue = communicator.queue(op_class);
    if (!queue.operations.empty() || !short_state(rank, queue).empty() ||
        queue.total.value_or(1) != 0)
      return false;
    read = true;
  }
  return read;
}

std::string listed_name(const Communicator& communicator) {
  const std::string name = display_name(communicator);
  return is_of_one_process(communicator) ? name : printable(communicator.key) + " " + name;
}

} // namespace

IdleCommunicators::IdleCommunicators(const TextContext& context) {
  if (context.options.full)
    return;
  for (const RankDump& rank : context.dump.ranks) {
    all_read_ = all_read_ && !rank.communicators.empty() && !was_cut_short(rank);
    const auto& of_dll = support_of(rank.dll ? rank.dll->provider : "").facts().dll;
    lists_all_ = lists_all_ && (!rank.dll || of_dll.lists_all);
    for (const Communicator& communicator : rank.communicators)
      if (!is_idle(rank, communicator))
        busy_.insert(identity(communicator));
  }
  for (const RankDump& rank : context.dump.ranks)
    for (const Communicator& communicator : rank.communicators)
      if (const std::string key = identity(communicator); !busy_.contains(key))
        if (idle_.insert(key).second)
          names_.push_back(listed_name(communicator));
}

bool IdleCommunicators::contains(const Communicator& communicator) const {
  return idle_.contains(identity(communicator));
}

void IdleCommunicators::write(const TextContext& context) const {
  constexpr std::size_t most = 40;
  if (names_.empty())
    return;
  const bool several = context.dump.ranks.size() > 1;
  std::string text = lists_all_ ? "empty" : "nothing that the debug DLL lists";
  if (several)
    text += std::string(lists_all_ ? ", on every rank" : ", on any rank") +
            (all_read_ ? "" : " that was read");
  text += ":";
  for (std::size_t i = 0; i < std::min(names_.size(), most); ++i)
    text += (i == 0 ? " " : ", ") + names_[i];
  if (names_.size() > most)
    text += fmt::format(" and {} more", names_.size() - most);
  context.line();
  for (const std::string& line : wrap_words(text, context.options.width))
    context.line(line);
}

} // namespace mqbridge
