#pragma once

#include "host/document/fields.h"
#include "host/dump/document.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace mqbridge {

// The reverse of the writer, part by part. What a part lacks is a complaint of the ReadState; then
// the part is of no use.

/// The operations of a queue, which were taken out of the document's tree while it was read:
/// `list` stands for them there.
using TakeOperations =
    std::function<ChunkedList<Operation>(const nlohmann::json& list, const Place& place)>;

/// Null where `fields` has no member `site`.
SharedSite read_site(const Fields& fields);
/// The member `waited`.
Waited read_waited(const Fields& fields);

Operation read_operation(const nlohmann::json& operation, const Place& place, ReadState& state);

Communicator read_communicator(const nlohmann::json& communicator, const Place& place,
                               const TakeOperations& take, ReadState& state);

RankDump read_rank(const nlohmann::json& rank, const Place& place, const TakeOperations& take,
                   ReadState& state);
/// A rank of an earlier look: without statistics.
RankDump read_earlier_rank(const nlohmann::json& rank, const Place& place,
                           const TakeOperations& take, ReadState& state);

/// The members `blocked_in` and `stacks`.
std::optional<std::vector<BlockedCall>> read_blocked_in(const Fields& rank);
std::optional<std::vector<ThreadStack>> read_stacks(const Fields& rank);

/// The member `variables`; nullopt: null, or absent.
std::optional<ProcessVariables> read_variables(const Fields& rank);

/// The member `handles`; nullopt: null, or absent.
std::optional<ProcessHandles> read_handles(const Fields& rank);

std::vector<RankError> read_errors(const Fields& fields, std::string_view key);

/// Values that the document holds as runs ([first, last, step]).
std::vector<std::int64_t> read_runs(const Fields& fields, std::string_view key);

} // namespace mqbridge
