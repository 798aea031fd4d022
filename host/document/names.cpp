#include "host/document/names.h"

namespace mqbridge {

std::string_view name_of(OpClass value) {
  switch (value) {
  case OpClass::send:
    return "send";
  case OpClass::receive:
    return "receive";
  case OpClass::unexpected:
    return "unexpected";
  }
  return {};
}

std::string_view name_of(OpStatus value) {
  switch (value) {
  case OpStatus::pending:
    return "pending";
  case OpStatus::matched:
    return "matched";
  case OpStatus::complete:
    return "complete";
  case OpStatus::inactive:
    return "inactive";
  case OpStatus::unknown:
    return "unknown";
  }
  return {};
}

std::string_view name_of(OpKind value) {
  switch (value) {
  case OpKind::unknown:
    return {};
  case OpKind::send:
    return "send";
  case OpKind::receive:
    return "receive";
  case OpKind::probe:
    return "probe";
  case OpKind::mprobe:
    return "mprobe";
  case OpKind::message:
    return "message";
  }
  return {};
}

std::string_view name_of(OpSource value) {
  switch (value) {
  case OpSource::dll:
    return "dll";
  case OpSource::mqbridge:
    return "mqbridge";
  case OpSource::recorder:
    return "recorder";
  }
  return {};
}

std::string_view name_of(Protocol value) {
  switch (value) {
  case Protocol::unknown:
    return {};
  case Protocol::eager:
    return "eager";
  case Protocol::rendezvous:
    return "rendezvous";
  }
  return {};
}

std::string_view name_of(Collective value) {
  switch (value) {
  case Collective::none:
    return {};
  case Collective::allgather:
    return "allgather";
  case Collective::allgatherv:
    return "allgatherv";
  case Collective::allreduce:
    return "allreduce";
  case Collective::alltoall:
    return "alltoall";
  case Collective::alltoallv:
    return "alltoallv";
  case Collective::alltoallw:
    return "alltoallw";
  case Collective::barrier:
    return "barrier";
  case Collective::bcast:
    return "bcast";
  case Collective::exscan:
    return "exscan";
  case Collective::gather:
    return "gather";
  case Collective::gatherv:
    return "gatherv";
  case Collective::reduce:
    return "reduce";
  case Collective::reduce_scatter:
    return "reduce_scatter";
  case Collective::reduce_scatter_block:
    return "reduce_scatter_block";
  case Collective::scan:
    return "scan";
  case Collective::scatter:
    return "scatter";
  case Collective::scatterv:
    return "scatterv";
  case Collective::nonblocking:
    return "nonblocking";
  case Collective::neighbor:
    return "neighbor";
  case Collective::internal:
    return "internal";
  }
  return {};
}

std::string_view name_of(WaitMode value) {
  switch (value) {
  case WaitMode::unknown:
    return "unknown";
  case WaitMode::all:
    return "all";
  case WaitMode::any:
    return "any";
  }
  return {};
}

std::string_view name_of(LengthUnit value) {
  switch (value) {
  case LengthUnit::bytes:
    return "bytes";
  case LengthUnit::elements:
    return "elements";
  case LengthUnit::unknown:
    return "unknown";
  }
  return {};
}

std::string_view name_of(Repair value) {
  switch (value) {
  case Repair::sign_extension:
    return "sign_extension";
  case Repair::send_rank:
    return "send_rank";
  case Repair::global_rank:
    return "global_rank";
  case Repair::local_rank:
    return "local_rank";
  case Repair::status:
    return "status";
  case Repair::length:
    return "length";
  case Repair::actual_length:
    return "actual_length";
  case Repair::buffer:
    return "buffer";
  case Repair::text:
    return "text";
  }
  return {};
}

std::string_view name_of(QueueState value) {
  switch (value) {
  case QueueState::available:
    return "available";
  case QueueState::unavailable:
    return "unavailable";
  case QueueState::error:
    return "error";
  case QueueState::not_requested:
    return "not_requested";
  }
  return {};
}

std::string_view name_of(QueueReason value) {
  switch (value) {
  case QueueReason::none:
    return {};
  case QueueReason::not_provided:
    return "not_provided";
  case QueueReason::transport_bypasses:
    return "transport_bypasses";
  case QueueReason::dll_failed:
    return "dll_failed";
  case QueueReason::not_requested:
    return "not_requested";
  case QueueReason::target_died:
    return "target_died";
  case QueueReason::types_missing:
    return "types_missing";
  case QueueReason::senders_unseen:
    return "senders_unseen";
  case QueueReason::not_recorded:
    return "not_recorded";
  }
  return {};
}

std::string_view name_of(TruncatedBy value) {
  switch (value) {
  case TruncatedBy::nothing:
    return {};
  case TruncatedBy::operations:
    return "operations";
  case TruncatedBy::time:
    return "time";
  case TruncatedBy::max_stop:
    return "max_stop";
  case TruncatedBy::bytes:
    return "bytes";
  }
  return {};
}

std::string_view name_of(RankStatus value) {
  switch (value) {
  case RankStatus::ok:
    return "ok";
  case RankStatus::partial:
    return "partial";
  case RankStatus::failed:
    return "failed";
  }
  return {};
}

std::string_view name_of(RankSource value) {
  switch (value) {
  case RankSource::unknown:
    return {};
  case RankSource::given:
    return "given";
  case RankSource::proctable:
    return "proctable";
  case RankSource::environ:
    return "environ";
  case RankSource::comm_world:
    return "comm_world";
  }
  return {};
}

std::string_view name_of(RankError::Level value) {
  return value == RankError::Level::error ? "error" : "warning";
}

std::string_view name_of(TypesMatch value) {
  switch (value) {
  case TypesMatch::unknown:
    return {};
  case TypesMatch::exact:
    return "exact";
  case TypesMatch::version:
    return "version";
  case TypesMatch::none:
    return "none";
  }
  return {};
}

std::string_view name_of(StackEnd value) {
  switch (value) {
  case StackEnd::outermost:
    return "outermost";
  case StackEnd::no_cfi:
    return "no_cfi";
  case StackEnd::unreadable:
    return "unreadable";
  case StackEnd::cut:
    return "cut";
  case StackEnd::limit:
    return "limit";
  case StackEnd::repeats:
    return "repeats";
  }
  return {};
}

std::string_view name_of(PhaseName value) {
  switch (value) {
  case PhaseName::connect:
    return "connect";
  case PhaseName::attach:
    return "attach";
  case PhaseName::images:
    return "images";
  case PhaseName::types:
    return "types";
  case PhaseName::walk:
    return "walk";
  case PhaseName::detach:
    return "detach";
  case PhaseName::stacks:
    return "stacks";
  }
  return {};
}

std::string_view name_of(MpiState value) {
  switch (value) {
  case MpiState::not_initialized:
    return "not_initialized";
  case MpiState::initialized:
    return "initialized";
  case MpiState::finalizing:
    return "finalizing";
  case MpiState::finalized:
    return "finalized";
  case MpiState::unknown:
    return "unknown";
  }
  return {};
}

std::string_view name_of(ThreadLevel value) {
  switch (value) {
  case ThreadLevel::unknown:
    return {};
  case ThreadLevel::single:
    return "single";
  case ThreadLevel::funneled:
    return "funneled";
  case ThreadLevel::serialized:
    return "serialized";
  case ThreadLevel::multiple:
    return "multiple";
  }
  return {};
}

std::string_view name_of(CommunicatorKind value) {
  switch (value) {
  case CommunicatorKind::unknown:
    return "unknown";
  case CommunicatorKind::intra:
    return "intra";
  case CommunicatorKind::inter:
    return "inter";
  }
  return {};
}

std::string_view name_of(ByteOrder value) {
  return value == ByteOrder::little ? "little" : "big";
}

} // namespace mqbridge
