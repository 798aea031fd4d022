#include "host/process/file_matcher.h"

#include "host/codes.h"
#include "host/disk/file_name.h"
#include "host/disk/work_budget.h"
#include "host/files/file_agreement.h"
#include "host/files/file_fetcher.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace mqbridge {
namespace {

constexpr const char* name_the_executable = "name the file that ran: core:FILE@EXECUTABLE, and the "
                                            "node's other files: --sysroot DIR";
constexpr const char* give_sysroot = "give a directory tree with the node's own files: --sysroot "
                                     "DIR";

/// Whether both sides have a build-id: other files were compared by less.
bool is_proven(const ElfFile& file, std::string_view running_id) {
  return !running_id.empty() && running_id == file.build_id();
}

/// The names of the C library and of other libraries that every program has: none of them is an MPI
/// under another name.
const LibraryNames& system_libraries() {
  static const LibraryNames names(
      {"libc.so",     "libc-",     "libc.musl",  "ld-",      "ld64.so",   "ld.so",
       "libm.so",     "libm-",     "libpthread", "libdl.so", "libdl-",    "librt.so",
       "librt-",      "libutil",   "libresolv",  "libgcc_s", "libstdc++", "libgfortran",
       "libquadmath", "libatomic", "libz.so"});
  return names;
}

/// Call stacks lead through it: a rank waits in its poll() or sched_yield().
bool is_c_library(std::string_view path) {
  static const LibraryNames names({"libc.so", "libc-", "libc.musl"});
  return names.have(path);
}

} // namespace

Result<std::vector<Image>> FileMatcher::match(std::span<const LoadedObject> loaded,
                                              std::span<const LoadedHeader> headers,
                                              std::span<const std::string> running_ids,
                                              Warnings& warnings) {
  // If no library has the name of an MPI's, any library or plugin may be the MPI.
  const bool mpi_has_its_name = std::any_of(loaded.begin(), loaded.end(), [&](const auto& object) {
    return mpi_libraries_.have(object.path);
  });
  std::vector<Object> objects;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    auto& object = objects.emplace_back();
    object.image.target_path = loaded[i].path;
    object.image.bias = loaded[i].bias;
    object.header = headers[i].header;
    object.named = i == 0 ? source_.executable_here() : std::nullopt;
    object.running_id = running_ids[i];
    // The program of a core may have been built again since: queues are those of the MPI's files.
    // One that is linked statically has the MPI in itself.
    const bool is_program = i == 0 && (source_.is_alive() || object.named || !mpi_has_its_name);
    object.decisive = is_program || mpi_libraries_.have(loaded[i].path);
    object.missed = i == 0 || object.decisive ||
                    (!mpi_has_its_name && !system_libraries().have(loaded[i].path));
    object.wanted = object.missed || transport_libraries_.have(loaded[i].path);
    find_here(object, warnings);
    if (!object.image.file && object.wanted && !object.over && !was_read_before(object))
      ask_server(object, warnings);
    if (object.over)
      return Failure(std::move(*object.over));
  }
  if (auto done = fetch(objects, warnings); !done)
    return forward(std::move(done));
  if (auto done = report(objects, warnings); !done)
    return forward(std::move(done));
  std::vector<Image> images;
  images.reserve(objects.size());
  for (auto& object : objects)
    images.push_back(std::move(object.image));
  return images;
}

void FileMatcher::find_here(Object& object, Warnings& warnings) {
  const auto root = source_.root();
  const auto places = object.named
                          ? std::vector<FilePlace>{*object.named}
                          : target_file_candidates(files_.paths(), object.image.target_path, root);
  const bool may_be_replaced = files_.paths().sysroots.empty() && !object.named;
  // Without a build-id a file that was built again cannot be told from the one that runs.
  const bool by_name = !may_be_replaced || !object.running_id.empty() ||
                       !source_.running_file(object.header).lost_its_name;
  for (const auto& place : places)
    if (by_name &&
        use(object, place, warnings, root && !place.root ? Trust::proven : Trust::fitting))
      return;
  if (!may_be_replaced || !object.wanted) // else the user says where the files are
    return;
  for (const auto& place : source_.running_file(object.header).places) {
    if (!use(object, place, warnings, Trust::fitting))
      continue;
    if (object.decisive)
      warnings.push_back({"image.replaced",
                          fmt::format("{} is not the file that runs any more, or cannot be opened: "
                                      "that one is read from {}; lines are those of its source as "
                                      "it was",
                                      object.image.target_path, place.path.string()),
                          "keep what runs: cp " + pasteable(place.path.string()) + " FILE"});
    return;
  }
}

// True: the candidate is the file. Otherwise the fault of the first candidate is remembered.
bool FileMatcher::use(Object& object, const FilePlace& place, Warnings& warnings, Trust trust) {
  auto file = files_.open(place);
  if (!file && is_work_over(file.error()))
    object.over = file.error();
  auto fault = file ? compare(**file, object) : std::optional<Error>(file.error());
  if (!fault && trust == Trust::proven && !is_proven(**file, object.running_id))
    fault = Error{"image.build_id",
                  fmt::format("{} is not used for {}: the process sees other files than mqbridge "
                              "does, and file and process do not both have a build-id",
                              place.path.string(), object.image.target_path),
                  "build it with one: -Wl,--build-id"};
  if (fault) {
    if (!object.other)
      object.other = std::move(fault);
    return false;
  }
  object.image.file = *file;
  auto debug = files_.debug_of(**file);
  if (debug)
    object.image.debug = std::move(*debug);
  else if (is_work_over(debug.error()))
    object.over = std::move(debug).error();
  else
    warnings.push_back(std::move(debug).error());
  return true;
}

std::optional<Error> FileMatcher::compare(const ElfFile& file, const Object& object) const {
  const auto& ours = file.platform();
  const bool same_words = ours.byte_order == platform_.byte_order &&
                          ours.pointer_size == platform_.pointer_size &&
                          ours.long_size == platform_.long_size;
  if (ours.architecture != platform_.architecture || !same_words)
    return Error{"image.architecture",
                 fmt::format("{} is for {}, the target's {} for {}", file.path().string(),
                             ours.architecture, object.image.target_path, platform_.architecture),
                 give_sysroot};
  if (!object.running_id.empty() && !file.build_id().empty() &&
      object.running_id != file.build_id())
    return Error{"image.build_id",
                 fmt::format("{} is another build than the {} that runs: build-id {} here, {} in "
                             "the target",
                             file.path().string(), object.image.target_path, file.build_id(),
                             object.running_id),
                 source_.is_alive() ? give_sysroot : name_the_executable};
  return is_proven(file, object.running_id) ? std::nullopt
                                            : source_.doubt_of(file, object.image.bias);
}

bool FileMatcher::was_read_before(const Object& object) const {
  return fetch_.fetcher != nullptr && !object.running_id.empty() &&
         fetch_.fetcher->has(object.running_id);
}

void FileMatcher::ask_server(Object& object, Warnings& warnings) {
  if (object.running_id.empty() || object.asked_server || fetch_.over() ||
      files_.debuginfod() == nullptr)
    return;
  object.asked_server = true;
  const auto found = files_.debuginfod()->find(
      Debuginfod::Kind::executable, object.running_id, [&](std::uint64_t bytes, std::uint64_t) {
        fetch_.tell(fmt::format("debuginfod: {}, {} kB", file_name(object.image.target_path),
                                bytes / 1000));
        return !fetch_.over();
      });
  if (!found)
    warnings.push_back(found.error());
  else if (*found)
    use(object, **found, warnings);
}

// A file that is no ELF file, or is of another build, agrees with nothing.
Result<bool> FileMatcher::agrees(const Object& object, const std::filesystem::path& kept) const {
  const auto file = files_.open(kept);
  if (!file && is_work_over(file.error()))
    return Failure(file.error());
  if (!file || compare(**file, object))
    return false;
  return agrees_with_memory(**file, object.image.bias, source_.memory());
}

Result<void> FileMatcher::fetch(std::vector<Object>& objects, Warnings& warnings) {
  if (fetch_.fetcher == nullptr)
    return {};
  const bool some = std::ranges::any_of(
      objects, [](const Object& object) { return object.wanted && !object.image.file; });
  for (auto& object : objects) // where that of this host is another build
    object.wanted |= some && object.other && is_c_library(object.image.target_path);
  std::vector<WantedFile> wanted;
  std::vector<Object*> owners;
  for (auto& object : objects) {
    if (object.image.file || !object.wanted || !object.image.target_path.starts_with('/'))
      continue;
    wanted.push_back(
        {object.image.target_path, object.running_id, object.header, &object == &objects.front()});
    owners.push_back(&object);
  }
  const auto agree = [&](const WantedFile& file, const std::filesystem::path& kept) {
    return agrees(*owners[static_cast<std::size_t>(&file - wanted.data())], kept);
  };
  const auto before = warnings.size();
  if (auto done = source_.fetch_files(*fetch_.fetcher, wanted, agree, fetch_, warnings); !done)
    return done;
  const bool explained = warnings.size() > before;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    owners[i]->explained = explained;
    if (wanted[i].found.empty() || !use(*owners[i], wanted[i].found, warnings))
      ask_server(*owners[i], warnings);
  }
  return {};
}

/// What gets these files onto this host. The first object is the executable.
std::string FileMatcher::missing_hint(const std::vector<Object>& objects,
                                      std::span<const std::string> missing) const {
  const auto& executable = objects.front().image.target_path;
  const bool lacks_executable = std::ranges::find(missing, executable) != missing.end();
  if (lacks_executable && source_.lacks_contents_of_files())
    return name_the_executable;
  constexpr const char* copy = "copy the node's files, and give their top directory: --sysroot DIR";
  if (lacks_executable && !executable.starts_with('/'))
    return fmt::format("start the program by its whole path: it is named by a relative one\n{}",
                       copy);
  return copy;
}

Result<void> FileMatcher::report(std::vector<Object>& objects, Warnings& warnings) const {
  std::vector<std::string> missing; // libraries such as the C library are not missed
  std::vector<std::string> unproven;
  for (auto& object : objects) {
    auto& image = object.image;
    if (image.file) {
      // One sysroot may have a broken file, and another one a whole one.
      if (object.other && object.other->code.starts_with(codes::of_elf))
        warnings.push_back(std::move(*object.other));
      if (source_.lacks_contents_of_files() && !is_proven(*image.file, object.running_id))
        unproven.push_back(image.file->path().string());
      continue;
    }
    if (!object.other) {
      image.missing_reason = fmt::format("no file for {}", image.target_path);
      if (object.missed && !object.explained)
        missing.push_back(image.target_path);
      continue;
    }
    if (object.decisive)
      return Failure(std::move(*object.other));
    image.missing_reason = object.other->message;
    warnings.push_back(std::move(*object.other));
  }
  if (!missing.empty())
    warnings.push_back({"image.missing",
                        fmt::format("not on this host: {}", files_of_the_target(missing)),
                        missing_hint(objects, missing)});
  if (!unproven.empty())
    warnings.push_back(
        {"image.unproven",
         fmt::format(
             "used for what the core left out, but not proven to be of the build that ran: {}; "
             "core and file do not both have a build-id: only mappings, and what the core "
             "has of read-only memory and dynamic sections, were compared",
             files_of_the_target(unproven)),
         "make sure that they are the files that ran, or name those: --sysroot DIR, "
         "core:FILE@EXECUTABLE"});
  return {};
}

} // namespace mqbridge
