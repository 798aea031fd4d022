#pragma once

#include "host/dump/document.h"

#include <string>
#include <vector>

namespace mqbridge {

/// Errors that nodes have, for the document: like ones of several nodes are one, that names them.
class NodeFaults {
public:
  /// `error.message` says what happened without the node's name, so that it can be alike.
  void add(const std::string& node, RankError error);

  /// In the order in which the first of each came.
  std::vector<RankError> errors() const;

private:
  struct Fault {
    RankError error;
    std::vector<std::string> nodes;
  };
  std::vector<Fault> faults_;
};

} // namespace mqbridge
