#pragma once

#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// A call of MPI that some ranks of a job are inside of and the others not
/// (tests/inferiors/mpi_calls.c).
struct CallCase {
  std::string call;           ///< "recv", "waitall", "allreduce" ...
  std::string comm = "world"; ///< world, dup, reversed, between, ring
  long bytes = 8;             ///< that each rank contributes, or of one message
  std::vector<int> inside;    ///< world ranks

  bool is_inside(int rank) const;
  /// As mpi_calls takes it.
  std::string argument() const;
};

void PrintTo(const CallCase& param, std::ostream* stream);

/// What a dump of all ranks says wrongly of such a collective call, by what the ranks have said in
/// `step` and by what must hold of any algorithm; one line for each. Empty if all is right:
/// - a rank that is inside and has not come out has pending operations of that collective, and
///   none of another one, and all of them are mqbridge's own finding;
/// - one that is outside or has come out has none;
/// - whom a receive inside of it waits for is outside, or waits itself;
/// - from each that waits a rank that is outside is reached;
/// - nobody has operations of its own.
std::vector<std::string> inside_differences(const CallCase& param,
                                            const std::filesystem::path& step,
                                            const nlohmann::json& document);

/// The same of a call that waits for messages: its operations are what the ranks say they have
/// posted, and each says what the call waits for together.
std::vector<std::string> message_differences(const CallCase& param,
                                             const std::filesystem::path& step,
                                             const nlohmann::json& document);

/// The one of these that the call is for; nothing for a call of call_others.c.
std::vector<std::string> call_differences(const CallCase& param, const std::filesystem::path& step,
                                          const nlohmann::json& document);

} // namespace mqbridge::e2e
