#include "host/process/image_set.h"

#include <filesystem>
#include <iterator>
#include <map>

namespace mqbridge {

/// The DWARF of one image, opened when the first type is looked up.
class ImageTypes {
public:
  ImageTypes(const Image& image, std::shared_ptr<DwarfSources> sources)
      : sources_(std::move(sources)) {
    for (const auto& file : {image.debug, image.file}) {
      if (file && file->has_dwarf()) {
        file_ = file;
        break;
      }
    }
  }

  Result<const TypeLayout*> find(std::string_view name) {
    if (!file_)
      return nullptr;
    if (!source_)
      source_ = sources_->open(file_);
    if (!*source_)
      return Failure(source_->error());
    return (**source_)->find(name);
  }

  std::vector<Error> take_warnings() {
    return source_ && *source_ ? (**source_)->take_warnings() : std::vector<Error>();
  }

private:
  std::shared_ptr<DwarfSources> sources_;
  std::shared_ptr<const ElfFile> file_;
  std::optional<Result<std::shared_ptr<TypeSource>>> source_;
};

struct ImageSet::Impl {
  std::shared_ptr<DwarfSources> dwarf;
  std::vector<Image> images;
  std::vector<std::shared_ptr<TypeSource>> sources;
  std::vector<ImageTypes> image_types;

  // Calls `accept` for the best symbol first. Images come in link map order, the own file of each
  // before its debug file, and symbols that the dynamic linker could bind to before local ones.
  template <class Accept>
  std::optional<ResolvedSymbol> find(std::string_view name, const Accept& accept) const {
    for (const bool local : {false, true}) {
      for (const auto& image : images) {
        for (const auto* file : {image.file.get(), image.debug.get()}) {
          const auto* symbol = file == nullptr ? nullptr : file->find_symbol(name);
          if (symbol == nullptr || symbol->is_local != local || !accept(*symbol))
            continue;
          return ResolvedSymbol{image.bias(symbol->address), symbol->size, &image};
        }
      }
    }
    return std::nullopt;
  }
};

ImageSet::ImageSet(std::vector<Image> images, FilePaths paths)
    : ImageSet(std::move(images), std::make_shared<DwarfSources>(std::move(paths))) {}

ImageSet::ImageSet(std::vector<Image> images, std::shared_ptr<DwarfSources> sources)
    : impl_(std::make_unique<Impl>()) {
  impl_->dwarf = std::move(sources);
  impl_->images = std::move(images);
  for (const auto& image : impl_->images)
    impl_->image_types.emplace_back(image, impl_->dwarf);
}

ImageSet::~ImageSet() = default;
ImageSet::ImageSet(ImageSet&&) noexcept = default;
ImageSet& ImageSet::operator=(ImageSet&&) noexcept = default;

const std::vector<Image>& ImageSet::images() const {
  return impl_->images;
}

void ImageSet::set_debug(std::size_t index, std::shared_ptr<const ElfFile> debug) {
  impl_->images.at(index).debug = std::move(debug);
  impl_->image_types.at(index) = ImageTypes(impl_->images[index], impl_->dwarf);
}

const Image* ImageSet::find_by_name(std::string_view prefix) const {
  for (const auto& image : impl_->images) {
    if (std::filesystem::path(image.target_path).filename().string().starts_with(prefix))
      return &image;
  }
  return nullptr;
}

std::optional<ResolvedSymbol> ImageSet::find_symbol(std::string_view name) const {
  return impl_->find(name, [](const ElfSymbol&) { return true; });
}

std::optional<ResolvedSymbol> ImageSet::find_function(std::string_view name) const {
  return impl_->find(name, [](const ElfSymbol& symbol) { return symbol.is_function; });
}

void ImageSet::add_type_source(std::shared_ptr<TypeSource> source) {
  impl_->sources.push_back(std::move(source));
}

Result<const TypeLayout*> ImageSet::find_type(std::string_view name) {
  auto given = find_type_in(nullptr, name);
  if (!given || *given != nullptr)
    return given;
  // An object with broken DWARF does not hide the types of the other objects.
  Result<const TypeLayout*> first_error = nullptr;
  for (auto& types : impl_->image_types) {
    auto found = types.find(name);
    if (found && *found != nullptr)
      return found;
    if (!found && first_error)
      first_error = std::move(found);
  }
  return first_error;
}

Result<const TypeLayout*> ImageSet::find_type_in(const Image* image, std::string_view name) {
  for (const auto& source : impl_->sources) {
    auto found = source->find(name);
    if (!found || *found != nullptr)
      return found;
  }
  if (image == nullptr)
    return nullptr;
  return impl_->image_types.at(static_cast<std::size_t>(image - impl_->images.data())).find(name);
}

Result<const TypeSource*> ImageSet::source_of(std::string_view name) {
  for (const auto& source : impl_->sources) {
    auto found = source->find(name);
    if (!found)
      return forward(std::move(found));
    if (*found != nullptr)
      return source.get();
  }
  return nullptr;
}

const IndexerOptions& ImageSet::indexer() const {
  return impl_->dwarf->indexer();
}

std::vector<Error> ImageSet::take_type_warnings() {
  std::vector<Error> warnings;
  const auto take = [&](std::vector<Error> more) {
    std::move(more.begin(), more.end(), std::back_inserter(warnings));
  };
  for (const auto& source : impl_->sources)
    take(source->take_warnings());
  for (auto& types : impl_->image_types)
    take(types.take_warnings());
  return warnings;
}

std::vector<MappedRange> segments_of(const Image& image) {
  std::vector<MappedRange> ranges;
  if (image.file == nullptr)
    return ranges;
  for (const auto& segment : image.file->segments())
    if (segment.memory_size > 0)
      ranges.push_back({image.bias(segment.address),
                        image.bias(segment.address) + (segment.memory_size - 1), true,
                        segment.writable, image.target_path});
  return ranges;
}

} // namespace mqbridge
