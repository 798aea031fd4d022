#include "host/document/read_state.h"

#include "rsp/packet/printable.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge {

std::string Place::text() const {
  constexpr std::size_t longest_key = 64;
  std::string text = outer == nullptr ? std::string() : outer->text();
  if (index)
    return text + fmt::format("[{}]", *index);
  if (!key.empty())
    text += (text.empty() ? "" : ".") + printable(key.substr(0, longest_key));
  return text;
}

void ReadState::complain(const Place& place, std::string_view expected) {
  if (failed())
    return;
  const auto where = place.text();
  complain({"document.field",
            fmt::format("{}: {} was expected", where.empty() ? "the document" : where, expected),
            "take the dump again; a document of another program, or an edited one, is not read"});
}

void ReadState::complain(Error error) {
  if (!failed())
    error_ = std::move(error);
}

bool ReadState::spend(std::uint64_t bytes) {
  if (bytes > bytes_left_) {
    complain({"document.limit", "the document holds more than there is memory for",
              "take the dump with --rank, --comm or --max-operations"});
    return false;
  }
  bytes_left_ -= bytes;
  return true;
}

bool ReadState::spend_unfolded(std::uint64_t bytes) {
  if (bytes > unfolded_left_) {
    complain({"document.limit", "its lists of ranks are far longer than the document",
              "take the dump again; an edited document is not read"});
    return false;
  }
  unfolded_left_ -= bytes;
  return spend(bytes);
}

} // namespace mqbridge
