#include "host/document/redact.h"

#include "host/disk/file_name.h"
#include "host/document/rank_members.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

/// Texts that stay: words of mqbridge and of the MPI, and names in the program.
constexpr std::array<std::string_view, 14> kept = {
    "architecture", "build_id",    "byte_order",    "call",     "code",
    "datatype",     "function",    "key",           "name",     "provider",
    "stopped_at",   "system_call", "process_state", "transport"};
constexpr std::array<std::string_view, 6> paths = {"dll",    "executable", "file",
                                                   "module", "path",       "types_source"};
constexpr std::array<std::string_view, 2> versions = {"version", "dll_version"};
/// Texts that are numbered, and the word before the number.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> counted = {
    {{"host", "host"}, {"endpoint", "target"}, {"job_id", "job"}, {"mark", "mark"}}};
/// Numbers that are written like addresses, and are none.
constexpr std::array<std::string_view, 5> no_addresses = {"base", "context_id", "id", "joint",
                                                          "path"};

bool is_in(const auto& list, std::string_view key) {
  return std::ranges::find(list, key) != list.end();
}

/// "Open MPI v5.0.7" of "Open MPI v5.0.7, package: Open MPI anna@login3 Distribution, ...".
std::string bare_version(const std::string& version) {
  auto first = version.substr(0, version.find_first_of(",;(\r\n"));
  return first.find_first_of("/@") == std::string::npos ? first : "";
}

/// A form of describe() that changes each member.
class RedactMembers {
public:
  explicit RedactMembers(Redactor& redactor) : redactor_(redactor) {}

  template <class T, class... Form>
  void member(std::string_view /*key*/, T& /*value*/, Form... /*form*/) {}
  template <class... Form>
  void member(std::string_view key, std::string& text, Form... /*form*/) {
    text = redactor_.text(key, text);
  }
  template <class... Form>
  void member(std::string_view key, std::optional<std::string>& text, Form... /*form*/) {
    if (text)
      text = redactor_.text(key, *text);
  }
  void member(std::string_view /*key*/, TextLines& text) { text = {}; }
  void member(std::string_view /*key*/, TargetAddress& address) { change(address.value); }
  void member(std::string_view /*key*/, std::optional<TargetAddress>& address) {
    if (address)
      change(address->value);
  }
  void member(std::string_view /*key*/, MaybeAddress& address) {
    if (address)
      address = TargetAddress{redactor_.address(address->value)};
  }
  void member(std::string_view key, std::uint64_t& address, AsAddress /*form*/) {
    if (!is_in(no_addresses, key))
      change(address);
  }
  void member(std::string_view key, std::optional<std::uint64_t>& address, AsAddress form) {
    if (address)
      member(key, *address, form);
  }
  void member(std::string_view key, std::vector<std::uint64_t>& addresses, AsAddress form) {
    for (std::uint64_t& address : addresses)
      member(key, address, form);
  }
  void member(std::string_view key, std::optional<std::vector<std::uint64_t>>& addresses,
              AsAddress form) {
    if (addresses)
      member(key, *addresses, form);
  }
  void member(std::string_view /*key*/, ChunkedList<Operation>& operations) {
    for (Operation& operation : operations)
      describe(*this, operation);
  }
  void member(std::string_view /*key*/, Operation& operation, RawValues /*form*/) {
    change(operation.raw.buffer);
  }
  void constant(std::string_view /*key*/, std::string_view /*text*/) {}
  void null(std::string_view /*key*/) {}

  template <class T, class... Layout>
  void object(std::string_view key, T& value, Layout... /*layout*/) {
    if constexpr (requires { value.has_value(); }) {
      if (value)
        object(key, *value);
    } else
      describe(*this, value);
  }
  void part(std::string_view key, auto& value) { object(key, value); }
  void members(SharedSite& site) { site = redactor_.site(site); }
  template <class T, class... Layout>
  void list(std::string_view key, T& values, Layout... /*layout*/) {
    if constexpr (requires { values.has_value(); }) {
      if (values)
        list(key, *values);
    } else
      for (auto& value : values)
        describe(*this, value);
  }
  void list_or_null(std::string_view key, auto& values) { list(key, values); }
  void list_or_absent(std::string_view key, auto& values, JsonWriter::Layout /*each*/) {
    list(key, values);
  }

  bool has(bool condition) const { return condition; }
  bool has_statistics() const { return false; }
  void put(auto&& /*take*/) {} // what is put together again are words and numbers
  void afterwards(auto&& write) { write(); }

private:
  void change(std::uint64_t& address) { address = redactor_.address(address); }

  Redactor& redactor_;
};

} // namespace

std::string Redactor::numbered(std::string_view word, const std::string& text) {
  auto& numbers = numbers_[std::string(word)];
  return fmt::format("{}-{}", word, numbers.try_emplace(text, numbers.size() + 1).first->second);
}

std::string Redactor::text(std::string_view key, const std::string& text) {
  if (text.empty() || is_in(kept, key))
    return text;
  if (is_in(paths, key))
    return std::string(file_name(text));
  if (is_in(versions, key))
    return bare_version(text);
  const auto* const count =
      std::ranges::find(counted, key, &std::pair<std::string_view, std::string_view>::first);
  if (count != counted.end())
    return numbered(count->second, text);
  // A predefined communicator's name, or a handle, in the arguments of a call.
  if (key == "communicator" && text.starts_with("MPI_"))
    return text;
  return key == "message" || key == "error" ? "(left out)" : "";
}

std::uint64_t Redactor::address(std::uint64_t address) {
  return address == 0 ? 0 : addresses_.try_emplace(address, addresses_.size() + 1).first->second;
}

SharedSite Redactor::site(const SharedSite& site) {
  if (!site)
    return site;
  auto& changed = sites_[site];
  if (!changed) {
    changed = std::make_shared<CallSite>(*site);
    RedactMembers members(*this);
    describe(members, *changed);
  }
  return changed;
}

void Redactor::redact(RankError& error) {
  RedactMembers members(*this);
  describe(members, error);
}

void Redactor::redact(RankDump& rank) {
  rank.variables.reset();
  RedactMembers members(*this);
  describe(members, rank);
  for (std::size_t i = 0; rank.stacks && i < rank.stacks->size(); ++i)
    (*rank.stacks)[i].name.reset(); // a thread may have any name
}

void Redactor::redact(Dump& dump) {
  for (RankDump& rank : dump.ranks)
    redact(rank);
  for (EarlierLook& look : dump.earlier)
    for (RankDump& rank : look.ranks)
      redact(rank);
  for (RankError& error : dump.errors)
    redact(error);
  dump.filters.variables = {};
  dump.analysis.reset();
  dump.variable_differences.reset();
  dump.unexpected_lengths.reset();
}

} // namespace mqbridge
