#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace mqbridge {

/// The side of a joint on which a process is.
struct JointSide {
  std::size_t joint = 0; ///< a number for each joint of which both sides are known
  std::size_t side = 0;  ///< 0 or 1
};

/// The joints of a document whose two sides were found. Refers to the document.
class JointSides {
public:
  /// `job_of`: as in name_communicators().
  JointSides(const Dump& dump, const std::vector<std::size_t>& job_of);

  /// The side of a process of this job that knows the joint by this id. nullopt: the other side is
  /// not in the document, or several may be it.
  std::optional<JointSide> find(std::size_t job, std::uint64_t joint) const;

private:
  using Node = std::pair<std::size_t, std::uint64_t>; ///< job, Joint::id

  std::map<Node, JointSide> found_;
};

} // namespace mqbridge
