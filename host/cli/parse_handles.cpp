#include "host/cli/parse_handles.h"

#include "host/cli/parse_dump.h"

#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace mqbridge {
namespace {

constexpr std::size_t most_handles = 1024; ///< as many as a worker is asked for

template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number number{};
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, base);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

/// An address, or an int, which is zero-extended as its 32 bits.
std::optional<std::uint64_t> parse_handle(std::string_view text) {
  if (text.starts_with("0x"))
    return number_in<std::uint64_t>(text.substr(2), 16);
  if (!text.starts_with("-"))
    return number_in<std::uint64_t>(text, 10);
  const auto number = number_in<std::int32_t>(text, 10);
  return number ? std::optional<std::uint64_t>(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

Result<void> add(HandleQuestion& question, HandleKind kind, std::string_view option,
                 const std::vector<std::string>& texts, bool fortran) {
  for (const std::string& text : texts) {
    const auto value = parse_handle(text);
    if (!value)
      return fail("usage.value", fmt::format("{} {}: no handle", option, text),
                  "its value as a debugger shows it: 0x5593c8, or an int");
    const bool is_integer = fortran && kind != HandleKind::status;
    if (is_integer && *value > std::numeric_limits<std::uint32_t>::max())
      return fail("usage.value", fmt::format("{} {}: no Fortran INTEGER", option, text),
                  "without --fortran it is a handle of C");
    if (question.handles.size() == most_handles)
      return fail("usage", fmt::format("more than {} handles at once", most_handles),
                  "without any, all of them are listed");
    question.handles.push_back({kind, *value, fortran});
  }
  return {};
}

Result<HandleQuestion> parse_question(const RawOptions& raw) {
  HandleQuestion question;
  const bool fortran = raw.fortran;
  for (const auto& [kind, option, texts] :
       {std::tuple(HandleKind::request, "--request", &raw.requests),
        std::tuple(HandleKind::communicator, "--communicator", &raw.communicator_handles),
        std::tuple(HandleKind::errhandler, "--errhandler", &raw.errhandlers),
        std::tuple(HandleKind::status, "--status", &raw.statuses)})
    if (auto added = add(question, kind, option, *texts, fortran); !added)
      return forward(std::move(added));
  if (fortran && question.handles.empty())
    return fail("usage", "mqbridge handles: --fortran is about handles, and none is given",
                "mqbridge handles --fortran --request 17 ...");
  return question;
}

} // namespace

Result<DumpCommand> parse_handles(const RawOptions& raw) {
  auto command = parse_look(raw, false);
  if (!command)
    return command;
  auto question = parse_question(raw);
  if (!question)
    return forward(std::move(question));
  command->options.stacks = false;
  command->options.handles = std::move(*question);
  return command;
}

} // namespace mqbridge
