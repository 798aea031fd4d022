#pragma once

#include "host/dump/document.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mqbridge {

// The words of docs/reference/dump.schema.json for the model's enumerations. Empty where the schema
// has null.

std::string_view name_of(OpClass value);
std::string_view name_of(OpStatus value);
std::string_view name_of(OpKind value);
std::string_view name_of(LengthUnit value);
std::string_view name_of(OpSource value);
std::string_view name_of(Protocol value);
std::string_view name_of(Collective value);
std::string_view name_of(WaitMode value);
std::string_view name_of(Repair value);
std::string_view name_of(QueueState value);
std::string_view name_of(QueueReason value);
std::string_view name_of(TruncatedBy value);
std::string_view name_of(RankStatus value);
std::string_view name_of(RankSource value);
std::string_view name_of(RankError::Level value);
std::string_view name_of(TypesMatch value);
std::string_view name_of(PhaseName value);
std::string_view name_of(StackEnd value);
std::string_view name_of(MpiState value);
std::string_view name_of(ThreadLevel value);
std::string_view name_of(CommunicatorKind value);
std::string_view name_of(ByteOrder value);
std::string_view name_of(Verdict value);
std::string_view name_of(Confidence value);
std::string_view name_of(FindingKind value);
std::string_view name_of(WaitsFor value);
std::string_view name_of(RankChange value);
std::string_view name_of(VariableKind value);
std::string_view name_of(Verbosity value);
std::string_view name_of(Binding value);
std::string_view name_of(VariableScope value);
std::string_view name_of(VariableClass value);
std::string_view name_of(VariableSource value);
std::string_view name_of(HandleKind value);
std::string_view name_of(TopologyKind value);
std::string_view name_of(RequestHandleKind value);
std::string_view name_of(RequestHandleState value);

/// The value of E that has this name; nullopt: none has.
template <class E>
std::optional<E> value_named(std::string_view name) {
  constexpr std::uint8_t most_values = 32; // more than any of them has
  for (std::uint8_t i = 0; i < most_values && !name.empty(); ++i)
    if (name_of(static_cast<E>(i)) == name)
      return static_cast<E>(i);
  return std::nullopt;
}

} // namespace mqbridge
