#pragma once

#include "host/dump/values/document.h"
#include "host/report/causes.h"
#include "host/report/text_parts.h"

#include <map>
#include <string>
#include <vector>

namespace mqbridge {

/// Errors and warnings that several ranks of a job have alike: each is printed once, behind all
/// ranks. Two causes are alike if the words of all their errors differ at most in parts of the
/// ranks' endpoints (host, port) and in their process ids.
class SharedErrors {
public:
  explicit SharedErrors(const Dump& dump);

  /// What this rank alone has.
  std::vector<Cause> own(const RankDump& rank) const;
  void write(const TextContext& context) const;

private:
  struct Shared {
    RankGroup group;
    Cause example; ///< the first rank's
    bool same_words = true;
  };

  /// By the words without host, port and pid. Errors of one rank are included.
  std::map<std::string, Shared> all_;
  std::vector<const Shared*> in_order_; ///< of two or more ranks
};

} // namespace mqbridge
