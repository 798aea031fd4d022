#include "host/mpi/recorder/recorded_values.h"

#include "host/memory/reader.h"
#include "rsp/seconds.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <fmt/format.h>

namespace mqbridge::recorder {
namespace {

template <class T, class Decode>
std::vector<T> decode_all(std::span<const std::byte> bytes, std::size_t element, Decode decode) {
  std::vector<T> values;
  values.reserve(bytes.size() / element);
  for (std::size_t at = 0; at + element <= bytes.size(); at += element)
    values.push_back(decode(bytes.subspan(at, element)));
  return values;
}

std::string text_of(std::span<const std::byte> bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  std::string text;
  std::transform(bytes.begin(), end, std::back_inserter(text),
                 [](std::byte byte) { return static_cast<char>(byte); });
  return text;
}

} // namespace

std::optional<VariableValue> decode_value(std::span<const std::byte> bytes, const ValueForm& form,
                                          ByteOrder order) {
  const auto element = form.element;
  if (form.form == MQR_FORM_TEXT)
    return text_of(bytes);
  if (element != 1 && element != 2 && element != 4 && element != 8)
    return std::nullopt;
  switch (form.form) {
  case MQR_FORM_SIGNED:
    return decode_all<std::int64_t>(bytes, element,
                                    [&](auto each) { return decode_signed(each, order); });
  case MQR_FORM_UNSIGNED:
    return decode_all<std::uint64_t>(bytes, element,
                                     [&](auto each) { return decode_unsigned(each, order); });
  case MQR_FORM_FLOATING:
    if (element == 8)
      return decode_all<double>(bytes, element, [&](auto each) {
        return std::bit_cast<double>(decode_unsigned(each, order));
      });
    if (element == 4)
      return decode_all<double>(bytes, element, [&](auto each) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(decode_unsigned(each, order)));
      });
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::string reason_of(std::uint32_t state, std::int32_t error) {
  switch (state) {
  case MQR_VALUE_SAMPLED:
    return "the recorder has not sampled it yet";
  case MQR_VALUE_REFUSED:
    return fmt::format("MPI_T refused it with error {}", error);
  case MQR_VALUE_BOUND:
    return "it is bound to objects that the recorder does not read";
  case MQR_VALUE_LARGE:
    return "it is longer than what the recorder keeps";
  case MQR_VALUE_FORM:
    return "it is of a datatype that the recorder does not read";
  case MQR_VALUE_STOPPED:
    return "it counts only for a tool that has started it";
  case MQR_VALUE_UNUSED:
    return "its part of the MPI may not be in use, where to read it could end the process";
  default:
    return "the recorder has no value";
  }
}

double seconds_since(std::uint64_t then) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto elapsed = in_seconds(now) - static_cast<double>(then) / 1e9;
  return elapsed;
}

} // namespace mqbridge::recorder
