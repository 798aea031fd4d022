#include "host/types/type_indexer.h"

#include "host/codes.h"
#include "host/confined/child_conversation.h"
#include "host/disk/file_on_disk.h"
#include "host/elf/elf_reader.h"
#include "host/limits.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge {
namespace {

using wire::IndexerKind;

} // namespace

Result<void> TypeIndexer::check(const ElfFile& elf) {
  const auto& compression = elf.unknown_compression();
  if (compression.empty())
    return {};
  const auto file = elf.path().string();
  return fail("dwarf.compression",
              fmt::format("the DWARF of {} is compressed with {}, which libdwarf cannot undo", file,
                          compression),
              fmt::format("objcopy --decompress-debug-sections {} types.debug    then: "
                          "--types types.debug",
                          file));
}

Result<std::unique_ptr<TypeIndexer>>
TypeIndexer::start(const IndexerOptions& options, const ElfFile& elf, const FilePaths& paths) {
  const auto file = elf.path().string();
  auto child = sandbox::ChildConversation::start(
      {.program = options.program,
       .patience = options.patience,
       .doing = "read the types of " + file,
       .hint = fmt::format("take the types from elsewhere: --types FILE (mqbridge types make); "
                           "is it damaged? readelf --debug-dump=info {}",
                           pasteable(file)),
       .crashed = "dwarf.crashed",
       .timeout = "dwarf.timeout",
       .protocol = "dwarf.protocol"});
  if (!child)
    return forward(std::move(child));
  return start(std::move(*child), options.sandboxed, elf, paths);
}

Result<std::unique_ptr<TypeIndexer>>
TypeIndexer::start(std::unique_ptr<sandbox::Conversation> channel, bool sandboxed,
                   const ElfFile& elf, const FilePaths& paths) {
  std::unique_ptr<TypeIndexer> indexer(new TypeIndexer(elf, paths, std::move(channel)));
  if (auto done = indexer->send_files(sandboxed); !done)
    return forward(std::move(done));
  IndexerKind kind{};
  auto answer = indexer->next_answer(kind, nullptr);
  if (!answer)
    return forward(std::move(answer));
  if (kind == IndexerKind::no_sandbox)
    return Failure(sandbox::unavailable("mqbridge-indexer", answer->text()));
  if (kind != IndexerKind::ready || !answer->complete())
    return indexer->channel_->protocol_violation();
  return indexer;
}

Result<void> TypeIndexer::send_files(bool sandboxed) {
  auto main = reopen(elf_);
  if (!main)
    return forward(std::move(main));
  channel_->begin_answer();
  wire::Encoder start;
  start.put(IndexerKind::start)
      .put(sandboxed)
      .put(static_cast<std::uint8_t>(elf_.platform().pointer_size))
      .put(elf_.alternate_link().has_value());
  if (auto done = channel_->send(start); !done)
    return done;
  if (auto done = send_file(*main, elf_.path()); !done)
    return done;
  std::filesystem::path place;
  if (const auto alternate = find_alternate(place)) {
    if (auto done = send_file(alternate, place); !done)
      return done;
  }
  return send_no_file();
}

// The alternate file. Empty: `elf` refers to none, or the file is missing, which is a warning.
FileDescriptor TypeIndexer::find_alternate(std::filesystem::path& place) {
  const auto link = elf_.alternate_link();
  if (!link)
    return FileDescriptor();
  auto found = find_alternate_file(paths_, elf_);
  if (found.file) {
    place = std::move(found.path);
    return std::move(found.file);
  }
  const auto other_build = found.other_build.empty()
                               ? std::string()
                               : fmt::format(" ({} is another build)", found.other_build.string());
  warnings_.push_back(
      {"dwarf.alternate_missing",
       fmt::format(
           "{} shares DWARF with others in {}, build-id {}, which is not here{}; types that "
           "are only there are not known",
           elf_.path().string(), link->file, link->build_id, other_build),
       "install it with the debug symbols of the package, or give its directory: --debug-dir DIR"});
  return FileDescriptor();
}

Result<void> TypeIndexer::send_file(const FileDescriptor& fd, const std::filesystem::path& path) {
  if (given_.size() == limits::dwarf_files)
    return channel_->protocol_violation();
  wire::Encoder message;
  message.put(IndexerKind::file).put(static_cast<std::uint32_t>(given_.size()));
  given_.push_back(path);
  return channel_->send(message, fd);
}

Result<void> TypeIndexer::send_no_file() {
  wire::Encoder message;
  message.put(IndexerKind::no_file);
  return channel_->send(message);
}

Result<TypeNames> TypeIndexer::names() {
  channel_->begin_answer();
  wire::Encoder question;
  question.put(IndexerKind::read_names);
  if (auto done = channel_->send(question); !done)
    return forward(std::move(done));
  std::vector<std::byte> places;
  for (;;) {
    IndexerKind kind{};
    auto answer = next_answer(kind, nullptr);
    if (!answer)
      return forward(std::move(answer));
    if (kind == IndexerKind::names_end) {
      if (auto done = note_missing(*answer); !done)
        return forward(std::move(done));
      break;
    }
    const auto some = answer->rest();
    if (kind != IndexerKind::names || some.size() % sizeof(NamedPlace) != 0 ||
        some.size() > limits::type_names * sizeof(NamedPlace) - places.size())
      return channel_->protocol_violation();
    places.insert(places.end(), some.begin(), some.end());
  }
  auto names = TypeNames::from(std::move(places));
  if (!names)
    return channel_->protocol_violation();
  return std::move(*names);
}

Result<std::optional<TypeLayout>> TypeIndexer::layout(const AskedName& asked,
                                                      const TypeNames& names) {
  channel_->begin_answer();
  wire::Encoder question;
  question.put(IndexerKind::read_layout).text(asked.name);
  for (const auto kind : asked.kinds)
    for (const auto& candidate : names.find(kind, asked.name))
      question.put(kind).put(candidate.place);
  if (auto done = channel_->send(question); !done)
    return forward(std::move(done));
  TypeLayout layout;
  std::size_t name_bytes = 0;
  for (;;) {
    IndexerKind kind{};
    auto answer = next_answer(kind, &names);
    if (!answer)
      return forward(std::move(answer));
    if (kind == IndexerKind::layout) {
      const bool found = answer->get<std::uint8_t>() != 0;
      layout.size = answer->get<std::uint64_t>();
      if (!answer->complete())
        return channel_->protocol_violation();
      return found ? std::optional(std::move(layout)) : std::nullopt;
    }
    if (kind != IndexerKind::fields)
      return channel_->protocol_violation();
    while (answer->ok() && !answer->complete()) {
      auto field = answer->text();
      const auto offset = answer->get<std::uint64_t>();
      name_bytes += field.size();
      layout.fields.push_back({std::move(field), offset, answer->get<std::uint64_t>()});
    }
    if (!answer->ok() || layout.fields.size() > limits::type_fields ||
        name_bytes > limits::type_field_bytes)
      return channel_->protocol_violation();
  }
}

Result<wire::Decoder> TypeIndexer::next_answer(IndexerKind& kind, const TypeNames* names) {
  for (;;) {
    auto message = channel_->receive(kind);
    if (!message)
      return message;
    Result<void> given;
    if (kind == IndexerKind::want_package)
      given = give_package();
    else if (kind == IndexerKind::want_split)
      given = give_split(*message);
    else if (kind == IndexerKind::want_candidates)
      given = give_candidates(*message, names);
    else if (kind == IndexerKind::fault)
      return fault(*message);
    else
      return message;
    if (!given)
      return forward(std::move(given));
  }
}

Result<void> TypeIndexer::give_package() {
  auto package = elf_.place();
  package.path += ".dwp";
  const auto status = status_of(package);
  if (!status || !S_ISREG(status->st_mode))
    return send_no_file();
  const auto fd = open_regular_file(package);
  if (fd)
    return send_file(*fd, package.path);
  warnings_.push_back({"dwarf.split_missing", fd.error().message, fd.error().hint});
  return send_no_file();
}

// Names of files come from the DWARF: only the indexer reads these files.
Result<void> TypeIndexer::give_split(wire::Decoder& question) {
  const auto index = question.get<std::uint32_t>();
  const auto directory = question.text();
  const auto name = question.text();
  if (!question.complete())
    return channel_->protocol_violation();
  const auto places = split_file_places(paths_, elf_, directory, name);
  for (std::size_t i = index; i < places.size(); ++i) {
    // No indexer needs files of another kind. An indexer that a bad file has taken over gets
    // nothing else that the user can read.
    if (const auto fd = open_regular_file(places[i]); fd && is_elf(*fd))
      return send_file(*fd, places[i].path);
  }
  return send_no_file();
}

Result<void> TypeIndexer::give_candidates(wire::Decoder& question, const TypeNames* names) {
  const auto kind = question.get<NameKind>();
  const auto name = question.text();
  if (!question.complete() || names == nullptr)
    return channel_->protocol_violation();
  wire::Encoder answer;
  answer.put(IndexerKind::candidates);
  for (const auto& candidate : names->find(kind, name))
    answer.put(candidate.place);
  return channel_->send(answer);
}

Failure TypeIndexer::fault(wire::Decoder& message) {
  const auto number = message.get<std::uint32_t>();
  const auto what = message.text();
  if (!message.complete() || number >= given_.size())
    return channel_->protocol_violation();
  const auto file = given_[number].string();
  return fail(codes::dwarf_corrupt, fmt::format("DWARF of {}: {}", file, readable(what)),
              fmt::format("check it with: readelf --debug-dump=info {}", pasteable(file)));
}

Result<void> TypeIndexer::note_missing(wire::Decoder& message) {
  auto [units, all, alternate, package, names] = message.get<wire::MissingDwarf>();
  if (!message.complete())
    return channel_->protocol_violation();
  std::ranges::transform(names, names.begin(), [](const auto& name) { return readable(name); });
  const auto file = elf_.path().string();
  if (!alternate.empty())
    warnings_.push_back({"dwarf.alternate_missing",
                         fmt::format("the file that {} shares DWARF in cannot be used: {}; types "
                                     "that are only there are not known",
                                     file, readable(alternate)),
                         "install it with the debug symbols of the package"});
  if (!package.empty())
    warnings_.push_back({"dwarf.split_missing",
                         fmt::format("DWARF of {}.dwp: {}", file, readable(package)),
                         fmt::format("make it again: dwp -e {}", file)});
  if (units == 0)
    return {};
  warnings_.push_back(
      {"dwarf.split_missing",
       fmt::format("{} of the {} split DWARF files of {} are not here, or are of another build: "
                   "{}{}; types that only they define are not known",
                   units, all, file, fmt::join(names, ", "), units > names.size() ? ", ..." : ""),
       fmt::format("put the .dwo files or {}.dwp beside it, or map the build directory: --path-map "
                   "FROM=TO",
                   elf_.path().filename().string())});
  return {};
}

} // namespace mqbridge
