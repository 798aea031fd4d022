#include "host/process/stopped_process.h"

#include "host/codes.h"
#include "host/disk/cache_records.h"
#include "host/limits.h"
#include "host/memory/reader.h"
#include "host/process/auxv.h"
#include "host/process/debug_information.h"
#include "host/process/file_matcher.h"
#include "host/process/first_look.h"
#include "host/process/given_images.h"
#include "host/process/image_set.h"
#include "host/process/layered_memory.h"
#include "host/process/link_map.h"
#include "host/process/memory_image.h"
#include "host/process/platform_probe.h"

#include <elf.h>
#include <fmt/format.h>
#include <span>

namespace mqbridge {
namespace {

/// Whether it is the kernel's own object, which is in the link map, but in no file.
bool is_vdso(std::string_view path) {
  return path.starts_with("linux-vdso") || path.starts_with("linux-gate");
}

/// If there are more pages, they come with the first miss in their mapping: pages that are read in
/// one go cannot be kept if --max-stop ends the read.
constexpr std::uint64_t preloaded_at_most = 4096;

/// Bytes up to the end of the smallest page that there is.
std::size_t to_page_end(std::uint64_t address) {
  return PageStore::page_size - static_cast<std::size_t>(address % PageStore::page_size);
}

} // namespace

struct StoppedProcess::Impl {
  Impl(std::unique_ptr<ProcessSource> source_, ElfCache& files_, ProcessOptions options_)
      : source(std::move(source_)), files(files_), options(std::move(options_)) {}

  std::unique_ptr<ProcessSource> source;
  ElfCache& files;
  ProcessOptions options;
  std::unique_ptr<LayeredMemory> memory;
  std::optional<FirstLook> first_look; ///< past the cache: only the head of each object is wanted
  std::optional<AuxiliaryVector> auxv; ///< nullopt only with images that the user gave
  std::uint64_t auxv_checksum = 0;
  /// The source's own link map; nullopt: it has none.
  Result<std::optional<std::vector<LoadedObject>>> listed;
  ElfFiles given_files; ///< of options.images
  Platform platform;
  std::optional<std::string> executable;
  TargetAddress executable_header;    ///< known once load_map() was called
  std::vector<std::string> build_ids; ///< of what runs; with `biases`, known with the images
  std::vector<LoadBias> biases;
  std::optional<ImageSet> images;

  Result<void> learn() {
    auto created =
        LayeredMemory::create(*source, {.mode = options.cache, .explore = options.images.empty()});
    if (!created)
      return forward(std::move(created));
    memory = std::move(*created);
    if (options.threads)
      source->expect_threads();
    first_look.emplace(memory->uncached());
    auto path = source->executable();
    if (!path)
      return forward(std::move(path));
    executable = std::move(*path);
    if (auto done = learn_vector(); !done)
      return done;
    if (auto done = look_at_heads(); !done)
      return done;
    auto decided = decide_platform();
    if (!decided)
      return forward(std::move(decided));
    platform = std::move(*decided);
    memory->set_platform(platform);
    if (auto done = check_description(); !done)
      return done;
    return executable ? Result<void>{} : name_executable();
  }

  Result<Platform> decide_platform() {
    if (!options.images.empty())
      return given_platform();
    if (auto stated = source->platform())
      return std::move(*stated);
    return probe_platform(*first_look, *auxv);
  }

  Result<void> learn_vector() {
    auto bytes = source->auxiliary_vector();
    if (!bytes)
      return forward(std::move(bytes));
    if (!*bytes && options.images.empty())
      return fail("target.platform",
                  fmt::format("{} gives no auxiliary vector, so that nothing says what is "
                              "loaded where",
                              source->name()),
                  source->lacks_contents_of_files()
                      ? "write the core again, whole: ulimit -c unlimited, or gcore PID; of a "
                        "machine without an operating system: --image FILE[@BIAS]"
                      : "name the file that runs there: --image FILE[@BIAS]");
    if (!*bytes)
      return {};
    auto parsed = AuxiliaryVector::parse(**bytes);
    if (!parsed)
      return forward(std::move(parsed));
    auxv = std::move(*parsed);
    auxv_checksum = checksum(std::as_bytes(std::span<const char>(**bytes)));
    memory->add_mapped(stack_of(*auxv));
    return {};
  }

  /// The head of the executable, and of all that the stub says is loaded, in one call: they say
  /// what platform it is, and which builds run.
  Result<void> look_at_heads() {
    if (!options.images.empty())
      return {};
    auto heads = executable_heads(*auxv);
    const auto name = auxv->find(AT_EXECFN);
    if (!executable && name)
      heads.push_back({{*name}, to_page_end(*name)});
    listed = source->loaded_objects(auxv->last_address());
    if (!listed && listed.error().code != codes::libraries_corrupt)
      return Failure(listed.error());
    if (listed && *listed) // load_map() will say what is wrong with the list
      add_library_heads(heads, **listed);
    source->advance();
    return first_look->take(std::move(heads));
  }

  static std::vector<FirstLook::Extent> executable_heads(const AuxiliaryVector& auxv) {
    std::vector<FirstLook::Extent> heads;
    for (const auto address : elf_header_candidates(auxv))
      heads.push_back({address, image_head_size});
    return heads;
  }

  void add_library_heads(std::vector<FirstLook::Extent>& heads,
                         std::span<const LoadedObject> libraries) {
    source->expect_objects(libraries.size());
    for (const auto& library : libraries)
      if (is_file(library))
        heads.push_back({library.bias(FileAddress{0}), image_head_size});
  }

  static bool is_file(const LoadedObject& object) {
    return !object.path.empty() && !is_vdso(object.path);
  }

  Result<Platform> given_platform() {
    auto opened = open_given_images(options.images, files);
    if (!opened)
      return forward(std::move(opened));
    given_files = std::move(*opened);
    return platform_of_images(given_files, auxv);
  }

  Result<void> check_description() {
    auto architecture = source->architecture();
    if (!architecture)
      return forward(std::move(architecture));
    return check_architecture(platform, *architecture);
  }

  /// Names the executable as the process was started, if the stub does not name it.
  Result<void> name_executable() {
    if (!options.images.empty())
      executable = options.images.front().file.string();
    const auto name = auxv ? auxv->find(AT_EXECFN) : std::nullopt;
    if (executable || !name)
      return {};
    // The name stands at the very top of the stack: behind its page nothing can be read.
    auto path = read_string(*first_look, {*name}, to_page_end(*name));
    if (path && path->size() == to_page_end(*name))
      path = read_string(*memory, {*name}, limits::path);
    if (!path && path.error().code != codes::memory_unreadable)
      return forward(std::move(path));
    if (path && !path->empty())
      executable = std::move(*path);
    return {};
  }

  Result<std::vector<LoadedObject>> load_map() {
    const auto elsewhere = source->header_memory();
    if (!elsewhere)
      return Failure(elsewhere.error());
    Memory& headers_in = *elsewhere != nullptr ? **elsewhere : *first_look;
    Memory& list_in = *elsewhere != nullptr ? **elsewhere : *memory;
    auto headers = read_executable_headers(headers_in, platform, *auxv);
    if (!headers)
      return forward(std::move(headers));
    executable_header = headers->elf_header;
    if (!listed)
      return forward(std::move(listed));
    auto libraries = *listed ? Result<std::vector<LoadedObject>>(std::move(**listed))
                             : read_r_debug(list_in, platform, *headers);
    if (!libraries)
      return forward(std::move(libraries));
    if (libraries->empty() && headers->has_interpreter)
      return fail("target.not_started",
                  fmt::format("{}: {} is stopped before its libraries are loaded", source->name(),
                              executable.value_or("the process")),
                  source->is_alive()
                      ? "let it run until it says that it is ready: --run-until signal"
                      : "it ended before it was an MPI program");
    std::vector<LoadedObject> objects = {{executable.value_or(""), headers->bias}};
    for (auto& library : *libraries)
      if (is_file(library))
        objects.push_back(std::move(library));
    return objects;
  }

  Result<void> load_listed(Warnings& warnings) {
    auto objects = load_map();
    if (!objects)
      return forward(std::move(objects));
    std::vector<LoadedHeader> headers;
    for (const auto& object : *objects)
      headers.push_back({object.bias(FileAddress{0}), object.bias});
    // The executable comes first; one linked to a fixed address has no header at its bias, 0.
    headers.front().header = executable_header;
    auto ids = read_build_ids(*first_look, platform, headers);
    if (!ids)
      return forward(std::move(ids));
    build_ids = std::move(*ids);
    FileMatcher matcher(files, platform, *source, options.mpi_libraries,
                        options.transport_libraries, options.fetch);
    auto matched = matcher.match(*objects, headers, build_ids, warnings);
    if (!matched)
      return forward(std::move(matched));
    for (const auto& image : *matched)
      if (image.file) {
        source->use_file(image);
        memory->add_mapped(segments_of(image));
      }
    keep(std::move(*matched));
    return {};
  }

  Result<void> load_given() {
    auto loaded =
        load_given_images(options.images, given_files, files, memory->uncached(), platform);
    if (!loaded)
      return forward(std::move(loaded));
    for (const auto& image : *loaded) {
      const auto segments = segments_of(image);
      source->use_file(image);
      source->expect_memory(segments);
      memory->add_mapped(segments);
      build_ids.push_back(image.file->build_id());
    }
    keep(std::move(*loaded));
    return {};
  }

  void keep(std::vector<Image> loaded) {
    biases.clear();
    for (const auto& image : loaded)
      biases.push_back(image.bias);
    images.emplace(std::move(loaded), files.dwarf());
  }
};

StoppedProcess::StoppedProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

StoppedProcess::~StoppedProcess() = default;

Result<std::unique_ptr<StoppedProcess>> StoppedProcess::open(std::unique_ptr<ProcessSource> source,
                                                             ElfCache& files,
                                                             const ProcessOptions& options) {
  std::unique_ptr<StoppedProcess> process(
      new StoppedProcess(std::make_unique<Impl>(std::move(source), files, options)));
  auto learned = process->impl_->learn();
  if (learned)
    return process;
  process->impl_->source->look_for_life(); // perhaps the process has ended
  return forward(std::move(learned));
}

Memory& StoppedProcess::memory() {
  return *impl_->memory;
}
PageStore* StoppedProcess::page_store() {
  return impl_->memory->store();
}
std::uint64_t StoppedProcess::pages_read() const {
  return impl_->memory->pages_read();
}
PageRuns StoppedProcess::touched() const {
  return impl_->memory->touched();
}
Memory& StoppedProcess::uncached() {
  return impl_->memory->uncached();
}
const MemoryMap& StoppedProcess::map() {
  return impl_->memory->map();
}
rsp::LinkEstimate StoppedProcess::link_estimate() const {
  return impl_->source->link_estimate();
}
Result<std::vector<ProcessThread>> StoppedProcess::threads(std::size_t most_registers) {
  return impl_->source->threads(most_registers);
}
std::optional<TargetAddress> StoppedProcess::vdso() const {
  const auto address = impl_->auxv ? impl_->auxv->find(AT_SYSINFO_EHDR) : std::nullopt;
  return address && *address != 0 ? std::optional(TargetAddress{*address}) : std::nullopt;
}
const Platform& StoppedProcess::platform() const {
  return impl_->platform;
}
const std::optional<std::string>& StoppedProcess::executable() const {
  return impl_->executable;
}

std::string StoppedProcess::identity() const {
  if (impl_->build_ids.empty() || !impl_->auxv)
    return {};
  return fmt::format("{}-{}-{:016x}", impl_->build_ids.front(), impl_->source->pid(),
                     impl_->auxv_checksum);
}

Result<std::string> StoppedProcess::environment() {
  return impl_->source->environment();
}

Result<void> StoppedProcess::load_images(Warnings& warnings) {
  return impl_->options.images.empty() ? impl_->load_listed(warnings) : impl_->load_given();
}

ImageSet& StoppedProcess::images() {
  return *impl_->images;
}

bool StoppedProcess::has_images() const {
  return impl_->images.has_value();
}

AddressSpace StoppedProcess::space() {
  return {images(), memory(), platform()};
}

Result<void> StoppedProcess::preload(const PageRuns& pages) {
  std::vector<std::uint64_t> wanted;
  add_pages(wanted, pages);
  if (auto* replay = impl_->options.replay) {
    const auto id = identity();
    auto known = id.empty() ? PageRuns() : replay->process_pages(id);
    if (count_pages(known) <= preloaded_at_most)
      add_pages(wanted, known);
    else
      impl_->memory->expect(std::move(known));
    for (std::size_t i = 0; i < impl_->biases.size(); ++i)
      if (!impl_->build_ids[i].empty())
        add_pages(wanted, replay->image_pages(impl_->build_ids[i]),
                  impl_->biases[i].value / PageStore::page_size);
  }
  return impl_->memory->preload(runs_of(std::move(wanted)));
}

bool StoppedProcess::find_debug_information(Warnings& warnings) {
  const auto* const executable = images().images().data();
  return mqbridge::find_debug_information(
      images(),
      [&](const Image& image) {
        return &image == executable || impl_->options.mpi_libraries.have(image.target_path);
      },
      impl_->files, impl_->options.fetch, warnings);
}

bool StoppedProcess::find_debug_information_of(const std::set<std::string>& paths,
                                               Warnings& warnings) {
  auto fetch = impl_->options.fetch;
  fetch.deadline = std::nullopt; // it was the deadline of the hold
  return mqbridge::find_debug_information(
      images(), [&](const Image& image) { return paths.contains(image.target_path); }, impl_->files,
      fetch, warnings);
}

bool StoppedProcess::reads_files() const {
  return impl_->source->reads_files();
}

bool StoppedProcess::is_alive() const {
  return impl_->source->is_alive();
}

bool StoppedProcess::has_real_pid() const {
  return impl_->source->has_real_pid();
}

std::optional<Error> StoppedProcess::doubtful_memory() const {
  return impl_->source->doubtful_memory();
}

Result<void> StoppedProcess::release() {
  if (impl_->memory)
    impl_->memory->clear();
  return impl_->source->release();
}

} // namespace mqbridge
