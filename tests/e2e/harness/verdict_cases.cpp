#include "tests/e2e/harness/verdict_case.h"

#include <numeric>

namespace mqbridge::e2e {
namespace {

using Ranks = std::vector<int>;
using Kinds = std::vector<std::string>;

Ranks all(int count, int first = 0) {
  Ranks ranks(static_cast<std::size_t>(count - first));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

VerdictCase deadlock(const std::string& scenario, int ranks, const Ranks& core,
                     const Ranks& blocked = {}, const Kinds& findings = {"cycle"}) {
  return {scenario, ranks, "deadlock", core, blocked, findings};
}

VerdictCase moving(const std::string& scenario, int ranks) {
  return {scenario, ranks, "no_deadlock", {}, {}};
}

VerdictCase working(const std::string& scenario, int ranks, const Ranks& stragglers = {}) {
  VerdictCase result = moving(scenario, ranks);
  result.stragglers = stragglers;
  result.yields = false; // beside one that computes they would get no CPU, and seem not to come
  return result;
}

VerdictCase quiet(VerdictCase of, const Ranks& ranks) {
  of.quiet = ranks;
  return of;
}

/// Who waits in MPI would be deadlocked, but for a thread that sleeps beside it, or between calls.
VerdictCase sleeping_thread(const std::string& scenario, int ranks) {
  return {scenario, ranks, "undecided", {}, {}, {"unknown_wait"}};
}

/// These ranks are where the others are not.
VerdictCase odd(VerdictCase of, const Ranks& ranks) {
  of.odd = ranks;
  return of;
}

VerdictCase spawning(VerdictCase of) {
  of.spawns = true;
  return of;
}

VerdictCase suspended(VerdictCase of, int rank) {
  of.suspended = rank;
  of.findings = {"suspended"};
  return quiet(std::move(of), {rank});
}

VerdictCase guessed(VerdictCase of) {
  of.confidence = "possible";
  return of;
}

VerdictCase certain(VerdictCase of) {
  of.confidence = "certain";
  return of;
}

VerdictCase perhaps_undecided(VerdictCase of) {
  of.may_be_undecided = true;
  return of;
}

// All that they wait for is in the queues, and all of it is seen.
std::vector<VerdictCase> deadlocks_of_messages() {
  std::vector<VerdictCase> cases = {
      deadlock("recv_ring", 2, {0, 1}),
      deadlock("recv_ring", 8, all(8)),
      odd(deadlock("one_on_another_way", 4, all(4)), {3}),
      deadlock("send_ring", 2, {0, 1}),
      deadlock("ssend_ring", 5, all(5)),
      deadlock("send_ring_and_one", 4, {0, 1, 2}, {3}),
      deadlock("long_chain", 8, {0, 1}, all(8, 2)),
      deadlock("two_deadlocks", 4, all(4)),
      deadlock("deadlock_beside_work", 4, {0, 1}),
      deadlock("sendrecv_tags", 6, all(6), {}, {"cycle", "tag_mismatch"}),
      deadlock("sendrecv_of_both", 3, {0, 2}),
      deadlock("sendrecv_receives", 3, {0, 2}),
      deadlock("wildcard_knot", 4, all(4), {}, {"knot"}),
      deadlock("wildcard_behind", 5, {0, 1, 2}, {3, 4}, {"knot"}),
      deadlock("wildcard_master", 4, all(4), {}, {"knot"}),
      deadlock("wrong_tag", 2, {0, 1}, {}, {"cycle", "tag_mismatch"}),
      deadlock("wrong_tag_rendezvous", 2, {0, 1}, {}, {"cycle", "tag_mismatch"}),
      deadlock("wrong_comm", 2, {0, 1}, {}, {"cycle", "communicator_mismatch"}),
      deadlock("wrong_source", 3, {0, 1}, {2}, {"cycle", "source_mismatch"}),
      deadlock("missing_send", 3, {0, 1}, {2}),
      deadlock("missing_recv", 2, {0, 1}),
      deadlock("self_recv", 2, {0}, {1}),
      deadlock("self_ssend", 3, {0}, {1}),
      deadlock("self_any", 2, {0}, {1}),
  };
  for (VerdictCase& each : cases)
    each = certain(each);
  return cases;
}

/// These processes make no requests that no list shows.
VerdictCase certain_by_requests(VerdictCase of) {
  return of.confidence == "possible" ? of : certain(std::move(of));
}

std::vector<VerdictCase> deadlocks_of_waits() {
  std::vector<VerdictCase> cases = {
      deadlock("sendrecv_chain", 4, all(4), {}, {"cycle", "source_mismatch"}),
      deadlock("waitall_one_left", 3, {0, 2}, {1}), deadlock("waitall_sends", 3, all(3)),
      deadlock("waitall_ibarrier", 3, {0, 1}, {2}), deadlock("waitall_iallreduce", 2, {0, 1}),
      deadlock("waitany_knot", 3, all(3), {}, {"knot"}),
      guessed(deadlock("waitany_ibarrier", 2, {0, 1})),
      deadlock("waitsome_knot", 4, {0, 1, 2}, {3}, {"knot", "source_mismatch"}),
      deadlock("probe_ring", 2, {0, 1}), deadlock("mprobe_ring", 3, all(3)),
      deadlock("probe_knot", 3, all(3), {}, {"knot"}),
      deadlock("never_started", 2, {0, 1}, {}, {"cycle", "never_started"}),
      guessed(deadlock("test_loops", 2, {0, 1}, {}, {"cycle", "polling"})),
      deadlock("wait_ring", 3, all(3)), deadlock("wait_issend", 2, {0, 1}),
      deadlock("wait_ibarrier", 2, {0, 1}),
      deadlock("persistent_again", 2, {0, 1}, {}, {"cycle", "never_started"}),
      deadlock("persistent_again_both", 2, {0, 1}, {}, {"cycle", "never_started"}),
      deadlock("persistent_other_tag", 3, all(3)),
      // Here there was one, which is complete. But MPI_Wait's functions keep another request.
      deadlock("wait_after_generalized", 2, {0, 1}),
      deadlock("wait_second", 3, {0, 2}), // two are pending
  };
  for (VerdictCase& each : cases)
    each = certain_by_requests(each);
  return cases;
}

std::vector<VerdictCase> deadlocks_of_collectives() {
  return {
      deadlock("order_of_collectives", 2, {0, 1}, {},
               {"cycle", "collective_mismatch", "collective_order"}),
      deadlock("order_of_communicators", 2, {0, 1}, {}, {"cycle", "collective_order"}),
      deadlock("order_of_communicators", 4, all(4), {}, {"knot", "collective_order"}),
      deadlock("ring_of_pairs", 4, all(4), {}, {"cycle", "collective_order"}),
      deadlock("roots_of_bcast", 2, {0, 1}),
      deadlock("roots_of_reduce", 2, {0, 1}),
      odd(deadlock("bcast_against_recv", 4, {0, 1}, {2, 3}), {0}),
      deadlock("bcast_large_against_recv", 3, {0, 1}, {2}),
      deadlock("gather_against_recv", 3, {0, 1}, {2}),
      deadlock("scan_against_recv", 3, {1, 2}, {0}),
      deadlock("alltoall_against_ssend", 2, {0, 1}),
      certain_by_requests(deadlock("order_of_ibcasts", 2, {0, 1})),
      certain_by_requests(deadlock("order_of_ibarriers", 2, {0, 1})),
      certain_by_requests(deadlock("iallreduce_against_recv", 2, {0, 1})),
      odd(deadlock("barrier_behind", 8, {0, 1}, all(8, 2)), {0, 1}),
      certain(deadlock("fence_against_recv", 2, {0, 1})),
      certain(deadlock("fence_of_created", 2, {0, 1})),
      certain(deadlock("write_against_close", 4, all(4), {}, {"cycle", "collective_order"})),
  };
}

std::vector<VerdictCase> deadlocks_of_groups_and_threads() {
  return {
      deadlock("inter_recv", 4, {0, 1}, {2, 3}),
      deadlock("inter_any", 4, all(4), {}, {"knot"}),
      deadlock("inter_barrier", 3, {0, 1}, {2}),
      deadlock("inter_bcast", 4, {0, 1}, {2, 3}),
      odd(deadlock("merge_against_recv", 4, {0, 1, 3}, {2}), {3}),
      spawning(deadlock("spawned", 2, {0}, {1})),
      spawning(deadlock("connected", 2, {1}, {0})),
      spawning(deadlock("grown", 2, {0, 1})),
      certain(deadlock("comm_dup_by_some", 3, {0, 1}, {2})),
      certain(deadlock("comm_split_by_some", 3, {0, 1}, {2})),
      quiet(deadlock("early_exit", 3, {0}, {1}, {"partner_gone"}), {2}),
      quiet(deadlock("early_exit_any", 3, {0, 1}, {}, {"cycle"}), {2}),
      quiet(deadlock("finalize_by_some", 3, {0}, {1, 2}, {"partner_finalized"}), {1, 2}),
      quiet(deadlock("finalize_by_all_others", 3, {0}, {1, 2}, {"partner_finalized"}), {1, 2}),
      deadlock("threads_all_blocked", 2, {0, 1}),
      deadlock("threads_send_and_recv", 2, {0, 1}, {}, {"cycle", "tag_mismatch"}),
      deadlock("threads_joined", 2, {0, 1}),
      deadlock("threads_funneled", 2, {0, 1}),
  };
}

std::vector<VerdictCase> with_somebody_at_work() {
  return {
      working("compute_before_send", 2, {1}),
      working("compute_before_send", 8, {7}),
      quiet(working("sleep_before_send", 2, {1}), {1}),
      suspended(working("compute_before_send", 2), 1),
      working("sendrecv_beside_isend", 3, {1}),
      working("sendrecv_beside_irecv", 3, {1}),
      // A receive is pending, and nothing tells that it is not of this exchange.
      perhaps_undecided(working("sendrecv_from_nobody", 3, {1})),
      working("late_receiver", 2),
      working("needs_progress", 2),
      working("straggler", 8, {7}),
      working("straggler_of_allreduce", 4, {1}),
      working("straggler_of_comm_dup", 3, {1}),
      working("fence_late", 3, {1}),
      working("write_late", 3, {2}),
      working("pending_receives", 3),
      working("idle_clients", 4),
      working("one_client_works", 4, {3}),
      working("waitany_one_works", 3, {2}),
      working("wait_first", 3, {1}),
      working("ibarrier_inside", 3, {2}),
      working("test_loop", 2),
      working("iprobe_server", 3),
      working("probe_late", 2, {1}),
      quiet({"reads_a_pipe", 2, "undecided", {}, {}, {"unknown_wait"}}, {1}),
      odd(quiet({"reads_a_pipe", 4, "undecided", {}, {}, {"unknown_wait"}}, {3}), {3}),
      quiet({"pingpong_beside_pause", 3, "no_deadlock", {}, {}, {"unknown_wait"}, "possible"}, {2}),
      quiet({"all_pause", 2, "undecided", {}, {}, {"unknown_wait"}}, {0, 1}),
      working("test_and_sleep", 2),
      quiet(working("pending_and_asleep", 3), {0, 1, 2}),
      spawning(working("spawned_work", 2)),
      quiet(working("early_exit_unneeded", 3), {2}),
      quiet(working("finalize_late", 4, {0}), {1, 2, 3}),
      quiet(working("finalize_with_work", 3), {0, 2}),
      working("thread_works", 2),
      sleeping_thread("threads_logger", 4),
      sleeping_thread("threads_heartbeat", 2),
      quiet(sleeping_thread("test_loops_asleep", 4), all(4)),
      guessed(working("generalized_request", 3)),
  };
}

std::vector<VerdictCase> with_all_moving() {
  return {
      moving("pingpong", 2),
      moving("pingpong", 8),
      perhaps_undecided(suspended(moving("pingpong", 2), 1)),
      moving("pingpong_any", 2),
      moving("pingpong_large", 2),
      moving("pingpong_ssend", 2),
      moving("pingpong_probe", 2),
      moving("pingpong_mprobe", 2),
      moving("pingpong_wait", 2),
      moving("pingpong_test", 2),
      moving("pingpong_persistent", 2),
      moving("pingpong_inter", 4),
      moving("token_ring", 4),
      moving("three_tokens", 8),
      moving("pipeline", 4),
      moving("slow_sender", 2),
      moving("busy_server", 4),
      moving("barrier_storm", 8),
      moving("allreduce_storm", 4),
      moving("bcast_storm", 4),
      moving("alltoall_storm", 6),
      // It is not visible what a wait is for whose request is complete.
      perhaps_undecided(moving("ibarrier_storm", 4)),
      moving("mixed_storm", 5),
      moving("halo_sendrecv", 6),
      moving("halo_waitall", 6),
      moving("halo_large", 2),
      perhaps_undecided(moving("passive_target", 2)),
  };
}

VerdictCase without_counters(VerdictCase of) {
  of.may_be_undecided = true;
  of.may_be_possible = true;
  return of;
}

} // namespace

const std::vector<VerdictCase>& verdict_cases() {
  static const std::vector<VerdictCase> cases = [] {
    std::vector<VerdictCase> together;
    for (const auto& some :
         {deadlocks_of_messages(), deadlocks_of_waits(), deadlocks_of_collectives(),
          deadlocks_of_groups_and_threads(), with_somebody_at_work(), with_all_moving()})
      together.insert(together.end(), some.begin(), some.end());
    return together;
  }();
  return cases;
}

std::vector<VerdictCase> mpich_verdict_cases() {
  std::vector<VerdictCase> cases = {
      deadlock("recv_ring", 2, {0, 1}),
      deadlock("long_chain", 4, {0, 1}, {2, 3}),
      deadlock("two_deadlocks", 4, all(4)),
      deadlock("deadlock_beside_work", 4, {0, 1}),
      deadlock("wildcard_knot", 3, all(3), {}, {"knot"}),
      deadlock("wildcard_behind", 5, {0, 1, 2}, {3, 4}, {"knot"}),
      deadlock("wildcard_master", 4, all(4), {}, {"knot"}),
      deadlock("self_recv", 2, {0}, {1}),
      deadlock("waitall_one_left", 3, {0, 2}, {1}),
      deadlock("waitall_sends", 3, all(3)),
      deadlock("missing_send", 3, {0, 1}, {2}),
      deadlock("order_of_communicators", 2, {0, 1}, {}, {"cycle", "collective_order"}),
  };
  for (VerdictCase& each : cases)
    each = guessed(each);
  const std::vector<VerdictCase> others = {
      working("compute_before_send", 2, {1}),
      working("pending_receives", 3),
      working("idle_clients", 3),
      working("one_client_works", 4, {3}),
      without_counters(moving("waitany_one_works", 3)),
      without_counters(moving("pingpong", 2)),
      guessed(moving("pingpong_rounds", 2)), // its stack tells that it goes on
      without_counters(moving("token_ring", 3)),
      without_counters(moving("barrier_storm", 3)),
  };
  cases.insert(cases.end(), others.begin(), others.end());
  return cases;
}

} // namespace mqbridge::e2e
