#include "host/analysis/findings/findings.h"
#include "host/analysis/wait_words.h"

#include <fmt/format.h>

namespace mqbridge {
namespace {

class LostPartners {
public:
  LostPartners(const FindingInput& input, std::vector<Reason>& reasons)
      : input_(input), picture_(input.picture()), reasons_(reasons) {}

  void look_at(std::size_t process) {
    for (const CallWait& call : input_.waits.of(process).calls) {
      for (const OperationAt& at : call.operations)
        look_at(process, call, at);
      for (const CollectiveUnderWay* collective : call.collectives)
        for (const OperationAt& at : collective->operations)
          look_at(process, call, at);
    }
  }

private:
  void look_at(std::size_t process, const CallWait& call, const OperationAt& at) {
    if (at.operation->peer.any)
      return look_at_all(process, call, at);
    const auto partner = picture_.partner(process, *at.seat->communicator, at.operation->peer);
    if (!partner || !partner->process || !input_.waits.requests().does_no_more(*partner->process))
      return;
    const Process& lost = picture_.process(*partner->process);
    const bool exited = lost.presence == Presence::exited;
    const auto kind = exited ? FindingKind::partner_gone : FindingKind::partner_finalized;
    const std::string name = call.call != nullptr ? *call.call->call : "a call";
    reasons_.push_back(
        {make_finding(picture_, kind, {process},
                      fmt::format("{} waits in {} {}, and {} {}",
                                  name_of_process(picture_, process), name,
                                  operation_words(picture_, process, at),
                                  name_of_process(picture_, *partner),
                                  exited                                 ? "has exited"
                                  : lost.presence == Presence::finalized ? "has left MPI_Finalize"
                                                                         : "is in MPI_Finalize")),
         ""});
  }

  /// For a receive from anybody: whether all others have left.
  void look_at_all(std::size_t process, const CallWait& call, const OperationAt& at) {
    std::vector<std::int64_t> lost;
    std::size_t exited = 0;
    const auto count = JobPicture::members(*at.seat->communicator).value_or(0);
    for (std::int64_t rank = 0; rank < count; ++rank) {
      const auto member = picture_.member(process, *at.seat->communicator, rank);
      if (member && member->process == process)
        continue;
      if (!member || !member->process || !input_.waits.requests().does_no_more(*member->process))
        return;
      lost.push_back(member->rank);
      if (picture_.process(*member->process).presence == Presence::exited)
        ++exited;
    }
    if (lost.empty())
      return;
    const bool one = lost.size() == 1;
    const std::string_view where = exited == 0
                                       ? (one ? "is in MPI_Finalize" : "are in MPI_Finalize")
                                   : exited == lost.size() ? (one ? "has exited" : "have exited")
                                                           : "are in MPI_Finalize or have exited";
    const auto kind = exited > 0 ? FindingKind::partner_gone : FindingKind::partner_finalized;
    reasons_.push_back(
        {make_finding(picture_, kind, {process},
                      fmt::format("{} waits in {} {}, and {} {} {}",
                                  name_of_process(picture_, process),
                                  call.call != nullptr ? *call.call->call : "a call",
                                  operation_words(picture_, process, at), one ? "rank" : "ranks",
                                  range_text(lost, 6), where)),
         ""});
  }

  const FindingInput& input_;
  const JobPicture& picture_;
  std::vector<Reason>& reasons_;
};

} // namespace

void find_lost_partners(const FindingInput& input, std::vector<Reason>& reasons) {
  LostPartners finder(input, reasons);
  for (const auto& core : input.reduction.cores)
    for (const std::size_t process : core)
      finder.look_at(process);
}

} // namespace mqbridge
