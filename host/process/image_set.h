#pragma once

#include "host/elf/elf_file.h"
#include "host/files/file_finder.h"
#include "host/memory/memory_map.h"
#include "host/types/dwarf_types.h"
#include "host/types/types.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// One object loaded in the target: its file on this host, where it was found, and its load bias.
struct Image {
  std::string target_path = {}; ///< as the target names it
  LoadBias bias = {};
  std::shared_ptr<const ElfFile> file = {};  ///< null if this host has none
  std::shared_ptr<const ElfFile> debug = {}; ///< separate debug file, if there is one
  std::string missing_reason = {};           ///< why `file` is null
};

/// The segments of an image; none if this host does not have its file.
std::vector<MappedRange> segments_of(const Image& image);

struct ResolvedSymbol {
  TargetAddress address;
  std::uint64_t size = 0;
  const Image* image = nullptr;
};

/// All objects of one address space in link map order (MQD 3.2.4: what an mqs_image stands for).
/// Symbol and type look-ups search all of them.
class ImageSet {
public:
  /// `paths`: where parts of their DWARF may be (DwarfSources).
  explicit ImageSet(std::vector<Image> images, FilePaths paths = {});
  /// With DWARF that other address spaces share. Thread-safe on the side of `sources`.
  ImageSet(std::vector<Image> images, std::shared_ptr<DwarfSources> sources);
  ~ImageSet();
  ImageSet(ImageSet&&) noexcept;
  ImageSet& operator=(ImageSet&&) noexcept;

  const std::vector<Image>& images() const;
  /// A separate debug file that was found later, of the image at `index`. Layouts that its DWARF
  /// gave so far are no longer valid.
  void set_debug(std::size_t index, std::shared_ptr<const ElfFile> debug);
  /// The first image whose file name starts with `prefix` ("libmpi.so"); nullptr if none.
  const Image* find_by_name(std::string_view prefix) const;

  std::optional<ResolvedSymbol> find_symbol(std::string_view name) const;
  std::optional<ResolvedSymbol> find_function(std::string_view name) const;

  /// A source that is asked before the images' own DWARF, in the order of adding (--types, packs).
  void add_type_source(std::shared_ptr<TypeSource> source);
  Result<const TypeLayout*> find_type(std::string_view name);
  /// The same, but among the images only the DWARF of `image` is asked (nullptr: none). It takes
  /// long to find that a type is in none of all loaded objects.
  Result<const TypeLayout*> find_type_in(const Image* image, std::string_view name);
  /// The added source that find_type() takes this type from; nullptr: none knows it. Errors: as
  /// find_type.
  Result<const TypeSource*> source_of(std::string_view name);
  /// How DWARF of these images is read.
  const IndexerOptions& indexer() const;
  /// Faults of the types' sources that look-ups met; each is reported once.
  std::vector<Error> take_type_warnings();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge
