#pragma once

#include "host/confined/conversation.h"
#include "host/elf/elf_file.h"
#include "host/files/file_finder.h"
#include "host/types/indexer_options.h"
#include "host/types/indexer_wire.h"
#include "host/types/type_names.h"
#include "host/types/types.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mqbridge {

/// The owner's side of one mqbridge-indexer (host/types/indexer/main.cpp), which reads the types of
/// one file. Its answers are checked for bounds and order; they are as true as the file is. After
/// any error except dwarf.corrupt the process is gone. Any thread, one at a time.
class TypeIndexer {
public:
  /// Checks for reasons known beforehand why the DWARF cannot be read. Error: dwarf.compression.
  static Result<void> check(const ElfFile& elf);
  /// `elf` and `paths` outlive this. Errors: elf.open, worker.start, sandbox.unavailable, those of
  /// names().
  static Result<std::unique_ptr<TypeIndexer>> start(const IndexerOptions& options,
                                                    const ElfFile& elf, const FilePaths& paths);

  /// With an indexer that is running already, and is told whether to filter system calls
  /// (`sandboxed`).
  static Result<std::unique_ptr<TypeIndexer>> start(std::unique_ptr<sandbox::Conversation> channel,
                                                    bool sandboxed, const ElfFile& elf,
                                                    const FilePaths& paths);

  /// All names of the file. Errors: dwarf.corrupt, and those of sandbox::Conversation::receive.
  Result<TypeNames> names();

  /// The first complete definition of `asked` in `names`, in the order of its kinds; nullopt: none
  /// is complete. The layout has no name yet. Errors: as names().
  Result<std::optional<TypeLayout>> layout(const AskedName& asked, const TypeNames& names);

  /// Parts of the DWARF that are missing: dwarf.alternate_missing, dwarf.split_missing.
  std::vector<Error> take_warnings() { return std::exchange(warnings_, {}); }

private:
  TypeIndexer(const ElfFile& elf, const FilePaths& paths,
              std::unique_ptr<sandbox::Conversation> channel)
      : elf_(elf), paths_(paths), channel_(std::move(channel)) {}

  Result<void> send_files(bool sandboxed);
  FileDescriptor find_alternate(std::filesystem::path& place);
  Result<void> send_file(const FileDescriptor& fd, const std::filesystem::path& path);
  Result<void> send_no_file();
  /// Answers the indexer's questions, those for candidates from `names`, until a message comes that
  /// is none, and returns that.
  Result<wire::Decoder> next_answer(wire::IndexerKind& kind, const TypeNames* names);
  Result<void> give_package();
  Result<void> give_split(wire::Decoder& question);
  Result<void> give_candidates(wire::Decoder& question, const TypeNames* names);
  Failure fault(wire::Decoder& message);
  Result<void> note_missing(wire::Decoder& message);

  const ElfFile& elf_;
  const FilePaths& paths_;
  std::unique_ptr<sandbox::Conversation> channel_;
  std::vector<std::filesystem::path> given_; ///< by number
  std::vector<Error> warnings_;
};

} // namespace mqbridge
