#include "host/target/target.h"

#include "host/memory/page_cache.h"
#include "host/memory/stub_memory.h"
#include "host/target/auxv.h"
#include "host/target/file_matcher.h"
#include "host/target/link_map.h"
#include "host/target/memory_image.h"
#include "host/target/platform_probe.h"
#include "rsp/commands/qxfer.h"

#include <algorithm>
#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// The kernel's own object: in the link map, in no file.
bool is_vdso(std::string_view path) {
  return path.starts_with("linux-vdso") || path.starts_with("linux-gate");
}

} // namespace

struct Target::Impl {
  Impl(rsp::Client& client_, ElfCache& files_)
      : client(client_), files(files_), stub_memory(client_), cache(stub_memory) {}

  rsp::Client& client;
  ElfCache& files;
  StubMemory stub_memory;
  PageCache cache;
  rsp::Attachment attachment;
  bool attached = false;
  AuxiliaryVector auxv;
  Platform platform;
  std::optional<std::string> executable;

  Result<void> learn() {
    auto bytes = rsp::read_object(client, "auxv", "");
    if (!bytes)
      return forward(std::move(bytes));
    if (!*bytes)
      return fail("target.platform",
                  fmt::format("{}: the stub gives no auxiliary vector", client.endpoint().text),
                  "is the target a Linux process under gdbserver?");
    auto parsed = AuxiliaryVector::parse(**bytes);
    if (!parsed)
      return forward(std::move(parsed));
    auxv = std::move(*parsed);
    auto probed = probe_platform(stub_memory, auxv);
    if (!probed)
      return forward(std::move(probed));
    platform = std::move(*probed);
    auto path = rsp::read_object(client, "exec-file", "");
    if (!path)
      return forward(std::move(path));
    executable = std::move(*path);
    return {};
  }

  Result<std::vector<LoadedObject>> load_map() {
    std::optional<FileAddress> entry;
    if (executable) {
      if (auto path = find_target_file(files.paths(), *executable))
        if (auto file = files.open(*path))
          entry = (*file)->entry();
    }
    auto bias = executable_bias(cache, platform, auxv, entry);
    if (!bias)
      return forward(std::move(bias));
    std::vector<LoadedObject> objects = {{executable.value_or(""), *bias}};

    auto xml = rsp::read_object(client, "libraries-svr4", "");
    if (!xml)
      return forward(std::move(xml));
    auto libraries =
        *xml ? parse_libraries_svr4(**xml) : read_r_debug(cache, platform, auxv, *bias);
    if (!libraries)
      return forward(std::move(libraries));
    for (auto& library : *libraries)
      if (!library.path.empty() && !is_vdso(library.path))
        objects.push_back(std::move(library));
    return objects;
  }
};

Target::Target(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Target::~Target() {
  // A failed detach has nobody left to tell; the client closes the connection, and the guardian
  // watches it.
  if (auto done = detach(); !done)
    return;
}

Result<std::unique_ptr<Target>> Target::attach(rsp::Client& client, ElfCache& files) {
  auto impl = std::make_unique<Impl>(client, files);
  auto attachment = rsp::attach(client);
  if (!attachment)
    return forward(std::move(attachment));
  impl->attachment = *attachment;
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
  auto objects = impl_->load_map();
  if (!objects)
    return forward(std::move(objects));
  std::vector<LoadedHeader> headers;
  for (const auto& object : *objects)
    headers.push_back({object.bias(FileAddress{0}), object.bias});
  // The executable comes first; one linked to a fixed address has no header at its bias, 0.
  if (const auto table = impl_->auxv.find(AT_PHDR))
    headers.front().header = {*table & ~std::uint64_t{impl_->platform.page_size - 1}};
  // Past the cache: only the first KiB of each object is wanted, not its page.
  auto ids = read_build_ids(impl_->stub_memory, impl_->platform, headers);
  if (!ids)
    return forward(std::move(ids));

  FileMatcher matcher(impl_->files, impl_->platform);
  std::vector<Image> images;
  for (std::size_t i = 0; i < objects->size(); ++i)
    images.push_back(matcher.match((*objects)[i], (*ids)[i], warnings));
  matcher.report_missing(warnings);
  return ImageSet(std::move(images));
}

Result<void> Target::detach() {
  if (!impl_->attached)
    return {};
  impl_->attached = false;
  impl_->cache.clear();
  return rsp::detach(impl_->client);
}

} // namespace mqbridge
