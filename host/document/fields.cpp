#include "host/document/fields.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace mqbridge {
namespace {

using nlohmann::json;

/// "0x1f" and nothing else.
std::optional<TargetAddress> parsed_address(const json& value) {
  if (!value.is_string())
    return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (!text.starts_with("0x"))
    return std::nullopt;
  TargetAddress address;
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + 2, last, address.value, 16);
  return error == std::errc() && end == last ? std::optional(address) : std::nullopt;
}

} // namespace

std::optional<std::int64_t> integer_of(const json& value) {
  if (!value.is_number_integer())
    return std::nullopt;
  if (value.is_number_unsigned() &&
      std::cmp_greater(value.get<std::uint64_t>(), std::numeric_limits<std::int64_t>::max()))
    return std::nullopt;
  return value.get<std::int64_t>();
}

Fields::Fields(const json& object, const Place& place, ReadState& state)
    : state_(state), place_(place), object_(object.is_object() ? &object : nullptr) {
  if (object_ == nullptr)
    state_.complain(place_, "an object");
}

Fields::Fields(const Fields& outer, std::string_view key)
    : state_(outer.state_), place_(outer.place_of(key)), object_(outer.required(key)) {
  if (object_ != nullptr && !object_->is_object()) {
    object_ = nullptr;
    state_.complain(place_, "an object");
  }
}

const json* Fields::find(std::string_view key) const {
  if (object_ == nullptr)
    return nullptr;
  const auto found = object_->find(key);
  return found == object_->end() ? nullptr : &*found;
}

const json* Fields::required(std::string_view key) const {
  const auto* const found = find(key);
  if (found == nullptr)
    complain(key, "a value (it is missing)");
  return found;
}

bool Fields::is_null(std::string_view key) const {
  const auto* const found = find(key);
  return found == nullptr || found->is_null();
}

bool Fields::flag(std::string_view key) const {
  const auto* const found = required(key);
  if (found != nullptr && !found->is_boolean())
    complain(key, "true or false");
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

std::optional<bool> Fields::maybe_flag(std::string_view key) const {
  return is_null(key) ? std::nullopt : std::optional(flag(key));
}

std::string Fields::text(std::string_view key) const {
  const auto* const found = required(key);
  if (found != nullptr && found->is_string())
    return found->get<std::string>();
  complain(key, "a text");
  return {};
}

std::optional<std::string> Fields::maybe_text(std::string_view key) const {
  return is_null(key) ? std::nullopt : std::optional(text(key));
}

std::int64_t Fields::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const auto* const found = required(key);
  const auto value = found == nullptr ? std::nullopt : integer_of(*found);
  if (value && *value >= least && *value <= most)
    return *value;
  complain(key, value ? "an integer within its bounds" : "an integer");
  return 0;
}

std::optional<std::int64_t> Fields::maybe_integer(std::string_view key, std::int64_t least,
                                                  std::int64_t most) const {
  return is_null(key) ? std::nullopt : std::optional(integer(key, least, most));
}

std::uint64_t Fields::count(std::string_view key) const {
  const auto* const found = required(key);
  if (found != nullptr && found->is_number_unsigned())
    return found->get<std::uint64_t>();
  complain(key, "a number of things");
  return 0;
}

std::optional<std::uint64_t> Fields::maybe_count(std::string_view key) const {
  return is_null(key) ? std::nullopt : std::optional(count(key));
}

double Fields::number(std::string_view key) const {
  const auto* const found = required(key);
  if (found != nullptr && found->is_number())
    return found->get<double>();
  complain(key, "a number");
  return 0;
}

std::optional<double> Fields::maybe_number(std::string_view key) const {
  return is_null(key) ? std::nullopt : std::optional(number(key));
}

TargetAddress Fields::address(std::string_view key) const {
  const auto* const found = required(key);
  const auto value = found == nullptr ? std::nullopt : parsed_address(*found);
  if (!value)
    complain(key, "an address such as \"0x1f\"");
  return value.value_or(TargetAddress{});
}

std::optional<TargetAddress> Fields::maybe_address(std::string_view key) const {
  return is_null(key) ? std::nullopt : std::optional(address(key));
}

void Fields::each(std::string_view key,
                  const std::function<void(const json&, const Place&)>& use) const {
  const auto* const found = required(key);
  if (found == nullptr || !found->is_array()) {
    complain(key, "an array");
    return;
  }
  const Place list = place_of(key);
  for (std::size_t i = 0; i < found->size() && !state_.failed(); ++i)
    use((*found)[i], Place{&list, {}, i});
}

std::vector<std::string> Fields::texts(std::string_view key, std::size_t most) const {
  std::vector<std::string> texts;
  each(key, [&](const json& element, const Place& place) {
    if (element.is_string() && texts.size() < most)
      texts.push_back(element.get<std::string>());
    else
      state_.complain(place, element.is_string() ? "the end of the list" : "a text");
  });
  return texts;
}

} // namespace mqbridge
