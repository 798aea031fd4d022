#pragma once

#include "host/stacks/unwinder/call_chain.h"
#include "host/stacks/unwinder/modules.h"
#include "host/stacks/unwinder_wire.h"

#include <cstddef>
#include <cstdint>
#include <elfutils/libdw.h>
#include <optional>
#include <span>
#include <string>

namespace mqbridge::unwinder {

/// Reads from DWARF the arguments of a call that has not returned. The caller's compiler says which
/// values it passed, as far as the caller still has them: in registers that calls keep, in its own
/// part of the stack, as constants. The callee's compiler says where it keeps its parameters. What
/// cannot be worked out from both is not known: nothing is guessed. Refers to all of its arguments;
/// `unwinder` has unwound `chain` last.
class ArgumentReader {
public:
  ArgumentReader(Modules& modules, Unwinder& unwinder, const CallChain& chain,
                 const wire::UnwinderStart& process);

  /// The arguments of the call whose function is that of the frame.
  ArgumentsOfCall read(std::size_t frame);

private:
  /// An expression of DWARF, and the frame whose registers it is about.
  struct Expression {
    std::span<const Dwarf_Op> operations;
    Dwarf_Attribute* attribute = nullptr; ///< that has it
    std::size_t frame = 0;
    Dwarf_Addr bias = 0;
    int steps = 0; ///< from callee to caller so far
  };
  struct Outcome {
    std::uint64_t value = 0;
    bool is_place = false; ///< `value` is the address at which the value stands
  };
  /// The function of a frame.
  struct Function {
    Dwarf_Die die = {};
    Dwarf_Addr bias = 0;
    std::uint64_t address = 0; ///< of the instruction that the frame is at, in the file
  };
  /// A call, in the function that calls.
  struct Site {
    Dwarf_Die die = {};
    std::size_t frame = 0; ///< of the caller
    Dwarf_Addr bias = 0;
  };

  std::optional<Function> function_of(std::size_t frame);
  std::optional<Site> site_of(std::size_t callee);
  void read_passed(const Site& site, ArgumentsOfCall& call);
  void read_received(std::size_t frame, ArgumentsOfCall& call);
  std::optional<std::uint64_t> received(Dwarf_Die& parameter, const Function& function,
                                        std::size_t frame);
  CallArgument with_target(std::optional<std::uint64_t> value);

  std::optional<std::size_t> place_of(std::span<const Dwarf_Op> location) const;
  std::optional<std::uint64_t> value_passed(Dwarf_Die& parameter, const Site& site, int steps);
  std::optional<std::uint64_t> value_at_entry(const Expression& of, const Dwarf_Op& operation);
  std::optional<std::uint64_t> frame_base(const Expression& of);
  std::optional<std::uint64_t> frame_address(std::size_t frame) const;
  std::optional<std::uint64_t> register_of(std::size_t frame, std::uint64_t number) const;
  std::optional<std::uint64_t> bytes_at(std::uint64_t address, std::size_t size);
  std::optional<Outcome> evaluate(const Expression& expression);
  /// The value of an operation that uses no other one. nullopt: it is not such an operation, or not
  /// known.
  std::optional<std::uint64_t> operand(const Expression& of, const Dwarf_Op& operation);

  Modules& modules_;
  Unwinder& unwinder_;
  const CallChain& chain_;
  const wire::UnwinderStart& process_;
  std::span<const std::uint16_t> argument_registers_;
  std::span<const std::uint16_t> kept_registers_;
};

} // namespace mqbridge::unwinder
