#pragma once

#include "host/mpi/mpi_facts.h"
#include "host/stacks/stack.h"
#include "host/stacks/unwinder_wire.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// Whether a function of a call stack has a name like MPI's functions:
/// UnwindOptions::has_arguments.
bool may_have_arguments(std::string_view function);

/// What the arguments of a call say of its wait. `call`: the MPI function, as in
/// BlockedCall::call; `function`: that of its frame. nullopt: they say nothing, or are not known.
std::optional<CallArguments> arguments_of(const ArgumentsOfCall& told, std::string_view call,
                                          std::string_view function, const ArgumentFacts& facts);

/// " from 3 tag 17", " to 2 tag 5", " with root 0"; "?" stands for what is not known. Empty: the
/// call has no arguments of this kind.
std::string argument_words(std::string_view call, const CallArguments& arguments);
inline constexpr std::string_view from_arguments = "(from the call's arguments)";

} // namespace mqbridge
