#include "host/stacks/unwinder/argument_reader.h"

#include "host/stacks/unwinder/scopes.h"
#include "host/stacks/unwinder/symbols.h"

#include <algorithm>
#include <array>
#include <dwarf.h>
#include <initializer_list>

namespace mqbridge::unwinder {
namespace {

constexpr int deepest_block = 64;       ///< blocks in blocks
constexpr int most_steps = 4;           ///< from callee to caller, for one value
constexpr std::size_t most_values = 64; ///< on an expression's stack
constexpr std::uint64_t stack_slot = 8; ///< bytes of an argument on the stack
constexpr std::size_t widest_value = 8; ///< bytes
constexpr std::size_t bytes_of_int = 4; ///< what Fortran passes the address of

/// The first of these attributes that the DIE has.
Dwarf_Attribute* attribute_of(Dwarf_Die& die, std::initializer_list<unsigned> names,
                              Dwarf_Attribute& room) {
  for (const unsigned name : names)
    if (auto* found = ::dwarf_attr_integrate(&die, name, &room))
      return found;
  return nullptr;
}

std::span<const Dwarf_Op> operations_of(Dwarf_Attribute* attribute) {
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (attribute == nullptr || ::dwarf_getlocation(attribute, &operations, &count) != 0)
    return {};
  return {operations, count};
}

std::optional<std::string> name_of(Dwarf_Die& die) {
  Dwarf_Attribute room;
  if (const char* text = ::dwarf_formstring(
          attribute_of(die, {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}, room)))
    return text;
  const char* name = ::dwarf_diename(&die);
  return name != nullptr ? std::optional<std::string>(name) : std::nullopt;
}

/// The function that is called there; nullopt: it is not known, as with a pointer to a function.
std::optional<std::string> callee_of(Dwarf_Die& site) {
  Dwarf_Attribute room;
  Dwarf_Die callee;
  auto* origin = attribute_of(site, {DW_AT_call_origin, DW_AT_abstract_origin}, room);
  if (origin == nullptr || ::dwarf_formref_die(origin, &callee) == nullptr)
    return std::nullopt;
  return name_of(callee);
}

/// Looks for the call that returns to `address`, in a function and in what was inlined into it.
bool find_site(Dwarf_Die& parent, std::uint64_t address, Dwarf_Die& site, int depth = 0) {
  Dwarf_Die child;
  if (depth == deepest_block || ::dwarf_child(&parent, &child) != 0)
    return false;
  do {
    Dwarf_Attribute room;
    Dwarf_Addr returns_to = 0;
    switch (::dwarf_tag(&child)) {
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
      if (::dwarf_formaddr(attribute_of(child, {DW_AT_call_return_pc, DW_AT_low_pc}, room),
                           &returns_to) == 0 &&
          returns_to == address) {
        site = child;
        return true;
      }
      break;
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
      if (find_site(child, address, site, depth + 1))
        return true;
      break;
    default:
      break;
    }
  } while (::dwarf_siblingof(&child, &child) == 0);
  return false;
}

template <class Use>
void each_child(Dwarf_Die& parent, std::initializer_list<int> tags, Use use) {
  Dwarf_Die child;
  if (::dwarf_child(&parent, &child) != 0)
    return;
  do {
    if (std::ranges::find(tags, ::dwarf_tag(&child)) != tags.end())
      use(child);
  } while (::dwarf_siblingof(&child, &child) == 0);
}

constexpr std::initializer_list<int> parameters_of_site = {DW_TAG_call_site_parameter,
                                                           DW_TAG_GNU_call_site_parameter};

std::optional<std::uint64_t> named_register(const Dwarf_Op& operation) {
  if (operation.atom >= DW_OP_reg0 && operation.atom <= DW_OP_reg31)
    return operation.atom - DW_OP_reg0;
  return operation.atom == DW_OP_regx ? std::optional<std::uint64_t>(operation.number)
                                      : std::nullopt;
}

bool is_entry_value(const Dwarf_Op& operation) {
  return operation.atom == DW_OP_entry_value || operation.atom == DW_OP_GNU_entry_value;
}

/// An operation of two values, `second` on top. nullopt: it is none that is known.
std::optional<std::uint64_t> combined(unsigned atom, std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t bits = 64;
  switch (atom) {
  case DW_OP_plus:
    return first + second;
  case DW_OP_minus:
    return first - second;
  case DW_OP_mul:
    return first * second;
  case DW_OP_and:
    return first & second;
  case DW_OP_or:
    return first | second;
  case DW_OP_xor:
    return first ^ second;
  case DW_OP_shl:
    return second < bits ? first << second : 0;
  case DW_OP_shr:
    return second < bits ? first >> second : 0;
  case DW_OP_shra:
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(first) >>
                                      std::min(second, bits - 1));
  default:
    return std::nullopt;
  }
}

} // namespace

ArgumentReader::ArgumentReader(Modules& modules, Unwinder& unwinder, const CallChain& chain,
                               const wire::UnwinderStart& process)
    : modules_(modules), unwinder_(unwinder), chain_(chain), process_(process) {
  GElf_Addr bias = 0;
  GElf_Ehdr header;
  auto* module = modules_.any();
  if (module == nullptr || process.pointer_size != widest_value ||
      ::gelf_getehdr(::dwfl_module_getelf(module, &bias), &header) == nullptr)
    return;
  const auto& architecture = architecture_of(header);
  argument_registers_ = architecture.argument_registers;
  kept_registers_ = architecture.kept_registers;
}

ArgumentsOfCall ArgumentReader::read(std::size_t frame) {
  ArgumentsOfCall call;
  if (frame >= chain_.frames.size() || argument_registers_.empty())
    return call;
  if (const auto site = site_of(frame)) {
    auto die = site->die;
    call.callee = callee_of(die);
    if (call.callee)
      read_passed(*site, call);
  }
  read_received(frame, call);
  return call;
}

std::optional<ArgumentReader::Function> ArgumentReader::function_of(std::size_t frame) {
  const auto address = chain_.frames[frame].lookup();
  auto* module = modules_.at(address);
  Function function;
  auto unit = module != nullptr ? unit_at(modules_, module, address, function.bias) : std::nullopt;
  if (!unit)
    return std::nullopt;
  function.address = address - function.bias;
  const auto scopes = scopes_at(*unit, function.address);
  if (scopes.empty())
    return std::nullopt;
  function.die = scopes.back().die;
  return ::dwarf_tag(&function.die) == DW_TAG_subprogram ? std::optional(function) : std::nullopt;
}

/// A frame that was interrupted has called nothing.
std::optional<ArgumentReader::Site> ArgumentReader::site_of(std::size_t callee) {
  const auto caller = callee + 1;
  if (caller >= chain_.frames.size() || chain_.frames[caller].exact != 0)
    return std::nullopt;
  auto function = function_of(caller);
  Site site{.frame = caller};
  if (!function ||
      !find_site(function->die, chain_.frames[caller].address - function->bias, site.die))
    return std::nullopt;
  site.bias = function->bias;
  return site;
}

void ArgumentReader::read_passed(const Site& site, ArgumentsOfCall& call) {
  auto die = site.die;
  each_child(die, parameters_of_site, [&](Dwarf_Die& parameter) {
    Dwarf_Attribute room;
    const auto place = place_of(operations_of(attribute_of(parameter, {DW_AT_location}, room)));
    if (!place || *place >= ArgumentsOfCall::most)
      return;
    call.passed.resize(std::max(call.passed.size(), *place + 1));
    call.passed[*place] = with_target(value_passed(parameter, site, 0));
  });
}

void ArgumentReader::read_received(std::size_t frame, ArgumentsOfCall& call) {
  auto function = function_of(frame);
  if (!function)
    return;
  each_child(function->die, {DW_TAG_formal_parameter}, [&](Dwarf_Die& parameter) {
    if (call.received.size() < ArgumentsOfCall::most)
      call.received.push_back(with_target(received(parameter, *function, frame)));
  });
}

std::optional<std::uint64_t> ArgumentReader::received(Dwarf_Die& parameter,
                                                      const Function& function, std::size_t frame) {
  Dwarf_Attribute room;
  auto* attribute = attribute_of(parameter, {DW_AT_location}, room);
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (attribute == nullptr ||
      ::dwarf_getlocation_addr(attribute, function.address, &operations, &count, 1) != 1)
    return std::nullopt;
  const auto found = evaluate({{operations, count}, attribute, frame, function.bias});
  if (!found || !found->is_place)
    return found ? std::optional(found->value) : std::nullopt;
  Dwarf_Attribute of_type;
  Dwarf_Die type;
  Dwarf_Word size = 0;
  if (::dwarf_formref_die(attribute_of(parameter, {DW_AT_type}, of_type), &type) == nullptr ||
      ::dwarf_aggregate_size(&type, &size) != 0)
    return std::nullopt;
  return bytes_at(found->value, size);
}

CallArgument ArgumentReader::with_target(std::optional<std::uint64_t> value) {
  CallArgument argument{value};
  if (const auto target = value ? bytes_at(*value, bytes_of_int) : std::nullopt)
    argument.target = static_cast<std::uint32_t>(*target);
  return argument;
}

/// Which argument is passed in this register, or there on the stack.
std::optional<std::size_t> ArgumentReader::place_of(std::span<const Dwarf_Op> location) const {
  if (location.size() != 1)
    return std::nullopt;
  const auto& one = location.front();
  if (const auto number = named_register(one)) {
    const auto found = std::ranges::find(argument_registers_, *number);
    return found != argument_registers_.end()
               ? std::optional<std::size_t>(found - argument_registers_.begin())
               : std::nullopt;
  }
  const bool on_stack = one.atom == static_cast<unsigned>(DW_OP_breg0 + process_.stack_pointer) &&
                        one.number % stack_slot == 0 &&
                        one.number / stack_slot < ArgumentsOfCall::most;
  return on_stack ? std::optional(argument_registers_.size() + one.number / stack_slot)
                  : std::nullopt;
}

std::optional<std::uint64_t> ArgumentReader::value_passed(Dwarf_Die& parameter, const Site& site,
                                                          int steps) {
  Dwarf_Attribute room;
  auto* attribute = attribute_of(parameter, {DW_AT_call_value, DW_AT_GNU_call_site_value}, room);
  const auto found = evaluate({operations_of(attribute), attribute, site.frame, site.bias, steps});
  return found ? std::optional(found->value) : std::nullopt;
}

/// What a register had when the frame's function began, by the call in its caller. A function that
/// was not called there, but jumped to, has other arguments.
std::optional<std::uint64_t> ArgumentReader::value_at_entry(const Expression& of,
                                                            const Dwarf_Op& operation) {
  Dwarf_Attribute nested;
  if (of.steps == most_steps || of.attribute == nullptr ||
      ::dwarf_getlocation_attr(of.attribute, &operation, &nested) != 0)
    return std::nullopt;
  const auto entry = place_of(operations_of(&nested));
  auto function = function_of(of.frame);
  auto site = entry && function ? site_of(of.frame) : std::nullopt;
  if (!site || !callee_of(site->die) || callee_of(site->die) != name_of(function->die))
    return std::nullopt;
  std::optional<std::uint64_t> value;
  each_child(site->die, parameters_of_site, [&](Dwarf_Die& parameter) {
    Dwarf_Attribute room;
    if (place_of(operations_of(attribute_of(parameter, {DW_AT_location}, room))) == entry)
      value = value_passed(parameter, *site, of.steps + 1);
  });
  return value;
}

/// The stack pointer of the caller, once the call has returned.
std::optional<std::uint64_t> ArgumentReader::frame_address(std::size_t frame) const {
  if (frame + 1 >= chain_.frames.size() || chain_.frames[frame + 1].has_stack_pointer == 0)
    return std::nullopt;
  return chain_.frames[frame + 1].stack_pointer;
}

std::optional<std::uint64_t> ArgumentReader::frame_base(const Expression& of) {
  auto function = function_of(of.frame);
  Dwarf_Attribute room;
  const auto base = function ? operations_of(attribute_of(function->die, {DW_AT_frame_base}, room))
                             : std::span<const Dwarf_Op>();
  if (base.size() != 1)
    return std::nullopt;
  if (base.front().atom == DW_OP_call_frame_cfa)
    return frame_address(of.frame);
  const auto number = named_register(base.front());
  return number ? register_of(of.frame, *number) : std::nullopt;
}

/// Other registers have changed since.
std::optional<std::uint64_t> ArgumentReader::register_of(std::size_t frame,
                                                         std::uint64_t number) const {
  const auto& one = chain_.frames[frame];
  if (number == process_.stack_pointer)
    return one.has_stack_pointer != 0 ? std::optional(one.stack_pointer) : std::nullopt;
  const auto registers = unwinder_.registers();
  if (std::ranges::find(kept_registers_, number) == kept_registers_.end() ||
      frame >= registers.size() || number >= registers[frame].size())
    return std::nullopt;
  return registers[frame][number];
}

std::optional<std::uint64_t> ArgumentReader::bytes_at(std::uint64_t address, std::size_t size) {
  std::array<std::byte, widest_value> room{};
  const auto bytes = std::span(room).first(std::min(size, room.size()));
  if (size == 0 || size > room.size() || !unwinder_.read(address, bytes))
    return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | std::to_integer<std::uint64_t>(
                             process_.big_endian != 0 ? bytes[i] : bytes[size - 1 - i]);
  return value;
}

std::optional<std::uint64_t> ArgumentReader::operand(const Expression& of,
                                                     const Dwarf_Op& operation) {
  const unsigned atom = operation.atom;
  const auto plus = [&](std::optional<std::uint64_t> base, std::uint64_t offset) {
    return base ? std::optional(*base + offset) : std::nullopt;
  };
  if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
    return atom - DW_OP_lit0;
  if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
    return plus(register_of(of.frame, atom - DW_OP_breg0), operation.number);
  if (is_entry_value(operation))
    return value_at_entry(of, operation);
  switch (atom) {
  case DW_OP_const1u:
  case DW_OP_const1s:
  case DW_OP_const2u:
  case DW_OP_const2s:
  case DW_OP_const4u:
  case DW_OP_const4s:
  case DW_OP_const8u:
  case DW_OP_const8s:
  case DW_OP_constu:
  case DW_OP_consts:
    return operation.number;
  case DW_OP_addr:
    return operation.number + of.bias;
  case DW_OP_bregx:
    return plus(register_of(of.frame, operation.number), operation.number2);
  case DW_OP_fbreg:
    return plus(frame_base(of), operation.number);
  case DW_OP_call_frame_cfa:
    return frame_address(of.frame);
  default:
    return std::nullopt;
  }
}

std::optional<ArgumentReader::Outcome> ArgumentReader::evaluate(const Expression& expression) {
  const auto operations = expression.operations;
  if (operations.size() == 1)
    if (const auto number = named_register(operations.front())) {
      const auto value = register_of(expression.frame, *number);
      return value ? std::optional(Outcome{*value}) : std::nullopt;
    }
  std::vector<std::uint64_t> values;
  bool is_place = true;
  for (const Dwarf_Op& operation : operations) {
    if (!is_place) // only pieces may follow
      return std::nullopt;
    std::optional<std::uint64_t> result = operand(expression, operation);
    if (!result && values.empty()) {
      return std::nullopt;
    } else if (!result) {
      const auto top = values.back();
      const auto taken = [&](std::uint64_t value) {
        values.pop_back();
        return value;
      };
      switch (operation.atom) {
      case DW_OP_stack_value:
        is_place = false;
        continue;
      case DW_OP_plus_uconst:
        result = taken(top) + operation.number;
        break;
      case DW_OP_neg:
        result = 0 - taken(top);
        break;
      case DW_OP_not:
        result = ~taken(top);
        break;
      case DW_OP_dup:
        result = top;
        break;
      case DW_OP_deref:
        result = bytes_at(taken(top), process_.pointer_size);
        break;
      case DW_OP_deref_size:
        result = bytes_at(taken(top), operation.number);
        break;
      default:
        values.pop_back();
        result = values.empty() ? std::nullopt : combined(operation.atom, values.back(), top);
        if (result)
          values.pop_back();
      }
    }
    if (!result || values.size() == most_values)
      return std::nullopt;
    values.push_back(*result);
  }
  return values.size() == 1 ? std::optional(Outcome{values.back(), is_place}) : std::nullopt;
}

} // namespace mqbridge::unwinder
