#include "host/process/target.h"

#include "host/codes.h"
#include "host/disk/cache_records.h"
#include "host/limits.h"
#include "host/memory/reader.h"
#include "host/process/auxv.h"
#include "host/process/debug_information.h"
#include "host/process/file_matcher.h"
#include "host/process/first_look.h"
#include "host/process/given_images.h"
#include "host/process/known_ranges.h"
#include "host/process/link_map.h"
#include "host/process/live/process_files.h"
#include "host/process/live/target_description.h"
#include "host/process/memory_image.h"
#include "host/process/platform_probe.h"
#include "host/process/target_memory.h"
#include "rsp/client/opening.h"
#include "rsp/commands/process_life.h"
#include "rsp/commands/qxfer.h"

#include <elf.h>
#include <fmt/format.h>
#include <span>

namespace mqbridge {
namespace {

/// The kernel's own object: in the link map, in no file.
bool is_vdso(std::string_view path) {
  return path.starts_with("linux-vdso") || path.starts_with("linux-gate");
}

/// More of them come with the first miss in their mapping: what is read in one go cannot be kept
/// when --max-stop ends it.
constexpr std::uint64_t preloaded_at_most = 4096;

/// Bytes up to the end of the smallest page that there is.
std::size_t to_page_end(std::uint64_t address) {
  return PageStore::page_size - static_cast<std::size_t>(address % PageStore::page_size);
}

void add_pages(std::vector<std::uint64_t>& pages, const PageRuns& runs, std::uint64_t shift = 0) {
  for (const auto& run : runs)
    for (std::uint64_t i = 0; i < run.count; ++i)
      pages.push_back(shift + run.first + i);
}

} // namespace

struct Target::Impl {
  Impl(rsp::Client& client_, const rsp::Attachment& attachment_, ElfCache& files_,
       TargetOptions options_)
      : client(client_), files(files_), options(std::move(options_)), attachment(attachment_),
        process_files(client_, attachment_.pid) {}

  rsp::Client& client;
  ElfCache& files;
  TargetOptions options;
  rsp::Attachment attachment;
  bool attached = true;
  ProcessFiles process_files;
  std::unique_ptr<TargetMemory> memory;
  std::optional<FirstLook> first_look; ///< past the cache: only the head of each object is wanted
  std::optional<AuxiliaryVector> auxv; ///< nullopt only with images that the user gave
  std::uint64_t auxv_checksum = 0;
  /// The stub's link map; nullopt: it has none.
  std::optional<Result<std::vector<LoadedObject>>> listed;
  ElfFiles given_files; ///< of options.images
  Platform platform;
  std::optional<std::string> executable;
  TargetAddress executable_header;    ///< known once load_map() was called
  std::vector<std::string> build_ids; ///< of what runs; with `biases`, known with the images
  std::vector<LoadBias> biases;

  Result<void> learn() {
    auto created = TargetMemory::create(client, process_files,
                                        {.mode = options.cache, .explore = options.images.empty()});
    if (!created)
      return forward(std::move(created));
    memory = std::move(*created);
    first_look.emplace(memory->uncached());
    rsp::ask_about_process(client); // all of it in one burst, if attach() has not done so
    auto path = read_announced(client.features().qxfer_exec_file, "exec-file");
    if (!path)
      return forward(std::move(path));
    if (*path && (*path)->find('\0') != std::string::npos)
      return fail(codes::stub_garbage,
                  fmt::format("{}: what the stub gives as the path of the executable has a zero "
                              "byte in it",
                              client.endpoint().text),
                  "look at its reply to qXfer:exec-file with --trace FILE");
    executable = std::move(*path);
    if (auto done = learn_vector(); !done)
      return done;
    if (auto done = look_at_heads(); !done)
      return done;
    auto decided = options.images.empty() ? probe_platform(*first_look, *auxv) : given_platform();
    if (!decided)
      return forward(std::move(decided));
    platform = std::move(*decided);
    memory->set_platform(platform);
    if (auto done = check_description(); !done)
      return done;
    return executable ? Result<void>{} : name_executable();
  }

  /// What a stub does not announce it does not have: asking would cost a round trip.
  Result<std::optional<std::string>> read_announced(bool announced, std::string_view object) {
    return announced ? rsp::read_object(client, object, "") : std::optional<std::string>();
  }

  Result<void> learn_vector() {
    auto bytes = read_announced(client.features().qxfer_auxv, "auxv");
    if (!bytes)
      return forward(std::move(bytes));
    if (!*bytes && options.images.empty())
      return fail("target.platform",
                  fmt::format("{}: the stub gives no auxiliary vector, so that nothing says what "
                              "is loaded where",
                              client.endpoint().text),
                  "name the file that runs there: --image FILE[@BIAS]");
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
    auto xml = read_announced(client.features().qxfer_libraries_svr4, "libraries-svr4");
    if (!xml)
      return forward(std::move(xml));
    if (*xml) {
      listed = parse_libraries_svr4(**xml, auxv->last_address());
      add_library_heads(heads);
    }
    process_files.advance();
    return first_look->take(std::move(heads));
  }

  static std::vector<FirstLook::Extent> executable_heads(const AuxiliaryVector& auxv) {
    std::vector<FirstLook::Extent> heads;
    for (const auto address : elf_header_candidates(auxv))
      heads.push_back({address, image_head_size});
    return heads;
  }

  void add_library_heads(std::vector<FirstLook::Extent>& heads) {
    if (!*listed) // load_map() says so
      return;
    process_files.expect_objects((*listed)->size());
    for (const auto& library : **listed)
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
    if (!client.features().qxfer_features)
      return {};
    auto architecture = read_architecture(client);
    if (!architecture)
      return forward(std::move(architecture));
    return check_architecture(platform, *architecture);
  }

  /// By what the process was started with, where the stub does not say.
  Result<void> name_executable() {
    if (!options.images.empty())
      executable = options.images.front().file.string();
    const auto name = auxv ? auxv->find(AT_EXECFN) : std::nullopt;
    if (executable || !name)
      return {};
    // It stands at the very top of the stack: behind its page there is nothing to be read.
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
    auto headers = read_executable_headers(*first_look, platform, *auxv);
    if (!headers)
      return forward(std::move(headers));
    executable_header = headers->elf_header;
    auto libraries = listed ? *listed : read_r_debug(*memory, platform, *headers);
    if (!libraries)
      return forward(std::move(libraries));
    if (libraries->empty() && headers->has_interpreter)
      return fail("target.not_started",
                  fmt::format("{}: {} is stopped before its libraries are loaded",
                              client.endpoint().text, executable.value_or("the process")),
                  "let it run until it says that it is ready: --run-until signal");
    std::vector<LoadedObject> objects = {{executable.value_or(""), headers->bias}};
    for (auto& library : *libraries)
      if (is_file(library))
        objects.push_back(std::move(library));
    return objects;
  }

  Result<ImageSet> load_listed(Warnings& warnings) {
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
    FileMatcher matcher(files, platform, client, memory->uncached(), attachment.pid, options.fetch);
    auto images = matcher.match(*objects, headers, build_ids, warnings);
    if (!images)
      return forward(std::move(images));
    for (const auto& image : *images)
      if (image.file)
        memory->add_mapped(segments_of(image));
    remember_biases(*images);
    return ImageSet(std::move(*images), files.dwarf());
  }

  Result<ImageSet> load_given() {
    auto images =
        load_given_images(options.images, given_files, files, memory->uncached(), platform);
    if (!images)
      return forward(std::move(images));
    for (const auto& image : *images) {
      const auto segments = segments_of(image);
      for (const auto& segment : segments)
        if (auto& zeros = memory->zeros())
          zeros->expect_memory({segment.first, segment.last});
      memory->add_mapped(segments);
      build_ids.push_back(image.file->build_id());
    }
    remember_biases(*images);
    return ImageSet(std::move(*images), files.dwarf());
  }

  void remember_biases(std::span<const Image> images) {
    biases.clear();
    for (const auto& image : images)
      biases.push_back(image.bias);
  }
};

Target::Target(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Target::~Target() {
  // A failed detach has nobody left to tell; the client closes the connection, and the guardian
  // watches it.
  if (auto done = detach(); !done)
    return;
}

Result<std::unique_ptr<Target>> Target::adopt(rsp::Client& client,
                                              const rsp::Attachment& attachment, ElfCache& files,
                                              const TargetOptions& options) {
  std::unique_ptr<Target> target(
      new Target(std::make_unique<Impl>(client, attachment, files, options)));
  auto learned = target->impl_->learn();
  if (learned)
    return target;
  rsp::look_for_life(client); // it may be that the process is not there
  return forward(std::move(learned));
}

Memory& Target::memory() {
  return *impl_->memory;
}
PageStore* Target::page_store() {
  return impl_->memory->store();
}
std::uint64_t Target::pages_read() const {
  return impl_->memory->pages_read();
}
PageRuns Target::touched() const {
  return impl_->memory->touched();
}
const Platform& Target::platform() const {
  return impl_->platform;
}
const rsp::Attachment& Target::attachment() const {
  return impl_->attachment;
}
const std::optional<std::string>& Target::executable() const {
  return impl_->executable;
}

std::string Target::identity() const {
  if (impl_->build_ids.empty() || !impl_->auxv)
    return {};
  return fmt::format("{}-{}-{:016x}", impl_->build_ids.front(), impl_->attachment.pid,
                     impl_->auxv_checksum);
}

Result<LaunchEnvironment> Target::environment() {
  return impl_->process_files.environment();
}

Result<ImageSet> Target::load_images(Warnings& warnings) {
  return impl_->options.images.empty() ? impl_->load_listed(warnings) : impl_->load_given();
}

Result<void> Target::preload(const PageRuns& pages) {
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

bool Target::find_debug_information(ImageSet& images, Warnings& warnings) {
  return mqbridge::find_debug_information(images, impl_->files, impl_->options.fetch, warnings);
}

std::optional<Error> Target::doubtful_memory() const {
  const auto& zeros = impl_->memory->zeros();
  if (!zeros || zeros->doubtful() == 0)
    return std::nullopt;
  return Error{
      "memory.zeros",
      fmt::format("{} reads gave nothing but zeros where no image is loaded, the first at {:#x}: "
                  "this stub answers so where memory cannot be read, so that a list may seem to "
                  "end there",
                  zeros->doubtful(), zeros->first_doubtful()->value),
      "in OpenOCD: gdb report_data_abort enable"};
}

Result<void> Target::detach() {
  if (!impl_->attached)
    return {};
  impl_->attached = false;
  if (impl_->memory)
    impl_->memory->clear();
  impl_->process_files.give_up();
  return rsp::detach(impl_->client);
}

} // namespace mqbridge
