#include "host/types/type_pack.h"

#include "host/elf/elf_reader.h"
#include "host/types/pack_parser.h"
#include "rsp/packet/printable.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <unistd.h>

namespace mqbridge {
namespace {

constexpr std::size_t size_limit = 16U << 20;

class PackTypes : public TypeSource {
public:
  explicit PackTypes(TypePack pack) : build_id_(std::move(pack.build_id)) {
    for (auto& type : pack.types) {
      auto name = type.name;
      types_.emplace(std::move(name), std::move(type));
    }
  }

  Result<const TypeLayout*> find(std::string_view name) override {
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : &found->second;
  }

  std::string_view build_id() const override { return build_id_; }

private:
  std::string build_id_;
  std::map<std::string, TypeLayout, std::less<>> types_;
};

Result<std::string> read_text(const std::filesystem::path& path) {
  auto fd = open_regular_file(path);
  std::string text;
  if (fd) {
    std::array<char, 65536> buffer;
    ssize_t count = 0;
    while ((count = ::read(fd->get(), buffer.data(), buffer.size())) > 0 &&
           text.size() <= size_limit)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count >= 0)
      return text;
  }
  return fail("pack.open",
              fd ? fmt::format("cannot read {}: {}", path.string(), std::strerror(errno))
                 : fd.error().message,
              fmt::format("ls -l {}", pasteable(path.string())));
}

} // namespace

Result<TypePack> read_type_pack(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (!text)
    return forward(std::move(text));
  if (text->size() > size_limit)
    return fail("pack.syntax", fmt::format("{}: larger than {} bytes", path.string(), size_limit));
  return parse_type_pack(*text, path.string());
}

std::string write_type_pack(const TypePack& pack) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\nmpi {}\n", pack_signature, pack.mpi);
  if (!pack.version.empty())
    fmt::format_to(out, "version {}\n", pack.version);
  if (!pack.library.empty())
    fmt::format_to(out, "library {}\n", pack.library);
  if (!pack.build_id.empty())
    fmt::format_to(out, "build-id {}\n", pack.build_id);
  fmt::format_to(out, "platform {} {} {}\n", pack.architecture,
                 pack.byte_order == ByteOrder::little ? "little" : "big", pack.pointer_size);
  bool spaced = true;
  for (const auto& type : pack.types) {
    if (spaced || !type.fields.empty())
      text += '\n';
    spaced = !type.fields.empty();
    fmt::format_to(out, "type {} {}\n", type.name, type.size);
    for (const auto& field : type.fields)
      fmt::format_to(out, "  field {} {} {}\n", field.name, field.offset, field.size);
  }
  return text;
}

std::shared_ptr<TypeSource> type_source(TypePack pack) {
  return std::make_shared<PackTypes>(std::move(pack));
}

} // namespace mqbridge
