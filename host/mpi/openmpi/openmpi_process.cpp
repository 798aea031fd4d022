#include "host/mpi/openmpi/openmpi_process.h"

#include "host/codes.h"
#include "host/memory/digest.h"
#include "host/memory/reader.h"
#include "host/mpi/openmpi/known_objects.h"
#include "host/process/structures.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// A class descriptor of one image, and room for its word with the size.
struct ClassWord {
  ClassSymbol symbol;
  const Image* image;
  std::array<std::byte, 8> bytes{};
};

/// The words of the types that `find` knows. The sizes of other types say nothing, and the plugins
/// have many of them.
Result<std::vector<ClassWord>> class_words(const TypeFinder& find, const ImageSet& images,
                                           TypesOf owner) {
  std::vector<ClassWord> words;
  for (const auto& image : images.images()) {
    if (image.file == nullptr)
      continue;
    for (const auto& symbol : class_symbols(*image.file)) {
      if (owner_of(symbol.type) != owner)
        continue;
      auto known = find(symbol.type);
      if (!known)
        return forward(std::move(known));
      if (*known != nullptr)
        words.push_back({symbol, &image});
    }
  }
  return words;
}

/// Words that could not be read, and classes not initialised yet (0), state nothing.
Result<void> add_class_sizes(const TypeFinder& find, const AddressSpace& space, TypesOf owner,
                             std::vector<SizeFact>& facts) {
  auto known = class_words(find, space.images, owner);
  if (!known)
    return forward(std::move(known));
  auto& words = *known;
  std::vector<MemoryRange> ranges;
  for (auto& word : words) {
    const auto size = static_cast<std::size_t>(word.symbol.size_word_size);
    const auto into = std::span(word.bytes).first(std::min(size, word.bytes.size()));
    ranges.push_back({word.image->bias(word.symbol.size_word), into});
  }
  if (auto done = space.memory.read_ranges(ranges); !done)
    return done;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (ranges[i].read != ranges[i].into.size())
      continue;
    const auto size = decode_unsigned(ranges[i].into, space.platform.byte_order);
    std::string type(words[i].symbol.type);
    std::string symbol = type + "_class";
    if (size != 0)
      facts.push_back({std::move(type), size, std::move(symbol)});
  }
  return {};
}

/// Notes a mismatch if the pointers of types that a debug DLL follows do not have the target's
/// width.
Result<void> compare_pointers(const TypeFinder& find, const Platform& platform,
                              TypeComparison& comparison) {
  constexpr std::string_view type = "opal_list_item_t";
  auto layout = find(type);
  if (!layout)
    return forward(std::move(layout));
  const TypeField* next = *layout != nullptr ? (*layout)->find_field("opal_list_next") : nullptr;
  if (next != nullptr && next->size != 0 && std::cmp_not_equal(next->size, platform.pointer_size))
    comparison.mismatches.push_back(fmt::format("{}.opal_list_next: {} bytes, a pointer of the "
                                                "target has {}",
                                                type, next->size, platform.pointer_size));
  return {};
}

bool is_component_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// MPI_Session_init makes the list of communicators, which is zero before
/// (ompi/communicator/comm_init.c), without a mark in ompi_mpi_state.
Result<bool> was_in_a_session(const AddressSpace& space) {
  const auto communicators = space.images.find_symbol("ompi_mpi_communicators");
  if (!has_sessions(space.images) || !communicators)
    return false;
  auto first = read_unsigned(space.memory, space.platform, communicators->address,
                             static_cast<std::size_t>(space.platform.pointer_size));
  if (!first && first.error().code == codes::memory_unreadable)
    return true; // not known
  if (!first)
    return forward(std::move(first));
  return *first != 0;
}

/// A process has fewer requests: a list that states more is corrupt, or not initialised.
constexpr std::uint64_t most_items = 100'000'000;

constexpr std::array<std::string_view, 2> lists = {"mca_pml_base_send_requests",
                                                   "mca_pml_base_recv_requests"};

} // namespace

bool has_sessions(const ImageSet& images) {
  return images.find_symbol("ompi_mpi_instance_null").has_value();
}

Result<std::vector<SizeFact>> stated_sizes(const TypeFinder& find, const AddressSpace& space,
                                           TypesOf owner) {
  std::vector<SizeFact> facts;
  for (const auto& image : space.images.images()) {
    if (image.file == nullptr)
      continue;
    auto sizes = symbol_sizes(*image.file);
    facts.insert(facts.end(), sizes.begin(), sizes.end());
  }
  if (auto done = add_class_sizes(find, space, owner, facts); !done)
    return forward(std::move(done));
  return facts;
}

Result<TypeComparison> check_types(const TypeFinder& find, const AddressSpace& space) {
  auto facts = stated_sizes(find, space, TypesOf::library);
  if (!facts)
    return forward(std::move(facts));
  auto comparison = compare_types(find, *facts);
  if (!comparison)
    return comparison;
  if (auto done = compare_pointers(find, space.platform, *comparison); !done)
    return forward(std::move(done));
  auto misread = misread_objects(find, space);
  if (!misread)
    return forward(std::move(misread));
  auto& mismatches = comparison->mismatches;
  mismatches.insert(mismatches.end(), misread->begin(), misread->end());
  return comparison;
}

Result<MpiState> read_state(const AddressSpace& space) {
  // ompi/runtime/mpiruntime.h, ompi_mpi_state_t: 2 is INIT_COMPLETED, 3 FINALIZE_STARTED, 4
  // FINALIZE_PAST_COMM_SELF_DESTRUCT, 5 FINALIZE_COMPLETED. In state 4 MPI_Finalize waits for the
  // other processes, and all queues are as they were.
  constexpr std::uint64_t init_completed = 2;
  constexpr std::uint64_t finalize_started = 3;
  constexpr std::uint64_t finalized = 5;
  const auto symbol = space.images.find_symbol("ompi_mpi_state");
  if (!symbol)
    return MpiState::unknown;
  auto value = read_unsigned(space.memory, space.platform, symbol->address, sizeof(std::int32_t));
  if (!value && value.error().code == codes::memory_unreadable)
    return MpiState::unknown;
  if (!value)
    return forward(std::move(value));
  if (*value > finalized)
    return MpiState::unknown;
  if (*value == 0) {
    auto session = was_in_a_session(space);
    if (!session)
      return forward(std::move(session));
    return *session ? MpiState::unknown : MpiState::not_initialized;
  }
  if (*value == finalized)
    return MpiState::finalized;
  if (*value >= finalize_started)
    return MpiState::finalizing;
  return *value >= init_completed ? MpiState::initialized : MpiState::not_initialized;
}

Result<ThreadLevel> read_thread_level(const AddressSpace& space) {
  const auto symbol = space.images.find_symbol("ompi_mpi_thread_provided");
  if (!symbol)
    return ThreadLevel::unknown;
  auto value = read_unsigned(space.memory, space.platform, symbol->address,
                             static_cast<std::size_t>(space.platform.int_size));
  if (!value && value.error().code == codes::memory_unreadable)
    return ThreadLevel::unknown;
  if (!value)
    return forward(std::move(value));
  // MPI_THREAD_SINGLE is 0, and the others follow it.
  constexpr std::uint64_t most = 3;
  return *value <= most ? static_cast<ThreadLevel>(*value + 1) : ThreadLevel::unknown;
}

Result<std::optional<bool>> has_made_unlisted_requests(const AddressSpace& space) {
  bool generalized = false; // that class is always there, where classes are exported
  std::vector<std::array<std::byte, sizeof(std::int32_t)>> words;
  std::vector<TargetAddress> addresses;
  for (const auto& image : space.images.images()) {
    if (image.file == nullptr && image.target_path.find("mca_") != std::string::npos)
      return std::nullopt; // a plugin's classes are not known
    if (image.target_path.find("hcoll") != std::string::npos)
      return std::nullopt; // it makes requests of a class that tells nothing
    if (image.file == nullptr)
      continue;
    for (const auto& symbol : class_symbols(*image.file)) {
      if (!is_unlisted_request(symbol.type))
        continue;
      generalized = generalized || symbol.type == "ompi_grequest_t";
      addresses.push_back(image.bias(symbol.initialized));
    }
  }
  if (!generalized)
    return std::nullopt;
  words.resize(addresses.size());
  std::vector<MemoryRange> ranges;
  for (std::size_t i = 0; i < words.size(); ++i)
    ranges.push_back({addresses[i], words[i]});
  if (auto done = space.memory.read_ranges(ranges); !done)
    return forward(std::move(done));
  if (std::ranges::any_of(words,
                          [](const auto& word) { return word != decltype(words)::value_type{}; }))
    return true;
  const bool all_read = std::ranges::all_of(
      ranges, [](const MemoryRange& range) { return range.read == range.into.size(); });
  return all_read ? std::optional(false) : std::nullopt;
}

Result<std::optional<std::int64_t>> read_progress(const AddressSpace& space) {
  // This variable of opal/runtime/opal_progress.c stands in front of its static ones, which count
  // the calls. Words of another file may stand among them: a change is a hint, and no proof.
  const auto first = space.images.find_symbol("opal_progress_yield_when_idle");
  if (!first)
    return std::nullopt;
  std::array<std::byte, 64> words{};
  std::array ranges = {MemoryRange{first->address, words}};
  if (auto done = space.memory.read_ranges(ranges); !done)
    return forward(std::move(done));
  if (ranges[0].read != words.size())
    return std::nullopt;
  return digest_of(words);
}

Result<std::optional<std::string>> read_transport(const AddressSpace& space) {
  // The head of a component has been the same since MCA 2.0, on every platform (opal/mca/mca.h):
  // the framework's name, three numbers, the component's. No types are needed, which a recorded
  // rank has none of.
  constexpr std::uint64_t framework_at = 40;
  constexpr std::uint64_t name_at = 84;
  constexpr std::size_t longest_name = 64;
  const auto component = space.images.find_symbol("mca_pml_base_selected_component");
  if (!component)
    return std::nullopt;
  std::array<std::byte, name_at + longest_name> head{};
  std::array ranges = {MemoryRange{component->address, head}};
  if (auto done = space.memory.read_ranges(ranges); !done)
    return forward(std::move(done));
  if (ranges[0].read != head.size())
    return std::nullopt;
  const auto text = [&](std::uint64_t at) {
    const std::string_view rest(reinterpret_cast<const char*>(head.data()) + at, head.size() - at);
    return std::string(rest.substr(0, rest.find('\0')));
  };
  std::string name = text(name_at);
  if (text(framework_at) != "pml" || !is_component_name(name))
    return std::nullopt;
  return std::optional(std::move(name));
}

Result<std::optional<QueueExtent>> queue_extent(const AddressSpace& space) {
  Fields fields(space.images);
  const auto allocated = fields.find_as_typed("opal_free_list_t", "fl_num_allocated");
  const auto item_size = fields.find_as_typed("opal_free_list_t", "fl_frag_size");
  if (fields.error())
    return Failure(*fields.error());
  std::array<Words::Value, lists.size()> addresses;
  Words words;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (const auto symbol = space.images.find_symbol(lists[i]))
      addresses[i] = symbol->address.value;
    words.want(addresses[i], allocated);
    words.want(addresses[i], item_size);
  }
  if (auto done = words.read(space); !done)
    return forward(std::move(done));
  QueueExtent all;
  for (const auto& address : addresses) {
    const auto items = words.get(address, allocated);
    const auto size = words.get(address, item_size);
    if (!items || !size || *items > most_items || *size > Fields::max_structure)
      return std::nullopt;
    all.items += *items;
    all.bytes += *items * *size;
  }
  return all;
}

} // namespace mqbridge::openmpi
