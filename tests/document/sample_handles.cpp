#include "tests/document/sample_handles.h"

namespace mqbridge::test {
namespace {

CommunicatorHandle grid() {
  CommunicatorHandle comm;
  comm.handle = 0x10;
  comm.fortran = -4;
  comm.predefined = true;
  comm.freed = false;
  comm.name = "gr\x01id";
  comm.rank = 2;
  comm.size = 3;
  comm.group = {4, std::nullopt, 6};
  comm.context = 99;
  auto& topology = comm.topology.emplace();
  topology.kind = TopologyKind::cartesian;
  topology.reordered = true;
  topology.dims = {3, 1};
  topology.periods = {true, false};
  comm.attributes = {{1, "MPI_TAG_UB", "32767"}, {-5, "", "0xabc"}};
  comm.errhandler = 0x30;
  comm.requests = {0x20};
  comm.windows = {0x50, 0x51};
  comm.files.emplace();
  return comm;
}

CommunicatorHandle between() {
  CommunicatorHandle comm;
  comm.handle = 0x11;
  comm.intercommunicator = true;
  comm.size = 1;
  comm.remote_size = 2;
  comm.remote_group = {0, 1};
  auto& topology = comm.topology.emplace();
  topology.kind = TopologyKind::dist_graph;
  topology.sources = {1, 2};
  topology.source_weights = {10, 20};
  topology.destinations = {2};
  topology.destination_weights = {30};
  return comm;
}

CommunicatorHandle graph() {
  CommunicatorHandle comm;
  comm.handle = 0x12;
  auto& topology = comm.topology.emplace();
  topology.kind = TopologyKind::graph;
  topology.index = {1, 3, 4};
  topology.edges = {1, 0, 2, 1};
  return comm;
}

RequestHandle receive() {
  RequestHandle request;
  request.handle = 0x20;
  request.fortran = 17;
  request.kind = RequestHandleKind::receive;
  request.state = RequestHandleState::complete;
  request.persistent = true;
  request.comm = 0x10;
  request.peer = 0;
  request.tag = any_tag;
  request.count = 100;
  request.bytes = 800;
  request.buffer = 0x7000;
  request.datatype = "MPI_DOUBLE";
  request.actual_source = 0;
  request.actual_tag = 5;
  request.actual_bytes = 400;
  request.error = 15;
  request.cancelled = true;
  request.call = "MPI_Recv_init";
  request.site = std::make_shared<CallSite>(CallSite{{0x401234}, "exchange", "halo.c", 77});
  return request;
}

} // namespace

ProcessHandles rich_handles() {
  ProcessHandles handles;
  handles.listed = true;
  handles.dll = "/usr/lib/libhandles.so";
  handles.dll_version = "handles 1.0";
  CommunicatorHandle null;
  null.handle = 0x13;
  null.null = true;
  handles.communicators = {grid(), between(), graph(), null};
  RequestHandle own;
  own.handle = 0x21;
  own.predefined = true;
  own.kind = RequestHandleKind::collective;
  handles.requests = {receive(), own};
  ErrhandlerHandle errhandler;
  errhandler.handle = 0x30;
  errhandler.fortran = 2;
  errhandler.predefined = true;
  errhandler.name = "MPI_ERRORS_RETURN";
  errhandler.for_communicators = errhandler.for_files = errhandler.for_windows = true;
  errhandler.c_callback = true;
  errhandler.freed = false;
  errhandler.callback = 0x401000;
  errhandler.attached_to = {0x10};
  handles.errhandlers = {errhandler};
  StatusHandle status{0x40, true, 1, 7, 0, false, 64};
  handles.statuses = {status};
  handles.refused = {{{HandleKind::request, 0xffffffff, true}, "nothing there is such an object"}};
  handles.unlisted = {HandleKind::errhandler};
  handles.incomplete = {HandleKind::request, HandleKind::communicator};
  return handles;
}

} // namespace mqbridge::test
