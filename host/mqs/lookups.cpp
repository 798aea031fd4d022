#include "host/mqs/lookups.h"

#include "host/codes.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

constexpr std::size_t max_types = 4096;
/// Open MPI's DLL asks for some 300 symbols, types and fields. It fetches unmapped memory only if
/// the process is corrupt: then it does so for every word of garbage that it takes for a pointer.
constexpr std::uint32_t max_questions = 16'384;
constexpr std::uint32_t max_unreadable = 65'536;

wire::Encoder reply() {
  return wire::Encoder().put(wire::Kind::reply);
}

/// A DLL asks for many fields of a type, one by one: for most types all fields come along with the
/// type.
void put_fields(wire::Encoder& answer, const TypeLayout& layout) {
  const auto& fields = layout.fields;
  const auto fits = [](const TypeField& field) {
    return field.name.size() <= wire::max_field_name;
  };
  const bool all = fields.size() <= wire::max_fields && std::ranges::all_of(fields, fits);
  answer.put(all);
  if (!all)
    return;
  for (const TypeField& field : fields)
    answer.put(field.offset).text(field.name);
}

Failure improper(std::string_view what) {
  return fail(codes::dll_protocol, "the worker sent an improper " + std::string(what));
}

} // namespace

Failure Lookups::endless(std::string_view what, std::uint32_t times) const {
  return fail("dll.limit",
              fmt::format("{} {} without end: {} times by now", dll_.string(), what, times),
              "the MPI library's data may be corrupt, or of another version than the DLL");
}

Result<wire::Encoder> Lookups::answer(std::span<const std::byte> request) {
  wire::Decoder in(request);
  const auto kind = in.get<wire::Kind>();
  if (kind != wire::Kind::fetch && ++questions_ > max_questions)
    return endless("asks for symbols, types and fields", max_questions);
  switch (kind) {
  case wire::Kind::find_symbol:
  case wire::Kind::find_function:
    return symbol(kind, in);
  case wire::Kind::find_type:
    return type(in);
  case wire::Kind::field_offset:
    return field(in);
  case wire::Kind::fetch:
    return fetch(in);
  default:
    return improper("message");
  }
}

std::optional<Result<wire::Encoder>> Lookups::answer_at_once(std::span<const std::byte> request) {
  wire::Decoder in(request);
  if (in.get<wire::Kind>() != wire::Kind::fetch)
    return answer(request);
  const auto address = in.get<std::uint64_t>();
  std::vector<std::byte> bytes(std::min(in.get<std::uint32_t>(), wire::max_fetch));
  if (!in.complete() || store_ == nullptr || !store_->copy(address, bytes))
    return std::nullopt;
  return reply().bytes(bytes);
}

Result<wire::Encoder> Lookups::symbol(wire::Kind kind, wire::Decoder& request) {
  const std::string name = request.text();
  if (!request.complete())
    return improper("symbol request");
  const auto found = kind == wire::Kind::find_function ? space_.images.find_function(name)
                                                       : space_.images.find_symbol(name);
  return reply().put(found.has_value()).put(found ? found->address.value : std::uint64_t{0});
}

Result<wire::Encoder> Lookups::type(wire::Decoder& request) {
  const std::string name = request.text();
  if (!request.complete())
    return improper("type request");
  auto found = space_.images.find_type(name);
  if (!found)
    log_.add("type " + name + ": " + found.error().message);
  const TypeLayout* layout = found ? *found : nullptr;
  if (types_.size() == max_types)
    return improper("number of type requests");
  const auto handle = static_cast<std::uint32_t>(types_.size());
  if (layout != nullptr)
    types_.push_back(layout);
  const std::uint64_t size = layout != nullptr ? layout->size : 0;
  auto answer = reply().put(layout != nullptr).put(handle).put(size);
  if (layout != nullptr)
    put_fields(answer, *layout);
  return answer;
}

Result<wire::Encoder> Lookups::field(wire::Decoder& request) {
  const auto handle = request.get<std::uint32_t>();
  const std::string name = request.text();
  if (!request.complete() || handle >= types_.size())
    return improper("field request");
  const TypeField* field = types_[handle]->find_field(name);
  return reply().put(field != nullptr).put(field != nullptr ? field->offset : std::uint64_t{0});
}

Result<wire::Encoder> Lookups::fetch(wire::Decoder& request) {
  const TargetAddress address{request.get<std::uint64_t>()};
  const auto size = request.get<std::uint32_t>();
  if (!request.complete() || size > wire::max_fetch)
    return improper("fetch request");
  fetched_.resize(size);
  auto read = space_.memory.read(address, fetched_);
  if (!read)
    return forward(std::move(read));
  if (*read < size && ++unreadable_ > max_unreadable)
    return endless("reads memory that is not there", max_unreadable);
  if (const Lack* lack = *read < size ? space_.memory.lack(address + *read) : nullptr) {
    lack_ = lack;
    ++left_out_;
    first_left_out_ = first_left_out_.value_or(address + *read);
  }
  if (store_ != nullptr)
    mark_touched(address, *read);
  return reply().bytes(std::span(fetched_).first(*read));
}

std::optional<Error> Lookups::left_out() const {
  if (!first_left_out_)
    return std::nullopt;
  return Error{lack_->code,
               fmt::format("{} reads of {} met memory that {}, first at {:#x}: what lies there is "
                           "unknown, and so is where a queue ends",
                           left_out_, dll_.filename().string(), lack_->whom,
                           first_left_out_->value),
               std::string(lack_->hint)};
}

void Lookups::mark_touched(TargetAddress address, std::size_t size) {
  const std::uint64_t first = address.value / PageStore::page_size;
  const std::uint64_t last = (address.value + (size > 0 ? size - 1 : 0)) / PageStore::page_size;
  for (std::uint64_t number = first; number <= last; ++number)
    store_->mark_touched(number);
}

} // namespace mqbridge
