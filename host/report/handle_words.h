#pragma once

#include "host/mqs/handles.h"
#include "host/mqs/queues.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// A label and its text: "state", "active: MPI_Test would not complete it now".
using HandleLine = std::pair<std::string, std::string>;

/// Describes the handles of one process in words. Texts of the target come out fit to be shown; a
/// fact that is not known is named so. `handles` outlives it.
class HandleWords {
public:
  explicit HandleWords(const ProcessHandles& handles);

  /// "row", the name of a communicator that is listed, too; else its handle.
  std::string communicator_name(std::uint64_t handle) const;
  /// The peer of a request, with its rank in MPI_COMM_WORLD if the communicator is listed.
  Peer peer_of(const RequestHandle& request, int local) const;

  /// "receive, persistent"
  static std::string kind_of(const RequestHandle& request);
  /// "cartesian 3 x 2, periodic in 0"; "not known"
  static std::string topology_of(const CommunicatorHandle& communicator);
  /// "MPI_TAG_UB=32767, 5=0xabc"
  static std::string attributes_of(const CommunicatorHandle& communicator);
  /// "exchange (halo.c:77)"; empty: not known
  static std::string place_of(const SharedSite& site);
  /// "0x10, 0x11"; the start of a long list
  static std::string list_of(const std::vector<std::uint64_t>& handles);

  /// All facts that are known about one handle.
  std::vector<HandleLine> about(const CommunicatorHandle& communicator) const;
  std::vector<HandleLine> about(const RequestHandle& request) const;
  std::vector<HandleLine> about(const ErrhandlerHandle& errhandler) const;
  std::vector<HandleLine> about(const StatusHandle& status) const;

private:
  /// The message that a receive has met: "from 2(1) tag 17, 800 B"; empty: none.
  std::string met_text(const RequestHandle& request) const;

  std::map<std::uint64_t, const CommunicatorHandle*> communicators_;
  std::map<std::uint64_t, const ErrhandlerHandle*> errhandlers_;
};

/// "row"; of one without a name nothing.
std::string quoted_name(const std::string& name);

} // namespace mqbridge
