#include "host/analysis/group_waits.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// One member of a group.
struct Element {
  WaitNode node = WaitGraph::satisfied;
  /// The process that it needs if it is not complete; `satisfied`: `node` has that already.
  WaitNode suspect = WaitGraph::satisfied;
};

bool may_be_taken(const OperationAt& at) {
  const Operation& send = *at.operation;
  return at.op_class == OpClass::send && send.status == OpStatus::pending &&
         !(send.call && kind_of_send(*send.call) != SendKind::standard);
}

class GroupWait {
public:
  GroupWait(CallWait& wait, const WaitGroup& group, std::size_t process, RequestWaits& requests,
            WaitGraph& graph)
      : wait_(wait), group_(group), process_(process), requests_(requests), graph_(graph) {}

  void run() {
    take_elements();
    still_ = group_.still && !changed_;
    wait_.mode = group_.all ? WaitGraph::Mode::all : WaitGraph::Mode::any;
    wait_.node = graph_.add(wait_.mode);
    for (const Element& element : elements_)
      graph_.wait_for(wait_.node, node_of(element));
    if (still_ && group_.all)
      wait_for_a_suspect();
    if (group_.more) {
      graph_.wait_for(wait_.node, WaitGraph::unknown);
      wait_.unseen = true;
      wait_.unknown = fmt::format("all that {} waits for", *wait_.call->call);
    } else if (still_ && ends_now()) {
      say_stuck();
    }
  }

private:
  void take_elements() {
    // One of several may be complete while the call waits for the others.
    const bool alone =
        group_.still && !group_.more && group_.operations.size() + group_.collectives.size() == 1;
    for (const OperationAt& at : group_.operations) {
      if (!is_open(*at.operation))
        continue;
      wait_.operations.push_back(at);
      Element element{requests_.node_of(process_, at, alone), WaitGraph::satisfied};
      if (may_be_taken(at) && element.node != WaitGraph::satisfied)
        element.suspect = requests_.receiver_of(process_, at);
      elements_.push_back(element);
      changed_ =
          changed_ || (at.operation->status == OpStatus::matched && !requests_.was_met_before(at));
    }
    for (const CollectiveUnderWay* collective : group_.collectives) {
      wait_.collectives.push_back(collective);
      Element element{collective->node, WaitGraph::satisfied};
      const CollectiveWait& members = collective->members;
      const bool needs = members.needed != WaitGraph::satisfied;
      if (!needs && members.has_others())
        element.suspect = members.any_other;
      else if (!needs)
        element.node = WaitGraph::satisfied; // all have entered it
      elements_.push_back(element);
      changed_ = changed_ || (!needs && members.fresh);
      wait_.guessed = wait_.guessed || (!needs && group_.once && members.left);
    }
  }

  /// If several must all complete, each of them may be complete by itself.
  WaitNode node_of(const Element& element) {
    const bool alone = !group_.all || elements_.size() == 1;
    if (!still_ || !alone || element.suspect == WaitGraph::satisfied)
      return element.node;
    return graph_.both(element.node, element.suspect);
  }

  static bool surely_waits(const Element& element) {
    return element.node != WaitGraph::satisfied && element.suspect == WaitGraph::satisfied;
  }

  void wait_for_a_suspect() {
    const bool explained = std::ranges::any_of(elements_, surely_waits);
    if (explained || elements_.size() < 2)
      return;
    const WaitNode one = graph_.add(WaitGraph::Mode::any);
    bool met = false;
    bool any = false;
    for (const Element& element : elements_) {
      if (element.suspect != WaitGraph::satisfied)
        graph_.wait_for(one, element.suspect);
      met = met || element.node == WaitGraph::satisfied;
      any = any || element.suspect != WaitGraph::satisfied;
    }
    if (!any)
      return;
    if (met) // perhaps its data does not come
      graph_.wait_for(one, WaitGraph::unproven);
    graph_.wait_for(wait_.node, one);
  }

  /// Whether nothing is known that keeps the call there.
  bool ends_now() const {
    const auto is_met = [](const Element& element) { return element.node == WaitGraph::satisfied; };
    return group_.all ? std::ranges::all_of(elements_, is_met)
                      : std::ranges::any_of(elements_, is_met);
  }

  /// Notes a stuck message, unless a partner that computes will call MPI for it later.
  void say_stuck() {
    bool stuck = true;
    for (const OperationAt& at : wait_.operations) {
      const auto partner = requests_.partner_of(process_, at);
      if (!partner || !partner->process || at.operation->status != OpStatus::matched)
        continue;
      if (!requests_.both_progress(process_, *partner->process))
        stuck = false;
      else if (at.op_class == OpClass::receive)
        requests_.note_stuck(*partner->process, process_);
      else
        requests_.note_stuck(process_, *partner->process);
    }
    if (!stuck)
      return;
    wait_.node = WaitGraph::unknown;
    wait_.unseen = true;
    wait_.unknown = fmt::format("what {} still waits for", *wait_.call->call);
  }

  CallWait& wait_;
  const WaitGroup& group_;
  const std::size_t process_;
  RequestWaits& requests_;
  WaitGraph& graph_;
  std::vector<Element> elements_;
  bool changed_ = false; ///< since the look before something has come for the call
  bool still_ = false;
};

} // namespace

void wait_for_recorded(CallWait& wait, const WaitGroup& group, std::size_t process,
                       RequestWaits& requests, WaitGraph& graph) {
  GroupWait(wait, group, process, requests, graph).run();
}

} // namespace mqbridge
