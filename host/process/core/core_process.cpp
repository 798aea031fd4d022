#include "host/process/core/core_process.h"

#include "host/process/auxv.h"
#include "host/process/core/core_agreement.h"
#include "host/process/core/core_environment.h"
#include "host/process/platform_probe.h"
#include "rsp/packet/printable.h"

#include <elf.h>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {

Result<std::unique_ptr<CoreProcess>> CoreProcess::open(const CorePath& path, std::string name,
                                                       ElfCache& files) {
  auto core = CoreFile::open(path.core);
  if (!core)
    return forward(std::move(core));
  std::unique_ptr<CoreProcess> process(new CoreProcess(std::move(*core), path, std::move(name)));
  process->find_headers(files);
  return process;
}

void CoreProcess::find_headers(ElfCache& files) {
  const auto auxv = AuxiliaryVector::parse(core_->notes().auxv);
  if (!auxv || probe_platform(memory_, *auxv))
    return;
  platform_ = core_->platform();
  if (const auto size = auxv->find(AT_PAGESZ))
    platform_->page_size = static_cast<std::uint32_t>(*size);
  const auto program = program_of(*core_, memory_);
  const auto candidates = executable_ ? std::vector<FilePlace>{*executable_}
                                      : target_file_candidates(files.paths(), program);
  for (const auto& path : candidates) {
    const auto file = files.open(path);
    if (file && take_headers_of(**file, *auxv))
      return;
  }
  const auto here = executable_ ? executable_->string() : program;
  no_headers_ = Error{
      "core.no_executable",
      fmt::format("{} lacks the program headers of its executable, and {}", core_->path().string(),
                  candidates.empty() ? fmt::format("'{}' is not here", program)
                                     : fmt::format("{} is not the file that ran", here)),
      fmt::format("name the file that ran: {}",
                  pasteable(fmt::format("core:{}@EXECUTABLE", core_->path().string())))};
}

/// Takes the program headers. False: the file is not the executable of this process.
bool CoreProcess::take_headers_of(const ElfFile& file, const AuxiliaryVector& auxv) {
  const auto table = auxv.find(AT_PHDR);
  const auto entry = auxv.find(AT_ENTRY);
  const auto& platform = file.platform();
  if (!table || !entry || !file.program_headers() ||
      platform.architecture != platform_->architecture ||
      platform.pointer_size != platform_->pointer_size ||
      platform.byte_order != platform_->byte_order)
    return false;
  const LoadBias bias{*table - file.program_headers()->value, platform.last_address()};
  if (bias(file.entry()).value != *entry ||
      agreement_with_core(file, bias, *core_, memory_) == CoreAgreement::contradicted)
    return false;
  headers_from_ = file.path();
  with_executable_.emplace(core_);
  with_executable_->add_file(file, bias);
  const auto page_size = platform_->page_size;
  platform_ = platform;
  platform_->page_size = page_size;
  return true;
}

Result<Memory*> CoreProcess::header_memory() {
  if (no_headers_)
    return Failure(*no_headers_);
  return with_executable_ ? &*with_executable_ : nullptr;
}

std::optional<Error> CoreProcess::doubt_of(const ElfFile& file, LoadBias bias) {
  const auto agreement = agreement_with_core(file, bias, *core_, memory_);
  const bool is_named = executable_ && file.path() == *executable_;
  if (agreement == CoreAgreement::shown || (agreement == CoreAgreement::untold && is_named))
    return std::nullopt;
  if (agreement == CoreAgreement::contradicted)
    return Error{"image.build_id",
                 fmt::format("{} is not the file that ran: the core has other contents there",
                             file.path().string()),
                 "give a directory tree with the node's own files: --sysroot DIR"};
  return Error{
      "image.build_id",
      fmt::format("{} cannot be shown to be the file that ran: core and file do not both have "
                  "a build-id, and the core has too little else of it",
                  file.path().string()),
      file.path() == headers_from_
          ? fmt::format(
                "if it is, say so: {}",
                pasteable(fmt::format("core:{}@{}", core_->path().string(), file.path().string())))
          : "give a directory tree with the node's own files: --sysroot DIR"};
}

Result<std::optional<std::string>> CoreProcess::executable() {
  auto program = program_of(*core_, memory_);
  return program.empty() ? std::nullopt : std::optional(std::move(program));
}

Result<std::optional<std::string>> CoreProcess::auxiliary_vector() {
  const auto& bytes = core_->notes().auxv;
  return bytes.empty() ? std::nullopt : std::optional(bytes);
}

Result<std::string> CoreProcess::environment() {
  return initial_environment(*core_, memory_);
}

Result<std::vector<ProcessThread>> CoreProcess::threads(std::size_t) {
  std::vector<ProcessThread> threads;
  for (const auto& [tid, signal, registers] : core_->notes().threads)
    threads.push_back({tid,
                       {},
                       RegisterLayout::kernel,
                       rsp::RegisterBytes(registers.begin(), registers.end()),
                       signal});
  return threads;
}

std::optional<MemoryMap> CoreProcess::take_new_map(const Platform&) {
  return std::exchange(told_map_, true) ? std::nullopt : std::optional(memory_map_of(*core_));
}

Warnings CoreProcess::gaps() const {
  const auto missing = core_->missing();
  return {missing.begin(), missing.end()};
}

} // namespace mqbridge
