#pragma once

#include "host/dump/values/document.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Errors or warnings, of one rank or of none, that the text report shows as one: 37 libraries of
/// another build. They have the same code and level. The errors outlive it.
struct Cause {
  std::vector<const RankError*> alike;  ///< they differ only in names; the first one is shown
  std::vector<const RankError*> others; ///< warnings in yet other words: they are only counted

  const RankError& shown() const { return *alike.front(); }
};

/// In the order of each cause's first error. Of one code there are at most `most_wordings` causes
/// of level warning: the last one counts what is left. Errors are never left out.
std::vector<Cause> causes_of(const std::vector<RankError>& errors);
inline constexpr std::size_t most_wordings = 4;

/// The errors for which the causes stand, each cause and each other wording counted once.
std::size_t count_of(const std::vector<Cause>& causes);

/// The message that is shown, and below it how many there are, and of what: "(37 alike: libc.so.6,
/// libm.so.6, libz.so.1 and 34 more; --format json has each)". `each` says where all of them are.
std::string message_of(const Cause& cause, std::string_view each = "--format json has each");

} // namespace mqbridge
