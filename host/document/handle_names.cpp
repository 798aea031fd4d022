#include "host/document/names.h"

namespace mqbridge {

std::string_view name_of(HandleKind value) {
  switch (value) {
  case HandleKind::communicator:
    return "communicator";
  case HandleKind::request:
    return "request";
  case HandleKind::errhandler:
    return "errhandler";
  case HandleKind::status:
    return "status";
  }
  return {};
}

std::string_view name_of(TopologyKind value) {
  switch (value) {
  case TopologyKind::none:
    return "none";
  case TopologyKind::cartesian:
    return "cartesian";
  case TopologyKind::graph:
    return "graph";
  case TopologyKind::dist_graph:
    return "dist_graph";
  }
  return {};
}

std::string_view name_of(RequestHandleKind value) {
  switch (value) {
  case RequestHandleKind::unknown:
    return "unknown";
  case RequestHandleKind::null:
    return "null";
  case RequestHandleKind::send:
    return "send";
  case RequestHandleKind::receive:
    return "receive";
  case RequestHandleKind::collective:
    return "collective";
  case RequestHandleKind::generalized:
    return "generalized";
  case RequestHandleKind::rma:
    return "rma";
  case RequestHandleKind::io:
    return "io";
  case RequestHandleKind::comm:
    return "comm";
  }
  return {};
}

std::string_view name_of(RequestHandleState value) {
  switch (value) {
  case RequestHandleState::unknown:
    return "unknown";
  case RequestHandleState::inactive:
    return "inactive";
  case RequestHandleState::active:
    return "active";
  case RequestHandleState::complete:
    return "complete";
  case RequestHandleState::freed:
    return "freed";
  }
  return {};
}

} // namespace mqbridge
