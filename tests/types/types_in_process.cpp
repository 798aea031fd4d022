#include "tests/types/types_in_process.h"

#include "host/elf/elf_file.h"
#include "host/elf/elf_reader.h"
#include "host/types/indexer/type_reader.h"

#include <map>
#include <span>
#include <string>

namespace mqbridge::test {
namespace {

class TypesInProcess : public TypeSource, private Questions {
public:
  TypesInProcess(SuppliedFile file, unsigned pointer_size)
      : reader_(GivenFiles{std::move(file)}, pointer_size, *this) {}

  Result<void> read_names() {
    const auto places = reader_.names();
    const auto bytes = std::as_bytes(std::span(places));
    auto names = TypeNames::from({bytes.begin(), bytes.end()});
    if (const auto fault = reader_.take_fault())
      return corrupt(fault->what);
    if (!names)
      return corrupt("names that are not sorted, or too many of one");
    names_ = std::move(names);
    return {};
  }

  Result<const TypeLayout*> find(std::string_view spelling) override {
    const AskedName asked(spelling);
    std::vector<TypeCandidate> candidates;
    for (const auto kind : asked.kinds)
      for (const auto place : this->candidates(kind, asked.name))
        candidates.push_back({kind, place});
    auto layout = reader_.layout(asked.name, candidates);
    if (const auto fault = reader_.take_fault())
      return corrupt(fault->what);
    if (!layout)
      return nullptr;
    layout->name = spelling;
    return &(found_[std::string(spelling)] = std::move(*layout));
  }

private:
  static Failure corrupt(std::string what) { return fail("dwarf.corrupt", std::move(what)); }

  std::optional<SuppliedFile> package() override { return std::nullopt; }
  std::optional<SuppliedFile> split(std::string_view, std::string_view, std::uint32_t) override {
    return std::nullopt;
  }
  std::vector<TypePlace> candidates(NameKind kind, std::string_view name) override {
    std::vector<TypePlace> places;
    if (names_)
      for (const auto& candidate : names_->find(kind, name))
        places.push_back(candidate.place);
    return places;
  }

  TypeReader reader_;
  std::optional<TypeNames> names_;
  std::map<std::string, TypeLayout> found_;
};

} // namespace

Result<std::unique_ptr<TypeSource>> types_in_process(const std::filesystem::path& path) {
  const auto elf = ElfFile::open(path);
  if (!elf)
    return Failure(elf.error());
  auto fd = open_regular_file(path);
  if (!fd)
    return forward(std::move(fd));
  const auto pointer_size = static_cast<unsigned>((*elf)->platform().pointer_size);
  auto types = std::make_unique<TypesInProcess>(SuppliedFile{std::move(*fd)}, pointer_size);
  if (auto done = types->read_names(); !done)
    return forward(std::move(done));
  return types;
}

} // namespace mqbridge::test
