#include "host/mqs/dll_policy.h"

#include "host/codes.h"
#include "host/disk/file_on_disk.h"
#include "host/elf/elf_file.h"
#include "host/elf/elf_reader.h"
#include "host/mqs/dll_dependences.h"
#include "host/mqs/dll_trust.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <climits>
#include <fmt/format.h>
#include <sys/stat.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

/// Bytes of a DLL in which its version is looked for; a debug DLL has tens of kilobytes.
constexpr std::uint64_t max_scanned_file = 16 << 20;

/// The purpose of a DLL: the name of our own one, the functions that others must export, and the
/// place where the process names them.
struct Purpose {
  std::string_view own_file;
  std::string_view needed_export;
  std::string_view variable;
};
constexpr Purpose for_queues = {"libmqbridge-queues.so", "mqs_setup_basic_callbacks",
                                "MPIR_dll_name"};
constexpr Purpose for_handles = {"libmqbridge-handles.so", "mpidbg_interface_version_compatibility",
                                 "mpidbg_dll_locations"};

/// The target chose the path.
std::string dll_hint(const fs::path& path) {
  return fmt::format("if you trust it: --dll {}", pasteable(path.string()));
}

/// Checks that a DLL is built for this program's own platform.
Result<void> check_architecture(const fs::path& path) {
  auto theirs = read_elf_platform(path);
  if (!theirs && theirs.error().code == codes::elf_open)
    return fail("dll.not_found", std::move(theirs).error().message,
                "an existing, readable file: --dll PATH");
  if (!theirs)
    return fail("dll.not_elf",
                fmt::format("{} is no shared library: {}", path.string(), theirs.error().message),
                "the MPI library's debug DLL: --dll PATH");
  auto ours = read_elf_platform("/proc/self/exe");
  if (!ours)
    return forward(std::move(ours));
  if (theirs->architecture == ours->architecture && theirs->pointer_size == ours->pointer_size &&
      theirs->byte_order == ours->byte_order)
    return {};
  return fail(codes::dll_architecture,
              fmt::format("{} is built for {} ({}-bit); this host loads {} ({}-bit)", path.string(),
                          theirs->architecture, theirs->pointer_size * 8, ours->architecture,
                          ours->pointer_size * 8),
              "the debug DLL runs on this host, whatever the target is: the same library built for "
              "this host, --dll PATH");
}

bool is_inside(const fs::path& path, const fs::path& directory) {
  const auto [in_directory, in_path] =
      std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  static_cast<void>(in_path);
  return in_directory == directory.end();
}

/// `path` may be missing; the part of it that exists is looked at where it really is.
bool is_allowed(const fs::path& path, const DllPolicy& policy) {
  std::error_code error;
  const fs::path real_path = fs::weakly_canonical(path, error);
  const auto& allowed = policy.allowed_directories;
  return !error && std::any_of(allowed.begin(), allowed.end(), [&](const fs::path& directory) {
    const fs::path real = fs::canonical(directory, error);
    return !error && is_inside(real_path, real);
  });
}

/// Why somebody else could decide what is loaded as `real`, or along with it; empty: nobody.
std::string why_unsafe(const fs::path& real, const DllPolicy& policy, Writers writers) {
  if (!is_allowed(real, policy))
    if (std::string why = why_changeable(real, writers); !why.empty())
      return why;
  return why_dependences_changeable(real, [&](const fs::path& place) {
    return is_allowed(place, policy) ? std::string() : why_fillable(place, writers);
  });
}

std::string_view kind_of(const struct stat& status) {
  switch (status.st_mode & S_IFMT) {
  case S_IFDIR:
    return "a directory";
  case S_IFIFO:
    return "a FIFO";
  case S_IFSOCK:
    return "a socket";
  default:
    return "a device";
  }
}

/// This check comes before anything opens the file: opening a FIFO may last for ever, and a device
/// may act on it.
Result<CheckedDll> check_is_file(const fs::path& real) {
  struct stat status {};
  if (::stat(real.c_str(), &status) != 0)
    return fail("dll.not_found", printable(real.string()) + " cannot be looked at",
                "an existing debug DLL: --dll PATH");
  if (!S_ISREG(status.st_mode))
    return fail(
        "dll.not_elf",
        fmt::format("{} is {}, no shared library", printable(real.string()), kind_of(status)),
        "the MPI library's debug DLL: --dll PATH");
  return checked_dll(status);
}

/// The worker would find a missing function, too, but only after the library's constructors have
/// run.
Result<void> check_exports(const fs::path& real, const Purpose& purpose) {
  const auto file = ElfFile::open(real);
  if (file && (*file)->find_symbol(purpose.needed_export) != nullptr)
    return {};
  return fail("dll.missing_function",
              fmt::format("the target names {}, which is not loaded: it exports no {}",
                          printable(real.string()), purpose.needed_export),
              "it is no MPI debug DLL; give the right one with --dll PATH");
}

/// `real` is canonical: no link on it can be exchanged by somebody who may not write to its
/// directories.
Result<void> check_trust(const fs::path& real, const DllPolicy& policy) {
  const std::string why = why_unsafe(real, policy, Writers::root);
  if (why.empty())
    return {};
  return fail("dll.untrusted",
              fmt::format("the target names the debug DLL {}, which is not loaded: {}",
                          printable(real.string()), why),
              dll_hint(real));
}

/// Makes all checks of a DLL that a target may name, however it was found on this host. Returns the
/// file that passed.
Result<CheckedDll> check_for_target(const fs::path& real, const DllPolicy& policy,
                                    const Purpose& purpose) {
  auto file = check_is_file(real);
  if (!file)
    return file;
  if (auto trusted = check_trust(real, policy); !trusted)
    return forward(std::move(trusted));
  if (auto fits = check_architecture(real); !fits)
    return forward(std::move(fits));
  if (auto fits = check_exports(real, purpose); !fits)
    return forward(std::move(fits));
  file->uses_origin = uses_origin(real);
  return file;
}

/// `name` by the first rule of the path map that is about it.
std::string mapped(const DllPolicy& policy, std::string_view name) {
  for (const auto& rule : policy.path_map)
    if (auto path = map_path(rule, name))
      return std::move(*path);
  return std::string(name);
}

Result<void> check_name(const TargetsDll& target, const Purpose& purpose) {
  const std::string_view name = target.name;
  const std::string shown = printable(name.substr(0, 200));
  const auto refused = [&](const std::string& why) {
    return fail("dll.untrusted", fmt::format("{} is not used: {}", purpose.variable, why),
                "the debug DLL on this host: --dll PATH");
  };
  if (!target.name_ends)
    return refused(fmt::format("it does not end within its {} bytes ({}...)", name.size(), shown));
  if (name.size() >= PATH_MAX)
    return refused(fmt::format("{} bytes long ({}...)", name.size(), shown));
  if (printable(name) != name)
    return refused(fmt::format("\"{}\" has characters that cannot be shown", shown));
  if (!name.starts_with('/'))
    return refused(fmt::format("\"{}\" is no absolute path", shown));
  return {};
}

/// The directories where this host may keep debug DLLs: directories of libraries, and `below`
/// these.
std::vector<fs::path> host_directories(std::span<const std::string_view> below) {
  std::vector<fs::path> libraries = {"/usr/lib", "/usr/lib64", "/usr/local/lib",
                                     "/usr/local/lib64"};
  // Debian's multiarch directories, whatever the triplet.
  std::error_code error;
  for (fs::directory_iterator entry("/usr/lib", error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().find("-linux-") != std::string::npos)
      libraries.push_back(entry->path());
  std::vector<fs::path> directories;
  for (const auto& library : libraries) {
    for (const auto directory : below)
      directories.push_back(library / directory);
    directories.push_back(library);
  }
  return directories;
}

/// "4.1" of "4.1.4", "v4.1.4rc1"; empty: it is no version.
std::string_view release_of(std::string_view version) {
  constexpr std::string_view digits = "0123456789";
  if (version.starts_with('v'))
    version.remove_prefix(1);
  const auto first = std::min(version.find_first_not_of(digits), version.size());
  if (first == 0 || first == version.size() || version[first] != '.')
    return {};
  const auto second = std::min(version.find_first_not_of(digits, first + 1), version.size());
  const bool goes_on = second < version.size() && version[second] == '.';
  return second == first + 1 || !goes_on ? std::string_view() : version.substr(0, second);
}

/// How the version that a DLL is made for, as far as its file says it, fits that of the target.
enum class VersionFit : std::uint8_t {
  not_known, ///< the file says no version, or the target's is not known
  same,
  same_release, ///< such as 4.1.2 and 4.1.4: layouts stay as they are within a release
  other,
};

/// A DLL keeps its MPI's version among its strings, each from one NUL to the next.
VersionFit fit_of(std::string_view contents, std::string_view version) {
  constexpr std::size_t longest = 64;
  const std::string_view wanted = release_of(version);
  VersionFit fit = VersionFit::not_known;
  for (std::size_t at = 0; at < contents.size() && !wanted.empty();) {
    const auto end = std::min(contents.find('\0', at), contents.size());
    const auto text = contents.substr(at, std::min(end - at, longest));
    const auto release = release_of(text);
    if (text == version)
      return VersionFit::same;
    if (release == wanted)
      fit = VersionFit::same_release;
    else if (!release.empty() && fit == VersionFit::not_known)
      fit = VersionFit::other;
    at = end + 1;
  }
  return fit;
}

VersionFit version_fit(const fs::path& dll, std::string_view version) {
  const auto file = open_regular_file(dll); // a FIFO put there since would hold us, and the target
  if (version.empty() || !file)
    return VersionFit::not_known;
  const std::uint64_t size = FileOnDisk(dll, *file).size();
  if (size > max_scanned_file)
    return VersionFit::not_known;
  const auto bytes = read_range(*file, 0, size);
  return fit_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, version);
}

Error version_differs(const fs::path& dll, const TargetsDll& target, std::string_view what_then) {
  return {codes::dll_version_differs,
          fmt::format("the target runs version {}, and {} is of another one: {}", target.version,
                      printable(dll.string()), what_then),
          "the debug DLL of that version: --dll PATH"};
}

/// A DLL of another release finds fields where they were in its own, and shows wrong queues without
/// a word: it is only used where the user names it.
Result<DllChoice> of_fitting_version(DllChoice choice, const TargetsDll& target) {
  switch (version_fit(choice.path, target.version)) {
  case VersionFit::other:
    return Failure(version_differs(choice.path, target, "it is not loaded"));
  case VersionFit::same_release:
    choice.warnings.push_back(
        version_differs(choice.path, target, "if the queues look wrong, that is why"));
    break;
  case VersionFit::same:
  case VersionFit::not_known:
    break;
  }
  return choice;
}

Result<DllChoice> users_choice(const DllPolicy& policy, const fs::path& path, std::string source,
                               const TargetsDll& target) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error)
    return fail("dll.not_found",
                fmt::format("{} (from {}): {}", path.string(), source, error.message()),
                "an existing debug DLL: --dll PATH");
  if (auto file = check_is_file(real); !file)
    return forward(std::move(file));
  if (auto fits = check_architecture(real); !fits)
    return forward(std::move(fits));
  DllChoice choice{real, std::move(source), {}};
  if (const std::string why = why_unsafe(real, policy, Writers::root_and_user); !why.empty())
    choice.warnings.push_back(
        {"dll.unsafe",
         fmt::format("{} (from {}) is loaded, and somebody else could have changed it: {}",
                     printable(real.string()), choice.source, why),
         "a debug DLL where only root or you can write, or its directory in the configuration's "
         "allowed_directories"});
  if (version_fit(real, target.version) == VersionFit::other)
    choice.other_release = version_differs(real, target, "what it says is not believed");
  return choice;
}

/// The target's path belongs to another machine: looks for the same file name where this host keeps
/// such DLLs. nullopt: there is none that may be loaded. Errors: dll.version_differs.
std::optional<Result<DllChoice>> same_name_on_host(const fs::path& name, const DllPolicy& policy,
                                                   const TargetsDll& target,
                                                   const Purpose& purpose) {
  std::optional<Result<DllChoice>> refused;
  for (const auto& directory : host_directories(target.directories)) {
    std::error_code error;
    const fs::path path = fs::canonical(directory / name.filename(), error);
    if (error)
      continue;
    auto checked = check_for_target(path, policy, purpose);
    if (!checked)
      continue;
    auto choice = of_fitting_version({path, "same file name on this host", {}, *checked}, target);
    if (choice)
      return choice;
    if (!refused)
      refused = std::move(choice);
  }
  return refused;
}

std::string install_hint(const TargetsDll& target) {
  return std::string(target.install_hint.empty()
                         ? "the MPI library's debug DLL on this host: --dll PATH"
                         : target.install_hint);
}

Result<DllChoice> targets_choice(const DllPolicy& policy, const TargetsDll& target,
                                 const Purpose& purpose) {
  if (target.name.empty())
    return fail("dll.not_found",
                fmt::format("the target names no debug DLL ({} is empty)", purpose.variable),
                install_hint(target));
  if (auto usable = check_name(target, purpose); !usable)
    return forward(std::move(usable));
  const fs::path path = mapped(policy, target.name);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) {
    if (auto found = same_name_on_host(path, policy, target, purpose))
      return std::move(*found);
    return fail("dll.not_found",
                fmt::format("the target's debug DLL {} is not on this host ({})",
                            printable(path.string()), error.message()),
                install_hint(target));
  }
  auto checked = check_for_target(real, policy, purpose);
  if (!checked) {
    if (checked.error().code == codes::dll_architecture)
      if (auto found = same_name_on_host(path, policy, target, purpose))
        return std::move(*found);
    return forward(std::move(checked));
  }
  return of_fitting_version({real, std::string(purpose.variable), {}, *checked}, target);
}

/// The DLL that is part of this program, whatever the target calls it.
Result<DllChoice> own_choice(const DllPolicy& policy, const Purpose& purpose) {
  const auto name = purpose.own_file;
  std::string searched;
  for (const auto& directory : policy.own_directories) {
    std::error_code error;
    const fs::path path = fs::canonical(directory / name, error);
    if (!error)
      return DllChoice{path, "part of mqbridge", {}};
    searched += fmt::format("{}{}", searched.empty() ? "" : ", ", directory.string());
  }
  return fail("dll.not_found",
              fmt::format("mqbridge's own debug DLL {} is not beside the program (looked in: {})",
                          name, searched),
              fmt::format("install mqbridge as a whole, or give the DLL: --dll PATH/{}", name));
}

} // namespace

Result<DllChoice> choose_dll(const DllPolicy& policy, const TargetsDll& target) {
  if (policy.given)
    return users_choice(policy, *policy.given, "--dll", target);
  const std::array keys = {fmt::format("{} {}", target.mpi, target.version),
                           std::string(target.mpi)};
  for (const auto& key : keys)
    if (auto configured = policy.configured.find(key); configured != policy.configured.end())
      return users_choice(policy, configured->second, "configuration", target);
  if (target.is_ours)
    return own_choice(policy, for_queues);
  return targets_choice(policy, target, for_queues);
}

Result<DllChoice> choose_handle_dll(const DllPolicy& policy, std::span<const TargetsDll> named,
                                    bool ours_knows) {
  if (policy.given && *policy.given != DllPolicy::none)
    return users_choice(policy, *policy.given, "--dll", {});
  if (ours_knows)
    return own_choice(policy, for_handles);
  if (named.empty())
    return targets_choice(policy, {}, for_handles);
  auto choice = targets_choice(policy, named.front(), for_handles);
  for (const TargetsDll& other : named.subspan(1))
    if (!choice)
      choice = targets_choice(policy, other, for_handles);
  return choice;
}

} // namespace mqbridge
