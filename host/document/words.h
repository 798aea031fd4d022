#pragma once

#include "host/dump/values/document.h"

#include <array>
#include <string_view>

namespace mqbridge {

template <class E>
struct Word {
  constexpr Word(E of, std::string_view written) : value(of), text(written) {}

  E value;
  std::string_view text;
};

/// The words that docs/reference/dump.schema.json has for the enumerators of E, each at its
/// enumerator's place (names.h checks that). An empty one is null in the document.
template <class E>
inline constexpr int document_words = 0; // an enumeration that is in no document

template <>
inline constexpr std::array document_words<OpClass> = {Word{OpClass::send, "send"},
                                                       Word{OpClass::receive, "receive"},
                                                       Word{OpClass::unexpected, "unexpected"}};

template <>
inline constexpr std::array document_words<OpStatus> = {
    Word{OpStatus::pending, "pending"}, Word{OpStatus::matched, "matched"},
    Word{OpStatus::complete, "complete"}, Word{OpStatus::inactive, "inactive"},
    Word{OpStatus::unknown, "unknown"}};

template <>
inline constexpr std::array document_words<OpKind> = {
    Word{OpKind::unknown, ""},    Word{OpKind::send, "send"},     Word{OpKind::receive, "receive"},
    Word{OpKind::probe, "probe"}, Word{OpKind::mprobe, "mprobe"}, Word{OpKind::message, "message"}};

template <>
inline constexpr std::array document_words<LengthUnit> = {Word{LengthUnit::bytes, "bytes"},
                                                          Word{LengthUnit::elements, "elements"},
                                                          Word{LengthUnit::unknown, "unknown"}};

template <>
inline constexpr std::array document_words<OpSource> = {Word{OpSource::dll, "dll"},
                                                        Word{OpSource::mqbridge, "mqbridge"},
                                                        Word{OpSource::recorder, "recorder"}};

template <>
inline constexpr std::array document_words<Protocol> = {Word{Protocol::unknown, ""},
                                                        Word{Protocol::eager, "eager"},
                                                        Word{Protocol::rendezvous, "rendezvous"}};

template <>
inline constexpr std::array document_words<Collective> = {
    Word{Collective::none, ""},
    Word{Collective::allgather, "allgather"},
    Word{Collective::allgatherv, "allgatherv"},
    Word{Collective::allreduce, "allreduce"},
    Word{Collective::alltoall, "alltoall"},
    Word{Collective::alltoallv, "alltoallv"},
    Word{Collective::alltoallw, "alltoallw"},
    Word{Collective::barrier, "barrier"},
    Word{Collective::bcast, "bcast"},
    Word{Collective::exscan, "exscan"},
    Word{Collective::gather, "gather"},
    Word{Collective::gatherv, "gatherv"},
    Word{Collective::reduce, "reduce"},
    Word{Collective::reduce_scatter, "reduce_scatter"},
    Word{Collective::reduce_scatter_block, "reduce_scatter_block"},
    Word{Collective::scan, "scan"},
    Word{Collective::scatter, "scatter"},
    Word{Collective::scatterv, "scatterv"},
    Word{Collective::nonblocking, "nonblocking"},
    Word{Collective::neighbor, "neighbor"},
    Word{Collective::internal, "internal"}};

template <>
inline constexpr std::array document_words<WaitMode> = {
    Word{WaitMode::unknown, "unknown"}, Word{WaitMode::all, "all"}, Word{WaitMode::any, "any"}};

template <>
inline constexpr std::array document_words<Repair> = {
    Word{Repair::sign_extension, "sign_extension"},
    Word{Repair::send_rank, "send_rank"},
    Word{Repair::global_rank, "global_rank"},
    Word{Repair::local_rank, "local_rank"},
    Word{Repair::status, "status"},
    Word{Repair::length, "length"},
    Word{Repair::actual_length, "actual_length"},
    Word{Repair::buffer, "buffer"},
    Word{Repair::text, "text"}};

template <>
inline constexpr std::array document_words<QueueState> = {
    Word{QueueState::available, "available"}, Word{QueueState::unavailable, "unavailable"},
    Word{QueueState::error, "error"}, Word{QueueState::not_requested, "not_requested"}};

template <>
inline constexpr std::array document_words<QueueReason> = {
    Word{QueueReason::none, ""},
    Word{QueueReason::not_provided, "not_provided"},
    Word{QueueReason::transport_bypasses, "transport_bypasses"},
    Word{QueueReason::dll_failed, "dll_failed"},
    Word{QueueReason::not_requested, "not_requested"},
    Word{QueueReason::target_died, "target_died"},
    Word{QueueReason::types_missing, "types_missing"},
    Word{QueueReason::senders_unseen, "senders_unseen"},
    Word{QueueReason::not_recorded, "not_recorded"}};

template <>
inline constexpr std::array document_words<TruncatedBy> = {
    Word{TruncatedBy::nothing, ""}, Word{TruncatedBy::operations, "operations"},
    Word{TruncatedBy::time, "time"}, Word{TruncatedBy::max_stop, "max_stop"},
    Word{TruncatedBy::bytes, "bytes"}};

template <>
inline constexpr std::array document_words<RankStatus> = {Word{RankStatus::ok, "ok"},
                                                          Word{RankStatus::partial, "partial"},
                                                          Word{RankStatus::failed, "failed"}};

template <>
inline constexpr std::array document_words<RankSource> = {
    Word{RankSource::unknown, ""}, Word{RankSource::given, "given"},
    Word{RankSource::proctable, "proctable"}, Word{RankSource::environ, "environ"},
    Word{RankSource::comm_world, "comm_world"}};

template <>
inline constexpr std::array document_words<RankError::Level> = {
    Word{RankError::Level::error, "error"}, Word{RankError::Level::warning, "warning"}};

template <>
inline constexpr std::array document_words<TypesMatch> = {
    Word{TypesMatch::unknown, ""}, Word{TypesMatch::exact, "exact"},
    Word{TypesMatch::version, "version"}, Word{TypesMatch::none, "none"}};

template <>
inline constexpr std::array document_words<PhaseName> = {
    Word{PhaseName::connect, "connect"}, Word{PhaseName::attach, "attach"},
    Word{PhaseName::images, "images"},   Word{PhaseName::types, "types"},
    Word{PhaseName::walk, "walk"},       Word{PhaseName::detach, "detach"},
    Word{PhaseName::stacks, "stacks"}};

template <>
inline constexpr std::array document_words<FrameLanguage> = {Word{FrameLanguage::python, "python"}};

template <>
inline constexpr std::array document_words<StackEnd> = {
    Word{StackEnd::outermost, "outermost"},   Word{StackEnd::no_cfi, "no_cfi"},
    Word{StackEnd::unreadable, "unreadable"}, Word{StackEnd::cut, "cut"},
    Word{StackEnd::limit, "limit"},           Word{StackEnd::repeats, "repeats"}};

template <>
inline constexpr std::array document_words<MpiState> = {
    Word{MpiState::not_initialized, "not_initialized"}, Word{MpiState::initialized, "initialized"},
    Word{MpiState::finalizing, "finalizing"}, Word{MpiState::finalized, "finalized"},
    Word{MpiState::unknown, "unknown"}};

template <>
inline constexpr std::array document_words<ThreadLevel> = {
    Word{ThreadLevel::unknown, ""}, Word{ThreadLevel::single, "single"},
    Word{ThreadLevel::funneled, "funneled"}, Word{ThreadLevel::serialized, "serialized"},
    Word{ThreadLevel::multiple, "multiple"}};

template <>
inline constexpr std::array document_words<CommunicatorKind> = {
    Word{CommunicatorKind::unknown, "unknown"}, Word{CommunicatorKind::intra, "intra"},
    Word{CommunicatorKind::inter, "inter"}};

template <>
inline constexpr std::array document_words<ByteOrder> = {Word{ByteOrder::little, "little"},
                                                         Word{ByteOrder::big, "big"}};

template <>
inline constexpr std::array document_words<Verdict> = {Word{Verdict::deadlock, "deadlock"},
                                                       Word{Verdict::no_deadlock, "no_deadlock"},
                                                       Word{Verdict::undecided, "undecided"}};

template <>
inline constexpr std::array document_words<Confidence> = {Word{Confidence::possible, "possible"},
                                                          Word{Confidence::likely, "likely"},
                                                          Word{Confidence::certain, "certain"}};

template <>
inline constexpr std::array document_words<FindingKind> = {
    Word{FindingKind::cycle, "cycle"},
    Word{FindingKind::knot, "knot"},
    Word{FindingKind::partner_gone, "partner_gone"},
    Word{FindingKind::partner_finalized, "partner_finalized"},
    Word{FindingKind::missing_partner, "missing_partner"},
    Word{FindingKind::tag_mismatch, "tag_mismatch"},
    Word{FindingKind::communicator_mismatch, "communicator_mismatch"},
    Word{FindingKind::source_mismatch, "source_mismatch"},
    Word{FindingKind::too_long, "too_long"},
    Word{FindingKind::orphan_unexpected, "orphan_unexpected"},
    Word{FindingKind::never_started, "never_started"},
    Word{FindingKind::rank_exited, "rank_exited"},
    Word{FindingKind::collective_mismatch, "collective_mismatch"},
    Word{FindingKind::collective_order, "collective_order"},
    Word{FindingKind::straggler, "straggler"},
    Word{FindingKind::needs_progress, "needs_progress"},
    Word{FindingKind::stuck_transport, "stuck_transport"},
    Word{FindingKind::polling, "polling"},
    Word{FindingKind::backlog, "backlog"},
    Word{FindingKind::suspended, "suspended"},
    Word{FindingKind::unknown_wait, "unknown_wait"}};

template <>
inline constexpr std::array document_words<WaitsFor> = {Word{WaitsFor::all, "and"},
                                                        Word{WaitsFor::any, "or"}};

template <>
inline constexpr std::array document_words<RankChange> = {
    Word{RankChange::same, "same"},
    Word{RankChange::moved, "moved"},
    Word{RankChange::appeared, "new"},
    Word{RankChange::gone, "gone"},
    Word{RankChange::other_process, "other_process"},
    Word{RankChange::unknown, "unknown"}};

template <>
inline constexpr std::array document_words<VariableKind> = {
    Word{VariableKind::control, "control"}, Word{VariableKind::performance, "performance"}};

template <>
inline constexpr std::array document_words<Verbosity> = {
    Word{Verbosity::user_basic, "user_basic"},     Word{Verbosity::user_detail, "user_detail"},
    Word{Verbosity::user_all, "user_all"},         Word{Verbosity::tuner_basic, "tuner_basic"},
    Word{Verbosity::tuner_detail, "tuner_detail"}, Word{Verbosity::tuner_all, "tuner_all"},
    Word{Verbosity::mpidev_basic, "mpidev_basic"}, Word{Verbosity::mpidev_detail, "mpidev_detail"},
    Word{Verbosity::mpidev_all, "mpidev_all"}};

template <>
inline constexpr std::array document_words<Binding> = {Word{Binding::no_object, "no_object"},
                                                       Word{Binding::comm, "comm"},
                                                       Word{Binding::datatype, "datatype"},
                                                       Word{Binding::errhandler, "errhandler"},
                                                       Word{Binding::file, "file"},
                                                       Word{Binding::group, "group"},
                                                       Word{Binding::op, "op"},
                                                       Word{Binding::request, "request"},
                                                       Word{Binding::win, "win"},
                                                       Word{Binding::message, "message"},
                                                       Word{Binding::info, "info"},
                                                       Word{Binding::session, "session"}};

template <>
inline constexpr std::array document_words<VariableScope> = {
    Word{VariableScope::constant, "constant"}, Word{VariableScope::readonly, "readonly"},
    Word{VariableScope::local, "local"},       Word{VariableScope::group, "group"},
    Word{VariableScope::group_eq, "group_eq"}, Word{VariableScope::all, "all"},
    Word{VariableScope::all_eq, "all_eq"}};

template <>
inline constexpr std::array document_words<VariableClass> = {
    Word{VariableClass::state, "state"},
    Word{VariableClass::level, "level"},
    Word{VariableClass::size, "size"},
    Word{VariableClass::percentage, "percentage"},
    Word{VariableClass::highwatermark, "highwatermark"},
    Word{VariableClass::lowwatermark, "lowwatermark"},
    Word{VariableClass::counter, "counter"},
    Word{VariableClass::aggregate, "aggregate"},
    Word{VariableClass::timer, "timer"},
    Word{VariableClass::generic, "generic"}};

template <>
inline constexpr std::array document_words<VariableSource> = {
    Word{VariableSource::recorder, "recorder"}, Word{VariableSource::memory, "memory"}};

template <>
inline constexpr std::array document_words<HandleKind> = {
    Word{HandleKind::communicator, "communicator"}, Word{HandleKind::request, "request"},
    Word{HandleKind::errhandler, "errhandler"}, Word{HandleKind::status, "status"}};

template <>
inline constexpr std::array document_words<TopologyKind> = {
    Word{TopologyKind::none, "none"}, Word{TopologyKind::cartesian, "cartesian"},
    Word{TopologyKind::graph, "graph"}, Word{TopologyKind::dist_graph, "dist_graph"}};

template <>
inline constexpr std::array document_words<RequestHandleKind> = {
    Word{RequestHandleKind::unknown, "unknown"},
    Word{RequestHandleKind::null, "null"},
    Word{RequestHandleKind::send, "send"},
    Word{RequestHandleKind::receive, "receive"},
    Word{RequestHandleKind::collective, "collective"},
    Word{RequestHandleKind::generalized, "generalized"},
    Word{RequestHandleKind::rma, "rma"},
    Word{RequestHandleKind::io, "io"},
    Word{RequestHandleKind::comm, "comm"}};

template <>
inline constexpr std::array document_words<RequestHandleState> = {
    Word{RequestHandleState::unknown, "unknown"}, Word{RequestHandleState::inactive, "inactive"},
    Word{RequestHandleState::active, "active"}, Word{RequestHandleState::complete, "complete"},
    Word{RequestHandleState::freed, "freed"}};

} // namespace mqbridge
