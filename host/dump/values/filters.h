#pragma once

#include "host/dump/values/variable_filter.h"
#include "host/mqs/queues.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The user's choice of what to see. Operations outside of it are counted in Queue::total and not
/// kept. A filter without values asks for all.
struct Filters {
  std::vector<OpClass> queues;
  bool no_queues = false; ///< none was asked for (`mqbridge stacks`)
  std::vector<std::string> communicators;
  std::vector<std::int64_t> ranks;
  std::vector<std::int64_t> tags;
  std::vector<std::int64_t> peers;
  VariableFilter variables = {}; ///< of `mqbridge vars`
};

/// The things that a filter chooses among. Queues and communicators are chosen before the walk.
/// Operations are chosen after the repairs: before them the DLL's ranks and tags may be wrong.
/// Queues and operations of a recorder are chosen last: which messages have arrived follows from
/// all that the recorders of all ranks say.
enum class FilterOf : std::uint8_t { ranks, communicators, queues, operations, variables };

/// A filter has the name of its option, which is also the name of its member in the document.
struct Filter {
  std::string_view name;
  FilterOf of;
};

/// Calls use(Filter, values...) for each filter of ranks, communicators, queues and operations,
/// with its values in each of `filters`.
template <class Use>
void each_queue_filter(Use&& use, auto&... filters) {
  use(Filter{"queue", FilterOf::queues}, filters.queues...);
  use(Filter{"comm", FilterOf::communicators}, filters.communicators...);
  use(Filter{"rank", FilterOf::ranks}, filters.ranks...);
  use(Filter{"tag", FilterOf::operations}, filters.tags...);
  use(Filter{"peer", FilterOf::operations}, filters.peers...);
}

/// Does the same for all filters.
template <class Use>
void each_filter(Use&& use, auto&... filters) {
  each_queue_filter(use, filters...);
  use(Filter{"kind", FilterOf::variables}, filters.variables.kind...);
  use(Filter{"verbosity", FilterOf::variables}, filters.variables.verbosity...);
  use(Filter{"category", FilterOf::variables}, filters.variables.categories...);
  use(Filter{"pattern", FilterOf::variables}, filters.variables.patterns...);
  use(Filter{"source", FilterOf::variables}, filters.variables.sources...);
}

/// Whether operations may be missing because the user did not ask for them.
bool hides_operations(const Filters& filters);

/// Removes the queues and operations that the user did not ask for.
void drop_unwanted(std::vector<Communicator>& communicators, const Filters& filters);

/// Whether the user asked for this rank. An unknown rank may be a wanted one.
bool wanted(const Filters& filters, std::optional<int> rank);

/// Whether the user asked for the communicator, by its name.
bool wanted(const Filters& filters, const Communicator& communicator);

/// Whether the user asked for the operation, by its tag and peer. A wildcard receive may match any
/// of them: it is wanted. The MPI's own operations inside a collective have no tag of the
/// program's: they are always wanted, since nobody can ask for them.
bool wanted(const Filters& filters, const Operation& operation);

} // namespace mqbridge
