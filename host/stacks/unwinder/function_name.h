#pragma once

#include <string>
#include <string_view>

namespace mqbridge::unwinder {

/// The name that a person uses for the function of a linker symbol: demangled, without return type,
/// parameters and version. "_ZN4halo3runEi" is "halo::run"; gfortran's "__halo_MOD_run", too.
std::string function_name(std::string_view symbol);

/// A demangled C++ function without return type and parameters: "halo::run<int>" for "void
/// halo::run<int>(int) const". A text of another form is returned as it is.
std::string_view without_parameters(std::string_view demangled);

} // namespace mqbridge::unwinder
