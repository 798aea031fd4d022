#include "host/target/target.h"

#include "host/memory/page_cache.h"
#include "host/memory/reader.h"
#include "host/memory/stub_memory.h"
#include "host/memory/zero_watch.h"
#include "host/target/auxv.h"
#include "host/target/file_matcher.h"
#include "host/target/given_images.h"
#include "host/target/link_map.h"
#include "host/target/memory_image.h"
#include "host/target/platform_probe.h"
#include "host/target/target_description.h"
#include "rsp/commands/qxfer.h"

#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

constexpr std::size_t max_path = 4096;

/// The kernel's own object: in the link map, in no file.
bool is_vdso(std::string_view path) {
  return path.starts_with("linux-vdso") || path.starts_with("linux-gate");
}

} // namespace

struct Target::Impl {
  Impl(rsp::Client& client_, ElfCache& files_, TargetOptions options_,
       std::unique_ptr<PageStore> store_)
      : client(client_), files(files_), options(std::move(options_)), stub_memory(client_),
        zeros(client_.features().unreadable_reads_zero
                  ? std::optional<ZeroWatch>(std::in_place, stub_memory)
                  : std::nullopt),
        store(std::move(store_)), cache(memory(), *store, {CacheMode::page}) {}

  rsp::Client& client;
  ElfCache& files;
  TargetOptions options;
  StubMemory stub_memory;
  std::optional<ZeroWatch> zeros; ///< where zeros may be reads that failed
  std::unique_ptr<PageStore> store;
  PageCache cache;
  rsp::Attachment attachment;
  bool attached = false;
  std::optional<AuxiliaryVector> auxv; ///< nullopt only with images that the user gave
  ElfFiles given_files;                ///< of options.images
  Platform platform;
  std::optional<std::string> executable;
  TargetAddress executable_header; ///< known once load_map() was called

  Result<void> learn() {
    auto path = rsp::read_object(client, "exec-file", "");
    if (!path)
      return forward(std::move(path));
    executable = std::move(*path);
    if (auto done = learn_vector(); !done)
      return done;
    auto decided = options.images.empty() ? probe_platform(memory(), *auxv) : given_platform();
    if (!decided)
      return forward(std::move(decided));
    platform = std::move(*decided);
    if (auto done = check_description(); !done)
      return done;
    return executable ? Result<void>{} : name_executable();
  }

  Result<void> learn_vector() {
    auto bytes = rsp::read_object(client, "auxv", "");
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
    return {};
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
    auto path = read_string(cache, {*name}, max_path);
    if (!path && path.error().code != "memory.unreadable")
      return forward(std::move(path));
    if (path && !path->empty())
      executable = std::move(*path);
    return {};
  }

  Result<std::vector<LoadedObject>> load_map() {
    auto headers = read_executable_headers(cache, platform, *auxv);
    if (!headers)
      return forward(std::move(headers));
    executable_header = headers->elf_header;
    auto xml = rsp::read_object(client, "libraries-svr4", "");
    if (!xml)
      return forward(std::move(xml));
    auto libraries =
        *xml ? parse_libraries_svr4(**xml, platform) : read_r_debug(cache, platform, *headers);
    if (!libraries)
      return forward(std::move(libraries));
    if (libraries->empty() && headers->has_interpreter)
      return fail("target.not_started",
                  fmt::format("{}: {} is stopped before its libraries are loaded",
                              client.endpoint().text, executable.value_or("the process")),
                  "let it run until it says that it is ready: --run-until signal");
    std::vector<LoadedObject> objects = {{executable.value_or(""), headers->bias}};
    for (auto& library : *libraries)
      if (!library.path.empty() && !is_vdso(library.path))
        objects.push_back(std::move(library));
    return objects;
  }

  Result<ImageSet> load_given() {
    auto images = load_given_images(options.images, given_files, files, memory(), platform);
    if (!images)
      return forward(std::move(images));
    if (zeros)
      for (const auto& image : *images)
        for (const auto& segment : image.file->segments())
          if (segment.memory_size > 0)
            zeros->expect_memory({image.bias(segment.address),
                                  image.bias(segment.address) + (segment.memory_size - 1)});
    return ImageSet(std::move(*images), files.paths());
  }

  /// Past the cache.
  Memory& memory() { return zeros ? static_cast<Memory&>(*zeros) : stub_memory; }
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
  auto store = PageStore::create();
  if (!store)
    return forward(std::move(store));
  auto impl = std::make_unique<Impl>(client, files, options, std::move(*store));
  impl->attachment = attachment;
  impl->attached = true;
  std::unique_ptr<Target> target(new Target(std::move(impl)));
  if (auto learned = target->impl_->learn(); !learned)
    return forward(std::move(learned));
  return target;
}

Memory& Target::memory() {
  return impl_->cache;
}
std::uint64_t Target::pages_read() const {
  return impl_->cache.pages_read();
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

Result<ImageSet> Target::load_images(Warnings& warnings) {
  if (!impl_->options.images.empty())
    return impl_->load_given();
  auto objects = impl_->load_map();
  if (!objects)
    return forward(std::move(objects));
  std::vector<LoadedHeader> headers;
  for (const auto& object : *objects)
    headers.push_back({object.bias(FileAddress{0}), object.bias});
  // The executable comes first; one linked to a fixed address has no header at its bias, 0.
  headers.front().header = impl_->executable_header;
  // Past the cache: only the first KiB of each object is wanted, not its page.
  auto ids = read_build_ids(impl_->memory(), impl_->platform, headers);
  if (!ids)
    return forward(std::move(ids));

  FileMatcher matcher(impl_->files, impl_->platform, impl_->client, impl_->attachment.pid,
                      impl_->options.fetch);
  auto images = matcher.match(*objects, *ids, warnings);
  if (!images)
    return forward(std::move(images));
  return ImageSet(std::move(*images), impl_->files.paths());
}

bool Target::find_debug_information(ImageSet& images, Warnings& warnings) {
  auto* server = impl_->files.debuginfod();
  bool found_some = false;
  for (std::size_t i = 0; server != nullptr && i < images.images().size(); ++i) {
    const auto& image = images.images()[i];
    const bool has_some = image.debug || !image.file || image.file->has_dwarf();
    if (has_some || (i > 0 && !is_mpi_library(image.target_path)))
      continue;
    auto found = find_debug_information(*server, *image.file);
    if (!found) {
      warnings.push_back(std::move(found).error());
    } else if (*found != nullptr) {
      images.set_debug(i, std::move(*found));
      found_some = true;
    }
  }
  return found_some;
}

Result<std::shared_ptr<const ElfFile>> Target::find_debug_information(Debuginfod& server,
                                                                      const ElfFile& file) {
  const auto& fetch = impl_->options.fetch;
  auto found = server.find(Debuginfod::Kind::debuginfo, file.build_id(),
                           [&](std::uint64_t bytes, std::uint64_t) {
                             fetch.tell(fmt::format("debuginfod: debug information of {}, {} kB",
                                                    file.path().filename().string(), bytes / 1000));
                             return !fetch.over();
                           });
  if (!found)
    return forward(std::move(found));
  if (!*found)
    return nullptr;
  return impl_->files.open(**found);
}

std::optional<Error> Target::doubtful_memory() const {
  const auto& zeros = impl_->zeros;
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
  impl_->cache.clear();
  return rsp::detach(impl_->client);
}

} // namespace mqbridge
