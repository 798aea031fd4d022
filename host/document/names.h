#pragma once

#include "host/dump/document.h"

#include <string_view>

namespace mqbridge {

// The words of docs/reference/dump.schema.json for the model's enumerations. Empty where the schema
// has null.

std::string_view name_of(OpClass value);
std::string_view name_of(OpStatus value);
std::string_view name_of(OpKind value);
std::string_view name_of(LengthUnit value);
std::string_view name_of(Repair value);
std::string_view name_of(QueueState value);
std::string_view name_of(QueueReason value);
std::string_view name_of(TruncatedBy value);
std::string_view name_of(RankStatus value);
std::string_view name_of(RankSource value);
std::string_view name_of(RankError::Level value);
std::string_view name_of(TypesMatch value);
std::string_view name_of(PhaseName value);
std::string_view name_of(MpiState value);
std::string_view name_of(CommunicatorKind value);
std::string_view name_of(ByteOrder value);

} // namespace mqbridge
