#pragma once

#include "host/dump/values/document.h"
#include "host/report/text_parts.h"

#include <map>
#include <string>
#include <vector>

namespace mqbridge {

/// Errors and warnings that several ranks of a job have alike: each is printed once, behind all
/// ranks. Alike are those whose words differ at most in the parts of the rank's endpoint (host,
/// port) and its process id.
class SharedErrors {
public:
  explicit SharedErrors(const Dump& dump);

  bool contains(const RankDump& rank, const RankError& error) const;
  void write(const TextContext& context) const;

private:
  struct Shared {
    RankGroup group;
    const RankError* example = nullptr; ///< the first rank's
    bool same_words = true;
  };

  std::map<std::string, Shared> all_;   ///< by what is alike; of one rank, too
  std::vector<const Shared*> in_order_; ///< of several ranks
};

} // namespace mqbridge
