#include "host/mpi/call_arguments.h"

#include "host/mpi/mpi_call.h"
#include "host/mpi/mpi_function.h"
#include "host/mqs/queues.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <fmt/format.h>

namespace mqbridge {
namespace {

constexpr int none = -1;

/// The places of arguments, from 0, in C as in Fortran.
struct Places {
  std::string_view call;
  int communicator = none;
  int peer = none;
  int tag = none;
  int root = none;
  int send_to = none;
  int send_tag = none;
  int count = none;
  int datatype = none; ///< of `count` elements
};

constexpr auto all_places = std::to_array<Places>({
    {.call = "MPI_Send", .communicator = 5, .peer = 3, .tag = 4, .count = 1, .datatype = 2},
    {.call = "MPI_Ssend", .communicator = 5, .peer = 3, .tag = 4, .count = 1, .datatype = 2},
    {.call = "MPI_Bsend", .communicator = 5, .peer = 3, .tag = 4, .count = 1, .datatype = 2},
    {.call = "MPI_Rsend", .communicator = 5, .peer = 3, .tag = 4, .count = 1, .datatype = 2},
    {.call = "MPI_Recv", .communicator = 5, .peer = 3, .tag = 4, .count = 1, .datatype = 2},
    {.call = "MPI_Probe", .communicator = 2, .peer = 0, .tag = 1},
    {.call = "MPI_Mprobe", .communicator = 2, .peer = 0, .tag = 1},
    {.call = "MPI_Sendrecv",
     .communicator = 10,
     .peer = 8,
     .tag = 9,
     .send_to = 3,
     .send_tag = 4,
     .count = 6,
     .datatype = 7},
    {.call = "MPI_Sendrecv_replace",
     .communicator = 7,
     .peer = 5,
     .tag = 6,
     .send_to = 3,
     .send_tag = 4,
     .count = 1,
     .datatype = 2},
    {.call = "MPI_Barrier", .communicator = 0},
    {.call = "MPI_Bcast", .communicator = 4, .root = 3, .count = 1, .datatype = 2},
    {.call = "MPI_Reduce", .communicator = 6, .root = 5, .count = 2, .datatype = 3},
    {.call = "MPI_Gather", .communicator = 7, .root = 6, .count = 1, .datatype = 2},
    {.call = "MPI_Gatherv", .communicator = 8, .root = 7},
    {.call = "MPI_Scatter", .communicator = 7, .root = 6, .count = 4, .datatype = 5},
    {.call = "MPI_Scatterv", .communicator = 8, .root = 7},
    {.call = "MPI_Allreduce", .communicator = 5, .count = 2, .datatype = 3},
    {.call = "MPI_Allgather", .communicator = 6, .count = 1, .datatype = 2},
    {.call = "MPI_Allgatherv", .communicator = 7},
    {.call = "MPI_Alltoall", .communicator = 6, .count = 1, .datatype = 2},
    {.call = "MPI_Alltoallv", .communicator = 8},
    {.call = "MPI_Alltoallw", .communicator = 8},
    {.call = "MPI_Reduce_scatter", .communicator = 5},
    {.call = "MPI_Reduce_scatter_block", .communicator = 5, .count = 2, .datatype = 3},
    {.call = "MPI_Scan", .communicator = 5, .count = 2, .datatype = 3},
    {.call = "MPI_Exscan", .communicator = 5, .count = 2, .datatype = 3},
});

/// The values of one call's arguments.
class Values {
public:
  Values(const ArgumentsOfCall& told, std::string_view call, std::string_view function,
         const ArgumentFacts& facts)
      : facts_(facts) {
    if (told.callee && spells(*told.callee, call))
      sources_[0] = {&told.passed, is_for_c(*told.callee, call)};
    if (spells(function, call))
      sources_[1] = {&told.received, is_for_c(function, call)};
  }

  std::optional<std::int64_t> number(int place) const {
    const auto found = find(place);
    return found ? std::optional<std::int64_t>(static_cast<std::int32_t>(*found)) : std::nullopt;
  }

  /// A rank: one that may stand for something else is known only where the MPI is.
  std::optional<std::int64_t> rank(int place) const {
    const auto value = number(place);
    if (value && value == facts_.proc_null)
      return proc_null;
    return value >= 0 ? value : std::nullopt;
  }

  /// The bytes of so many elements of a predefined datatype.
  std::optional<std::int64_t> bytes(int count_place, int datatype_place) const {
    constexpr std::uint32_t kind = 0xff000000;
    const auto count = number(count_place);
    const auto datatype = find(datatype_place);
    if (!count || *count < 0 || !datatype || facts_.datatype == 0 ||
        (*datatype & kind) != facts_.datatype)
      return std::nullopt;
    return *count * static_cast<std::int64_t>(*datatype >> 8 & 0xff);
  }

  std::optional<std::string> communicator(int place) const {
    auto handle = find(place);
    if (!handle)
      return std::nullopt;
    if (facts_.world != 0)
      handle = static_cast<std::uint32_t>(*handle); // the rest of its register is not its own
    if (facts_.world != 0 && handle == facts_.world)
      return "MPI_COMM_WORLD";
    return facts_.self != 0 && handle == facts_.self ? "MPI_COMM_SELF"
                                                     : fmt::format("0x{:x}", *handle);
  }

private:
  struct Source {
    const std::vector<CallArgument>* arguments = nullptr;
    bool by_value = true;
  };

  /// What the caller passed counts first: a function may use its parameters for something else.
  std::optional<std::uint64_t> find(int place) const {
    for (const auto& [arguments, by_value] : sources_) {
      if (place == none || arguments == nullptr ||
          static_cast<std::size_t>(place) >= arguments->size())
        continue;
      const auto& one = (*arguments)[static_cast<std::size_t>(place)];
      if (by_value && one.value)
        return one.value;
      if (!by_value && one.target)
        return *one.target;
    }
    return std::nullopt;
  }

  const ArgumentFacts& facts_;
  std::array<Source, 2> sources_;
};

} // namespace

bool may_have_arguments(std::string_view function) {
  constexpr std::string_view prefix = "mpi_";
  if (function.starts_with('P') || function.starts_with('p'))
    function.remove_prefix(1);
  return function.size() > prefix.size() &&
         std::ranges::equal(function.substr(0, prefix.size()), prefix, {}, [](char letter) {
           return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
         });
}

std::optional<CallArguments> arguments_of(const ArgumentsOfCall& told, std::string_view call,
                                          std::string_view function, const ArgumentFacts& facts) {
  const auto places = std::ranges::find(all_places, call, &Places::call);
  if (places == all_places.end())
    return std::nullopt;
  const Values values(told, call, function, facts);
  CallArguments arguments;
  arguments.peer = values.rank(places->peer);
  arguments.any_source =
      facts.any_source && values.number(places->peer) == facts.any_source && !arguments.peer;
  arguments.tag = values.number(places->tag);
  arguments.any_tag = arguments.tag && arguments.tag == facts.any_tag;
  if (arguments.any_tag || arguments.tag < 0)
    arguments.tag.reset();
  arguments.send_to = values.rank(places->send_to);
  arguments.send_tag = values.number(places->send_tag);
  arguments.root = values.rank(places->root);
  const bool moves_none = places->call == "MPI_Barrier" || kind_of_call(call) == CallKind::probe ||
                          kind_of_call(call) == CallKind::mprobe;
  arguments.bytes = moves_none ? 0 : values.bytes(places->count, places->datatype);
  arguments.communicator = values.communicator(places->communicator);
  const bool any = arguments.peer || arguments.any_source || arguments.root || arguments.tag ||
                   arguments.any_tag || arguments.send_to || arguments.communicator;
  return !any ? std::nullopt : std::optional(std::move(arguments));
}

std::string argument_words(std::string_view call, const CallArguments& arguments) {
  const auto number = [](bool any, std::string_view word, std::optional<std::int64_t> value) {
    return any ? std::string(word) : value ? fmt::to_string(*value) : "?";
  };
  const auto rank = [&](bool any, std::optional<std::int64_t> value) {
    return value == proc_null ? "nobody" : number(any, "anybody", value);
  };
  const auto send = [&](std::optional<std::int64_t> to, std::optional<std::int64_t> tag) {
    return fmt::format(" to {} tag {}", rank(false, to), number(false, "", tag));
  };
  switch (kind_of_call(call)) {
  case CallKind::send:
    return send(arguments.peer, arguments.tag);
  case CallKind::receive:
  case CallKind::probe:
  case CallKind::mprobe:
  case CallKind::exchange:
    return (kind_of_call(call) == CallKind::exchange
                ? send(arguments.send_to, arguments.send_tag) + " and"
                : "") +
           fmt::format(" from {} tag {}", rank(arguments.any_source, arguments.peer),
                       number(arguments.any_tag, "any", arguments.tag));
  default:
    return arguments.root ? fmt::format(" with root {}", *arguments.root) : "";
  }
}

} // namespace mqbridge
