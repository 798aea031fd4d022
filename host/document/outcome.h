#pragma once

#include "host/dump/values/document.h"

#include <cstdint>
#include <string>

namespace mqbridge {

/// How many ranks ended with which status, and how many errors belong to no rank.
struct Outcome {
  std::uint64_t complete = 0;
  std::uint64_t partial = 0;
  std::uint64_t failed = 0;
  std::uint64_t faults = 0; ///< of level error in Dump::errors

  std::uint64_t total() const { return complete + partial + failed; }
};

Outcome outcome_of(const Dump& dump);

/// Exit status of a dump that was not interrupted (docs/reference/cli.md): 0 every rank complete, 1
/// some partial or failed, or something failed that belongs to no rank, 3 nothing could be dumped.
int exit_status_of(const Outcome& outcome);

/// The report's last line: "exit 1: 1 of 3 ranks failed". Empty for exit status 0. `status` may
/// also be 4 (--fail-on), or 130 or 143 (interrupted).
std::string exit_line(const Outcome& outcome, int status);

} // namespace mqbridge
