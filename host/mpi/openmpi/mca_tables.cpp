#include "host/mpi/openmpi/mca_tables.h"

#include "host/limits.h"
#include "host/memory/reader.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {
namespace {

using Table = McaTables::Table;

/// The static symbol of a table, and the class of the table's elements.
struct Kind {
  std::string_view symbol;
  std::string_view class_symbol;
};
constexpr auto kinds = std::to_array<Kind>({{"mca_base_vars", "mca_base_var_t_class"},
                                            {"registered_pvars", "mca_base_pvar_t_class"},
                                            {"mca_base_var_groups", "mca_base_var_group_t_class"}});
constexpr std::string_view array_class = "opal_pointer_array_t_class";
/// A function in the source file that defines the static tables.
constexpr std::string_view neighbour = "mca_base_var_register";

struct Classes {
  std::uint64_t array = 0;
  std::array<std::uint64_t, kinds.size()> elements{};
};

Result<Classes> find_classes(const ImageSet& images) {
  Classes classes;
  std::string_view lacking;
  const auto address_of = [&](std::string_view name) {
    const auto symbol = images.find_symbol(name);
    if (!symbol)
      lacking = name;
    return symbol ? symbol->address.value : 0;
  };
  classes.array = address_of(array_class);
  for (std::size_t i = 0; i < kinds.size(); ++i)
    classes.elements[i] = address_of(kinds[i].class_symbol);
  if (!lacking.empty())
    return fail("variables.no_symbols",
                fmt::format("Open MPI's variables cannot be found: the process has no symbol {}, "
                            "or the file that has it is not on this host",
                            lacking),
                "mqbridge vars --sysroot DIR    (a copy of the files of the target's host)");
  return classes;
}

Result<bool> says_it_has_none(const AddressSpace& space) {
  const auto symbol = space.images.find_symbol("mca_base_var_initialized");
  if (!symbol)
    return false;
  auto value = read_unsigned(space.memory, space.platform, symbol->address, 1);
  if (!value)
    return forward(std::move(value));
  return *value == 0;
}

class TableFinder {
public:
  TableFinder(const McaLayout& layout, const Classes& classes, const AddressSpace& space)
      : layout_(layout), classes_(classes), space_(space) {}

  /// Keeps the tables among the arrays at `candidates`: those with elements of one of the classes,
  /// and of no other. Errors: those of Memory.
  Result<void> look_at(const std::vector<TargetAddress>& candidates) {
    Words words;
    for (const TargetAddress array : candidates) {
      words.want(array.value, layout_.object_class);
      words.want(array.value, layout_.table);
      words.want(array.value, layout_.table_size);
    }
    if (auto done = words.read(space_); !done)
      return done;
    for (const TargetAddress array : candidates) {
      if (words.get(array.value, layout_.object_class) != classes_.array)
        continue;
      const auto slots = words.get(array.value, layout_.table).value_or(0);
      const auto count = words.get(array.value, layout_.table_size).value_or(0);
      if (slots == 0 || count == 0 || count > limits::variables || count > slots_left_)
        continue;
      slots_left_ -= static_cast<std::size_t>(count);
      if (auto done = look_into(slots, static_cast<std::size_t>(count)); !done)
        return done;
    }
    return {};
  }

  /// nullopt: no table was found, or several, and nothing tells which one it is.
  std::optional<Table> table(std::size_t kind) const {
    const auto& kept = tables_[kind];
    return kept.slots != 0 && !kept.several ? std::optional(kept.table) : std::nullopt;
  }

private:
  Result<void> look_into(std::uint64_t slots, std::size_t count) {
    std::vector<TargetAddress> at;
    const auto word = layout_.pointer.size;
    for (std::size_t i = 0; i < count; ++i)
      at.push_back({slots + i * word});
    auto pointers = Structures::read(at, word, space_);
    if (!pointers)
      return forward(std::move(pointers));
    Table table;
    Words classes;
    for (std::size_t i = 0; i < count; ++i) {
      const auto object = pointers->value(i, layout_.pointer);
      if (!object)
        return {};
      table.push_back(*object);
      classes.want(object, layout_.object_class);
    }
    if (auto done = classes.read(space_); !done)
      return done;
    keep(slots, std::move(table), classes);
    return {};
  }

  void keep(std::uint64_t slots, Table table, const Words& classes) {
    const auto first =
        std::ranges::find_if(table, [](std::uint64_t object) { return object != 0; });
    if (first == table.end())
      return;
    const auto found =
        std::ranges::find(classes_.elements, classes.get(*first, layout_.object_class).value_or(0));
    if (found == classes_.elements.end() || *found == 0 ||
        !std::ranges::all_of(table, [&](std::uint64_t object) {
          return object == 0 || classes.get(object, layout_.object_class) == *found;
        }))
      return;
    auto& kept = tables_[static_cast<std::size_t>(found - classes_.elements.begin())];
    kept.several |= kept.slots != 0 && kept.slots != slots;
    kept.slots = slots;
    kept.table = std::move(table);
  }

  const McaLayout& layout_;
  const Classes& classes_;
  const AddressSpace& space_;
  struct Kept {
    std::uint64_t slots = 0; ///< their address; 0: none is found
    bool several = false;    ///< in different places
    Table table;
  };
  std::array<Kept, kinds.size()> tables_;
  std::size_t slots_left_ = limits::searched_slots;
};

/// The places in writable data where an opal_pointer_array_t may be: they hold the word `wanted`,
/// the address of array_class.
Result<std::vector<TargetAddress>> search(const Image& image, std::uint64_t wanted,
                                          const McaLayout& layout, const AddressSpace& space) {
  constexpr std::size_t piece = std::size_t{256} << 10;
  std::vector<TargetAddress> found;
  std::size_t left = limits::searched_data;
  std::vector<std::byte> bytes(piece);
  const auto word = layout.pointer.size;
  for (const ElfSegment& segment : image.file->segments()) {
    if (!segment.writable)
      continue;
    const auto size = std::min<std::uint64_t>(segment.memory_size, left);
    left -= static_cast<std::size_t>(size);
    for (std::uint64_t at = 0; at < size; at += piece) {
      const TargetAddress start = image.bias(segment.address) + at;
      const auto into = std::span(bytes).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(piece, size - at)));
      auto read = space.memory.read(start, into);
      if (!read)
        return forward(std::move(read));
      const auto misaligned = static_cast<std::size_t>(start.value % word);
      for (std::size_t i = misaligned == 0 ? 0 : word - misaligned; i + word <= *read; i += word)
        if (decode_unsigned(into.subspan(i, word), space.platform.byte_order) == wanted)
          found.push_back(start + i - layout.object_class.offset);
    }
  }
  return found;
}

Result<void> look_at_symbols(TableFinder& finder, const ImageSet& images) {
  std::vector<TargetAddress> named;
  for (const Kind& kind : kinds)
    if (const auto symbol = images.find_symbol(kind.symbol))
      named.push_back(symbol->address);
  return finder.look_at(named);
}

/// Looks at the data of the image whose function fills the tables. The class's image may be another
/// one: a class may have been copied into the executable.
Result<void> look_at_data(TableFinder& finder, const Classes& classes, const McaLayout& layout,
                          const AddressSpace& space) {
  const auto function = space.images.find_function(neighbour);
  if (!function || function->image == nullptr || !function->image->file)
    return {};
  auto candidates = search(*function->image, classes.array, layout, space);
  if (!candidates)
    return forward(std::move(candidates));
  return finder.look_at(*candidates);
}

} // namespace

Result<McaTables> find_mca_tables(const McaLayout& layout, const AddressSpace& space) {
  auto classes = find_classes(space.images);
  if (!classes)
    return forward(std::move(classes));
  auto none = says_it_has_none(space);
  if (!none)
    return forward(std::move(none));
  if (*none)
    return fail("variables.none", "Open MPI has no variables in this process: it has not come to "
                                  "MPI_Init, or is through with MPI_Finalize");
  TableFinder finder(layout, *classes, space);
  if (auto done = look_at_symbols(finder, space.images); !done)
    return forward(std::move(done));
  if (!finder.table(0))
    if (auto done = look_at_data(finder, *classes, layout, space); !done)
      return forward(std::move(done));
  if (!finder.table(0))
    return fail("variables.not_found",
                "Open MPI's table of variables was not found: no symbol table names mca_base_vars, "
                "and not exactly one such table is in the library's data",
                "a debug package of Open MPI has the symbol table: debuginfod, or --sysroot DIR");
  return McaTables{*finder.table(0), finder.table(1), finder.table(2)};
}

} // namespace mqbridge::openmpi
