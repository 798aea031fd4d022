#pragma once

#include "host/dump/values/document.h"
#include "host/report/text_parts.h"

#include <set>
#include <string>
#include <vector>

namespace mqbridge {

/// Communicators whose queues were read to their ends and hold nothing, on every rank that has them
/// and was read: one line names them all.
class IdleCommunicators {
public:
  /// None with --full, which prints every communicator of every rank.
  explicit IdleCommunicators(const TextContext& context);

  bool contains(const Communicator& communicator) const;
  /// The line, wrapped; nothing if there are none.
  void write(const TextContext& context) const;

private:
  std::set<std::string> busy_;
  std::vector<std::string> names_; ///< in the order of the document
  std::set<std::string> idle_;
  bool all_read_ = true;  ///< no rank without communicators
  bool lists_all_ = true; ///< a queue with nothing listed is empty
};

} // namespace mqbridge
