#pragma once

#include "host/document/fields.h"
#include "host/dump/values/document.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace mqbridge {

// The reverse of the writer, part by part. If a part is incomplete, the ReadState gets a complaint,
// and the part must not be used.

/// The operations of a queue. They were taken out of the document's tree while it was read; `list`
/// is the mark in their place.
using TakeOperations =
    std::function<ChunkedList<Operation>(const nlohmann::json& list, const Place& place)>;

Operation read_operation(const nlohmann::json& operation, const Place& place, ReadState& state);

RankDump read_rank(const nlohmann::json& rank, const Place& place, const TakeOperations& take,
                   ReadState& state);
/// A rank of an earlier look: without statistics.
RankDump read_earlier_rank(const nlohmann::json& rank, const Place& place,
                           const TakeOperations& take, ReadState& state);

std::vector<RankError> read_errors(const Fields& fields, std::string_view key);

/// Values that the document holds as runs ([first, last, step]).
std::vector<std::int64_t> read_runs(const Fields& fields, std::string_view key);

} // namespace mqbridge
