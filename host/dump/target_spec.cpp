#include "host/dump/take_dump.h"

#include <charconv>
#include <fmt/format.h>

namespace mqbridge {

Result<TargetSpec> TargetSpec::parse(std::string_view text) {
  TargetSpec spec;
  auto endpoint = text;
  if (text.starts_with('='))
    return fail("target.syntax", fmt::format("{}: no rank stands before the =", text),
                "write RANK=ENDPOINT, for example 3=node7:7001");
  // Only digits before the first `=` are a rank: exec: commands may contain `=` too.
  const auto digits = text.find_first_not_of("0123456789");
  if (digits != std::string_view::npos && digits != 0 && text[digits] == '=') {
    int rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, rank);
    if (error != std::errc{})
      return fail("target.syntax",
                  fmt::format("{}: {} is too large for a rank", text, text.substr(0, digits)),
                  "write RANK=ENDPOINT, for example 3=node7:7001");
    spec.rank = rank;
    endpoint.remove_prefix(digits + 1);
  }
  auto parsed = rsp::Endpoint::parse(endpoint);
  if (!parsed)
    return forward(std::move(parsed));
  spec.endpoint = std::move(*parsed);
  return spec;
}

} // namespace mqbridge
