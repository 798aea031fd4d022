// What the host's files cost while a target is held: symbols over the objects of a real process,
// and types of a file with 100 MB of DWARF, with and without what earlier runs have kept.

#include "host/disk/command_output.h"
#include "host/disk/output_file.h"
#include "host/process/image_set.h"
#include "host/types/dwarf_types.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace mqbridge;

/// The cache directory of this program; what it keeps is removed with it.
class Cache {
public:
  Cache() : directory_(TemporaryDirectory::make().value()) {
    ::setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
  }
  void clear() const { fs::remove_all(directory_.path() / "mqbridge"); }
  const fs::path& path() const { return directory_.path(); }

private:
  TemporaryDirectory directory_;
};

Cache& cache() {
  static Cache the_cache;
  return the_cache;
}

/// Open MPI's libraries and all its plugins, as many as a process of it has loaded; fewer if it is
/// not installed.
const std::vector<fs::path>& objects() {
  static const std::vector<fs::path> found = [] {
    constexpr std::size_t loaded_by_a_process = 68;
    std::vector<fs::path> all;
    std::error_code none;
    for (const auto& root : fs::directory_iterator("/usr/lib", none)) {
      for (const auto* library : {"libmpi.so.40", "libopen-pal.so.40", "libopen-rte.so.40"})
        if (fs::exists(root.path() / library, none))
          all.push_back(fs::canonical(root.path() / library, none));
      for (const auto& plugin : fs::directory_iterator(root.path() / "openmpi/lib/openmpi3", none))
        if (plugin.path().extension() == ".so" && all.size() < loaded_by_a_process)
          all.push_back(plugin.path());
    }
    return all;
  }();
  return found;
}

std::vector<Image> open_images() {
  std::vector<Image> images;
  for (const auto& path : objects())
    if (auto file = ElfFile::open(path))
      images.push_back({.target_path = path.string(), .file = *file});
  return images;
}

void open_objects(benchmark::State& state) {
  if (objects().size() < 50)
    return state.SkipWithError("no Open MPI here: apt install openmpi-bin");
  for (auto _ : state) {
    const auto images = open_images();
    if (images.size() != objects().size())
      return state.SkipWithError("one of them is no ELF file");
  }
  state.counters["objects"] = static_cast<double>(objects().size());
}
BENCHMARK(open_objects)->Unit(benchmark::kMillisecond);

/// Opened anew, as each dump does, then every symbol that a dump of Open MPI asks for.
void first_look_ups(benchmark::State& state) {
  for (auto _ : state) {
    const ImageSet images(open_images());
    int found = 0;
    for (const auto* name : {"mqbridge_recorder", "ompi_mpi_communicators", "ompi_version_string",
                             "mca_pml_base_recv_requests", "mca_pml_base_send_requests",
                             "mca_pml_base_selected_component", "ompi_mpi_state"})
      found += images.find_symbol(name) ? 1 : 0;
    if (found != 6)
      return state.SkipWithError("symbols of Open MPI are not found");
  }
}
BENCHMARK(first_look_ups)->Unit(benchmark::kMillisecond);

void symbol_hit(benchmark::State& state) {
  const ImageSet images(open_images());
  for (auto _ : state)
    if (!images.find_symbol("ompi_mpi_communicators"))
      return state.SkipWithError("ompi_mpi_communicators is not found");
}
BENCHMARK(symbol_hit);

void symbol_miss(benchmark::State& state) {
  const ImageSet images(open_images());
  int i = 0;
  for (auto _ : state)
    if (images.find_symbol(fmt::format("no_such_symbol_{}", ++i)))
      return state.SkipWithError("a symbol that is not there was found");
}
BENCHMARK(symbol_miss);

std::string source_of_unit(int unit) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += fmt::format(
        "typedef struct s{0}_{1} {{ int a{1}; long b; struct s{0}_{1}* next; char name[{2}]; "
        "union {{ int x; double y; }}; unsigned f : 3, g : 5; void (*call)(struct s{0}_{1}*, int); "
        "}} s{0}_{1}_t;\nenum e{0}_{1} {{ A{0}_{1}, B{0}_{1} }};\n"
        "static int f{0}_{1}(s{0}_{1}_t* p, enum e{0}_{1} e) {{ int sum = e; for (int j = 0; j < "
        "3; ++j) "
        "{{ int t = j * sum; p->a{1} += t; }} return p->a{1}; }}\n"
        "int (*const g{0}_{1})(s{0}_{1}_t*, enum e{0}_{1}) = f{0}_{1};\n",
        unit, i, i % 50 + 1);
  return text;
}

/// A shared object with 100 MB of DWARF and more, made once: a few units, each in it many times, as
/// the types of a header are.
std::optional<fs::path> make_large_object() {
  constexpr int units = 6;
  constexpr int copies = 12;
  constexpr std::chrono::minutes patience{5};
  std::vector<std::string> link = {"cc", "-shared", "-Wl,--build-id,-z,muldefs", "-o",
                                   cache().path() / "large.so"};
  for (int unit = 0; unit < units; ++unit) {
    const auto source = cache().path() / fmt::format("unit{}.c", unit);
    const auto object = fs::path(source).replace_extension(".o");
    if (auto done = write_file(source, source_of_unit(unit)); !done)
      return std::nullopt;
    const auto compiled =
        run_command({"cc", "-g", "-fPIC", "-c", source.string(), "-o", object.string()}, patience);
    if (!compiled || compiled->exit_status != 0)
      return std::nullopt;
    link.insert(link.end(), copies, object.string());
  }
  const auto linked = run_command(link, patience);
  if (!linked || linked->exit_status != 0)
    return std::nullopt;
  return cache().path() / "large.so";
}

const std::optional<fs::path>& large_object() {
  static const auto object = make_large_object();
  return object;
}

/// Opens the file and looks `name` up; what is to be kept is kept on return.
bool has_type(std::string_view name) {
  const auto file = ElfFile::open(*large_object());
  const auto types = file ? open_dwarf_types(*file) : Failure(file.error());
  const auto found = types ? (*types)->find(name) : Failure(types.error());
  return found && *found != nullptr && (*found)->find_field("call") != nullptr;
}

void type_look_up(benchmark::State& state, bool keep_index, bool keep_layouts) {
  if (!large_object())
    return state.SkipWithError("cc cannot make the file: apt install gcc libc6-dev");
  cache().clear();
  if (!has_type("s3_100_t") || has_type("s99_100_t"))
    return state.SkipWithError("a type is not found, or one that is not there");
  for (auto _ : state) {
    if (!keep_layouts) {
      state.PauseTiming();
      fs::remove_all(cache().path() / "mqbridge/layouts");
      if (!keep_index)
        cache().clear();
      state.ResumeTiming();
    }
    if (!has_type("s3_100_t"))
      return state.SkipWithError("a type is not found");
  }
  state.counters["file_MB"] = static_cast<double>(fs::file_size(*large_object())) / 1e6;
}
BENCHMARK_CAPTURE(type_look_up, cold, false, false)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK_CAPTURE(type_look_up, names_kept, true, false)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);
BENCHMARK_CAPTURE(type_look_up, layouts_kept, true, true)->Unit(benchmark::kMicrosecond);

} // namespace
