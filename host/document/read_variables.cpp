#include "host/document/read_parts.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;

std::string text_or_empty(const Fields& fields, std::string_view key) {
  return fields.maybe_text(key).value_or("");
}

/// nullopt: null, absent, or a word of a later version.
template <class T>
std::optional<T> maybe_word(const Fields& fields, std::string_view key) {
  const auto name = fields.maybe_text(key);
  return name ? value_named<T>(*name) : std::nullopt;
}

/// Indexes are of lists that come later: who uses them asks whether they are any.
std::vector<std::size_t> read_indexes(const Fields& fields, std::string_view key) {
  std::vector<std::size_t> indexes;
  fields.each(key, [&](const json& element, const Place& place) {
    const auto index = integer_of(element);
    if (!index || *index < 0)
      return fields.state().complain(place, "an index");
    indexes.push_back(static_cast<std::size_t>(*index));
  });
  fields.state().spend(indexes.size() * sizeof(std::size_t));
  return indexes;
}

/// The kind of numbers that holds all elements; a number that JSON cannot hold is null.
std::optional<VariableValue> numbers(const json& list) {
  bool whole = true;
  bool is_signed = true;
  bool is_unsigned = true;
  for (const auto& element : list) {
    if (!element.is_number() && !element.is_null())
      return std::nullopt;
    whole = whole && element.is_number_integer();
    is_signed = is_signed && integer_of(element).has_value();
    is_unsigned = is_unsigned && element.is_number_unsigned();
  }
  if (!whole) {
    std::vector<double> values;
    for (const auto& element : list)
      values.push_back(element.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                         : element.get<double>());
    return values;
  }
  if (is_signed)
    return list.get<std::vector<std::int64_t>>();
  if (!is_unsigned)
    return std::nullopt;
  return list.get<std::vector<std::uint64_t>>();
}

std::optional<VariableValue> read_value(const Fields& fields) {
  if (fields.is_null("value"))
    return std::nullopt;
  const json& value = *fields.find("value");
  std::optional<VariableValue> read;
  if (value.is_string())
    read = value.get<std::string>();
  else
    read = numbers(value.is_array() ? value : json::array({value}));
  if (!read)
    fields.complain("value", "a number, a list of numbers or a text");
  const auto size = value.is_string() ? value.get_ref<const std::string&>().size()
                                      : value.size() * sizeof(std::int64_t);
  fields.state().spend(size);
  return read;
}

VariableReading read_reading(const json& element, const Place& place, ReadState& state) {
  const Fields fields(element, place, state);
  VariableReading reading;
  reading.value = read_value(fields);
  reading.object = text_or_empty(fields, "object");
  if (const auto context = fields.maybe_address("context"))
    reading.context = context->value;
  reading.earlier = fields.flag("earlier");
  reading.age_s = fields.maybe_number("age_s");
  reading.reason = text_or_empty(fields, "reason");
  state.spend(sizeof(VariableReading) + reading.object.size() + reading.reason.size());
  return reading;
}

Variable read_variable(const json& element, const Place& place, ReadState& state) {
  const Fields fields(element, place, state);
  Variable variable;
  variable.kind = fields.word<VariableKind>("kind");
  variable.name = fields.text("name");
  variable.description = text_or_empty(fields, "description");
  variable.verbosity = maybe_word<Verbosity>(fields, "verbosity");
  variable.datatype = text_or_empty(fields, "datatype");
  if (const auto index = fields.maybe_count("enumeration"))
    variable.enumeration = static_cast<std::size_t>(*index);
  variable.binding = maybe_word<Binding>(fields, "binding");
  variable.scope = maybe_word<VariableScope>(fields, "scope");
  variable.pvar_class = maybe_word<VariableClass>(fields, "class");
  variable.readonly = fields.maybe_flag("readonly");
  variable.continuous = fields.maybe_flag("continuous");
  variable.atomic = fields.maybe_flag("atomic");
  variable.categories = read_indexes(fields, "categories");
  variable.set_by = text_or_empty(fields, "set_by");
  fields.each("readings", [&](const json& reading, const Place& at) {
    variable.readings.push_back(read_reading(reading, at, state));
  });
  state.spend(sizeof(Variable) + variable.name.size() + variable.description.size() +
              variable.datatype.size() + variable.set_by.size());
  return variable;
}

VariableCategory read_category(const json& element, const Place& place, ReadState& state) {
  const Fields fields(element, place, state);
  VariableCategory category{fields.text("name"), text_or_empty(fields, "description"),
                            read_indexes(fields, "parents")};
  state.spend(sizeof(VariableCategory) + category.name.size() + category.description.size());
  return category;
}

VariableEnumeration read_enumeration(const json& element, const Place& place, ReadState& state) {
  const Fields fields(element, place, state);
  VariableEnumeration enumeration{fields.text("name"), {}};
  fields.each("items", [&](const json& value, const Place& at) {
    const Fields item(value, at, state);
    enumeration.items.push_back({item.integer("value"), item.text("name")});
    state.spend(sizeof(VariableEnumItem) + enumeration.items.back().name.size());
  });
  state.spend(sizeof(VariableEnumeration) + enumeration.name.size());
  return enumeration;
}

} // namespace

std::optional<ProcessVariables> read_variables(const Fields& rank) {
  if (rank.is_null("variables"))
    return std::nullopt;
  const Fields fields(rank, "variables");
  ReadState& state = fields.state();
  ProcessVariables variables;
  fields.each("sources", [&](const json& element, const Place&) {
    // A source of a later version is one that this version has no word for.
    if (const auto source = element.is_string()
                                ? value_named<VariableSource>(element.get<std::string>())
                                : std::nullopt)
      variables.sources.push_back(*source);
  });
  variables.whole = fields.flag("whole");
  variables.total = fields.maybe_count("total");
  variables.listed_s = fields.maybe_number("listed_s");
  fields.each("variables", [&](const json& element, const Place& place) {
    variables.variables.push_back(read_variable(element, place, state));
  });
  fields.each("categories", [&](const json& element, const Place& place) {
    variables.categories.push_back(read_category(element, place, state));
  });
  fields.each("enumerations", [&](const json& element, const Place& place) {
    variables.enumerations.push_back(read_enumeration(element, place, state));
  });
  return variables;
}

} // namespace mqbridge
