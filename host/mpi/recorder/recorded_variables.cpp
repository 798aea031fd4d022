#include "host/mpi/recorder/recorded_variables.h"

#include "host/limits.h"
#include "host/mpi/recorder/recorded_samples.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mqbridge::recorder {
namespace {

// mqbridge shows all that a recorder keeps.
static_assert(limits::variables >= MQR_MAX_VARIABLES &&
              limits::variable_text >= MQR_MAX_VARIABLE_TEXT &&
              limits::enumeration_items >= MQR_MAX_ENUMERATION_ITEMS);

constexpr BlockShape variables_shape = {"the recorder's list of variables", MQR_MAGIC_VARIABLES,
                                        sizeof(mqr_variables), MQR_MAX_VARIABLES_SIZE};

constexpr std::size_t offset_of(mqr_part_number number) {
  return offsetof(mqr_variables, parts) + number * sizeof(mqr_part);
}

/// The index of a variable, by its kind and MPI's number of it.
using Numbers = std::map<std::pair<VariableKind, std::uint32_t>, std::size_t>;

/// Decodes the block. After an error the decoded part is worthless.
class Listing {
public:
  /// `age`: seconds since the list was made.
  Listing(const Block& block, std::optional<double> age) : block_(block), age_(age) {}

  Result<void> decode() {
    using Step = Result<void> (Listing::*)();
    for (const Step step : {&Listing::open, &Listing::add_enumerations, &Listing::add_variables,
                            &Listing::add_categories})
      if (auto done = (this->*step)(); !done)
        return done;
    return {};
  }

  std::span<const ValueForm> forms() const { return forms_; }

  ProcessVariables take(std::vector<std::vector<VariableReading>> samples) {
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (!samples[i].empty())
        result_.variables[i].readings = std::move(samples[i]);
    return std::move(result_);
  }

private:
  Result<void> open() {
    const auto take = [&](Part& into, mqr_part_number number, std::size_t known, std::size_t most) {
      auto part = block_.part(offset_of(number), known, most);
      if (part)
        into = *part;
      return part ? Result<void>() : Result<void>(forward(std::move(part)));
    };
    struct Wanted {
      Part& into;
      mqr_part_number number;
      std::size_t known, most;
    };
    for (const Wanted& each : {
             Wanted{variables_, MQR_PART_VARIABLES, sizeof(mqr_variable), 2 * limits::variables},
             Wanted{categories_, MQR_PART_CATEGORIES, sizeof(mqr_category), limits::variables},
             Wanted{members_, MQR_PART_MEMBERS, sizeof(std::uint32_t), variables_shape.most},
             Wanted{enumerations_, MQR_PART_ENUMERATIONS, sizeof(mqr_enumeration),
                    2 * limits::variables},
             Wanted{items_, MQR_PART_ITEMS, sizeof(mqr_enumeration_item), variables_shape.most},
             Wanted{texts_, MQR_PART_TEXTS, 1, variables_shape.most},
             Wanted{values_, MQR_PART_VALUES, 1, variables_shape.most},
         })
      if (auto done = take(each.into, each.number, each.known, each.most); !done)
        return done;
    return {};
  }

  /// Counts bytes of decoded texts and values: a damaged block may share them among its entries
  /// without end.
  Result<void> spend(std::size_t bytes) {
    if (bytes > limits::variable_texts - spent_)
      return Failure(block_.damage("more texts and values than any MPI has"));
    spent_ += bytes;
    return {};
  }

  Result<std::string> text_at(std::uint32_t at) {
    if (at >= texts_.count)
      return Failure(block_.damage("a text beyond its end"));
    const auto most = std::min(texts_.count - at, limits::variable_text);
    const auto bytes = *block_.bytes(texts_, at, most);
    auto text = std::get<std::string>(*decode_value(bytes, {MQR_FORM_TEXT, 1}, block_.order()));
    if (auto done = spend(text.size() + sizeof text); !done)
      return forward(std::move(done));
    return text;
  }

  /// Reads a text into its place.
  Result<void> take_text(std::string& into, std::uint32_t at) {
    auto text = text_at(at);
    if (!text)
      return forward(std::move(text));
    into = std::move(*text);
    return {};
  }

  Result<void> add_enumerations() {
    for (std::size_t i = 0; i < enumerations_.count; ++i) {
      const auto record = block_.entry(enumerations_, i);
      const auto first = record.u32(offsetof(mqr_enumeration, first));
      const auto count = record.u32(offsetof(mqr_enumeration, count));
      VariableEnumeration made;
      if (auto done = take_text(made.name, record.u32(offsetof(mqr_enumeration, name))); !done)
        return done;
      if (count > limits::enumeration_items || first > items_.count || count > items_.count - first)
        return Failure(block_.damage("an enumeration reaches beyond its end"));
      for (std::size_t item = first; item < first + std::size_t{count}; ++item) {
        const auto entry = block_.entry(items_, item);
        auto name = text_at(entry.u32(offsetof(mqr_enumeration_item, name)));
        if (!name)
          return forward(std::move(name));
        made.items.push_back({entry.i32(offsetof(mqr_enumeration_item, value)), std::move(*name)});
      }
      result_.enumerations.push_back(std::move(made));
    }
    return {};
  }

  template <class Enumerator>
  static std::optional<Enumerator> enumerator(std::int32_t place, Enumerator last) {
    if (place < 0 || place > static_cast<std::int32_t>(last))
      return std::nullopt;
    return static_cast<Enumerator>(place);
  }

  /// Decodes the members that only one kind has.
  static void decode_kind(const Record& record, Variable& made) {
    const auto flags = record.u32(offsetof(mqr_variable, flags));
    if (made.kind == VariableKind::control) {
      made.scope = enumerator(record.i32(offsetof(mqr_variable, scope)), VariableScope::all_eq);
      return;
    }
    made.pvar_class =
        enumerator(record.i32(offsetof(mqr_variable, performance_class)), VariableClass::generic);
    made.readonly = (flags & MQR_VARIABLE_READONLY) != 0;
    made.continuous = (flags & MQR_VARIABLE_CONTINUOUS) != 0;
    made.atomic = (flags & MQR_VARIABLE_ATOMIC) != 0;
  }

  Result<Variable> decode_variable(const Record& record) {
    Variable made;
    const auto kind = record.u32(offsetof(mqr_variable, kind));
    if (kind > MQR_PERFORMANCE_VARIABLE)
      return Failure(block_.damage("a variable of no kind"));
    made.kind = kind == MQR_CONTROL_VARIABLE ? VariableKind::control : VariableKind::performance;
    if (auto done = take_text(made.name, record.u32(offsetof(mqr_variable, name))); !done)
      return forward(std::move(done));
    if (auto done = take_text(made.description, record.u32(offsetof(mqr_variable, description)));
        !done)
      return forward(std::move(done));
    for (std::size_t i = 0; i < MQR_WORD_SIZE; ++i) {
      const auto byte = record.u8(offsetof(mqr_variable, datatype) + i);
      if (byte == 0)
        break;
      made.datatype.push_back(static_cast<char>(byte));
    }
    made.verbosity =
        enumerator(record.i32(offsetof(mqr_variable, verbosity)), Verbosity::mpidev_all);
    made.binding = enumerator(record.i32(offsetof(mqr_variable, binding)), Binding::session);
    decode_kind(record, made);
    const auto enumeration = record.i32(offsetof(mqr_variable, enumeration));
    if (enumeration >= 0 && static_cast<std::size_t>(enumeration) >= enumerations_.count)
      return Failure(block_.damage("a variable of no enumeration"));
    if (enumeration >= 0)
      made.enumeration = static_cast<std::size_t>(enumeration);
    return made;
  }

  Result<VariableReading> decode_reading(const Record& record, const ValueForm& form) {
    VariableReading reading;
    reading.earlier = true;
    reading.age_s = age_;
    const auto state = record.u32(offsetof(mqr_variable, state));
    if (state != MQR_VALUE_READ) {
      reading.reason = reason_of(state, record.i32(offsetof(mqr_variable, error)));
      return reading;
    }
    const auto size = std::uint64_t{record.u32(offsetof(mqr_variable, count))} * form.element;
    const auto bytes = block_.bytes(values_, record.u32(offsetof(mqr_variable, value)), size);
    if (!bytes)
      return Failure(block_.damage("a value reaches beyond its end"));
    if (auto done = spend(bytes->size() * sizeof(std::uint64_t)); !done)
      return forward(std::move(done));
    reading.value = decode_value(*bytes, form, block_.order());
    if (!reading.value)
      reading.reason = reason_of(MQR_VALUE_FORM, 0);
    return reading;
  }

  Result<void> add_variables() {
    for (std::size_t i = 0; i < variables_.count; ++i) {
      const auto record = block_.entry(variables_, i);
      const ValueForm form = {record.u32(offsetof(mqr_variable, form)),
                              record.u32(offsetof(mqr_variable, element))};
      auto made = decode_variable(record);
      if (!made)
        return forward(std::move(made));
      auto reading = decode_reading(record, form);
      if (!reading)
        return forward(std::move(reading));
      made->readings.push_back(std::move(*reading));
      numbers_.emplace(std::pair(made->kind, record.u32(offsetof(mqr_variable, index))), i);
      forms_.push_back(form);
      result_.variables.push_back(std::move(*made));
    }
    return {};
  }

  Result<void> add_categories() {
    std::map<std::uint32_t, std::size_t> places;
    for (std::size_t i = 0; i < categories_.count; ++i) {
      const auto record = block_.entry(categories_, i);
      VariableCategory made;
      if (auto done = take_text(made.name, record.u32(offsetof(mqr_category, name))); !done)
        return done;
      if (auto done = take_text(made.description, record.u32(offsetof(mqr_category, description)));
          !done)
        return done;
      places.emplace(record.u32(offsetof(mqr_category, index)), i);
      result_.categories.push_back(std::move(made));
    }
    for (std::size_t i = 0; i < categories_.count; ++i)
      if (auto done = add_members(i, places); !done)
        return done;
    return {};
  }

  /// A number may have no variable or category: MPI_T no longer answers for it.
  Result<void> add_members(std::size_t category,
                           const std::map<std::uint32_t, std::size_t>& places) {
    const auto record = block_.entry(categories_, category);
    std::size_t member = record.u32(offsetof(mqr_category, first));
    const std::size_t controls = record.u32(offsetof(mqr_category, controls));
    const std::size_t performances = record.u32(offsetof(mqr_category, performances));
    const std::size_t categories = record.u32(offsetof(mqr_category, categories));
    if (member > members_.count || controls + performances + categories > members_.count - member)
      return Failure(block_.damage("a category reaches beyond its end"));
    if (auto done = spend((controls + performances + categories) * sizeof(std::size_t)); !done)
      return done;
    const auto next = [&] { return block_.entry(members_, member++).u32(0); };
    const auto add = [&](VariableKind kind, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        if (const auto found = numbers_.find({kind, next()}); found != numbers_.end())
          result_.variables[found->second].categories.push_back(category);
    };
    add(VariableKind::control, controls);
    add(VariableKind::performance, performances);
    for (std::size_t i = 0; i < categories; ++i)
      if (const auto found = places.find(next()); found != places.end())
        result_.categories[found->second].parents.push_back(category);
    return {};
  }

  const Block& block_;
  const std::optional<double> age_;
  Part variables_, categories_, members_, enumerations_, items_, texts_, values_;
  std::size_t spent_ = 0;
  Numbers numbers_;
  std::vector<ValueForm> forms_;
  ProcessVariables result_;
};

Error not_recorded(bool initialized) {
  if (!initialized)
    return {"variables.not_recorded",
            "the recorder keeps variables between MPI_Init and MPI_Finalize: this process is in "
            "front of the one or behind the other",
            "look again while the job computes"};
  return {
      "variables.not_recorded",
      "the recorder keeps no variables of this process: with Open MPI it lists them only where "
      "MQBRIDGE_VARIABLES=1 is in the environment, and nowhere with MQBRIDGE_VARIABLES=0, if it "
      "is older than version 1.2, or if somebody has initialized MPI_T before MPI_Init",
      "start the job with MQBRIDGE_VARIABLES=1 and the recorder of this mqbridge"};
}

} // namespace

Result<std::optional<ProcessVariables>> read_variables(const AddressSpace& space,
                                                       Warnings& warnings) {
  auto root = read_root(space);
  if (!root)
    return forward(std::move(root));
  if (!*root)
    return std::nullopt; // the debug DLL says why
  if ((*root)->variables == 0) {
    warnings.push_back(not_recorded((*root)->state == MQR_INITIALIZED));
    return std::nullopt;
  }
  auto block = Block::read(space, (*root)->variables, variables_shape);
  if (!block)
    return forward(std::move(block));
  const auto header = block->header();
  const auto age = age_of(header.u64(offsetof(mqr_variables, listed)), warnings);
  Listing listing(*block, age);
  if (auto done = listing.decode(); !done)
    return forward(std::move(done));
  std::vector<std::vector<VariableReading>> samples;
  if (const auto address = header.u64(offsetof(mqr_variables, samples)); address != 0) {
    auto read = read_samples(space, **root, address, listing.forms(), warnings);
    if (!read)
      return forward(std::move(read));
    samples = std::move(*read);
  }
  auto result = listing.take(std::move(samples));
  result.sources = {VariableSource::recorder};
  result.listed_s = age;
  result.whole = (header.u32(offsetof(mqr_variables, flags)) & MQR_VARIABLES_CUT) == 0;
  if (!result.whole)
    warnings.push_back({"variables.cut",
                        "the recorder has not kept all of MPI's variables: there are too many, or "
                        "memory was short",
                        ""});
  return result;
}

} // namespace mqbridge::recorder
