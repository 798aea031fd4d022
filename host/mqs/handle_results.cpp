#include "host/mqs/handle_results.h"

#include "rsp/packet/printable.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

using wire::HandleList;

constexpr HandleKind listed_kinds[] = {HandleKind::communicator, HandleKind::errhandler,
                                       HandleKind::request};

} // namespace

HandleReader::HandleReader(const HandleRequest& request, HandleResult& result, MessageLog& log)
    : BatchReader(request, result, log), request_(request), handles_(result.handles) {}

bool HandleReader::accept_item(wire::Item kind, wire::Decoder& item) {
  switch (kind) {
  case wire::Item::numbers:
    return numbers(item);
  case wire::Item::attribute:
    return attribute(item);
  case wire::Item::comm_handle:
    return communicator(item);
  case wire::Item::request_handle:
    return request(item);
  case wire::Item::errhandler_handle:
    return errhandler(item);
  case wire::Item::status_handle:
    return status(item);
  case wire::Item::refused:
    return refused(item);
  case wire::Item::list_end:
    return list_end(item);
  default:
    return false;
  }
}

bool HandleReader::numbers(wire::Decoder& item) {
  const auto id = item.get<std::uint8_t>();
  const std::size_t count = item.rest().size() / sizeof(std::int64_t);
  if (!item.ok() || id >= wire::handle_lists || count > wire::max_group_total - numbers_)
    return false;
  if (!take_bytes(count * sizeof(std::int64_t)))
    return true;
  numbers_ += count;
  auto& list = lists_[static_cast<HandleList>(id)];
  if (!list)
    list.emplace();
  for (std::size_t i = 0; i < count; ++i)
    list->push_back(item.get<std::int64_t>());
  return item.complete();
}

bool HandleReader::attribute(wire::Decoder& item) {
  HandleAttribute attribute;
  attribute.keyval = item.get<std::int32_t>();
  attribute.name = item.text();
  attribute.value = item.text();
  if (!item.complete() || attributes_.size() == wire::max_attributes)
    return false;
  if (take_bytes(sizeof attribute + attribute.name.size() + attribute.value.size()))
    attributes_.push_back(std::move(attribute));
  return true;
}

bool HandleReader::is_due(HandleKind kind, const std::uint64_t* handle) const {
  if (asks_for_lists())
    return kind != HandleKind::status && !std::ranges::count(ended_, kind);
  if (answers_ == request_.question.handles.size())
    return false;
  const auto& asked = request_.question.handles[answers_];
  return asked.kind == kind && (handle == nullptr || asked.fortran || asked.value == *handle);
}

template <class Handle>
bool HandleReader::keep(std::vector<Handle>& into, Handle handle) {
  lists_ = {};
  attributes_.clear();
  if (!take_bytes(sizeof handle))
    return true;
  into.push_back(std::move(handle));
  ++answers_;
  return true;
}

bool HandleReader::communicator(wire::Decoder& item) {
  const auto fields = item.get<wire::CommFields>();
  std::string name = item.text();
  if (!item.complete() || name.size() > MPIDBG_MAX_OBJECT_NAME)
    return false;
  const bool is_owner = fields.is_owner != 0;
  if (is_owner ? asks_for_lists() || owners_++ == handles_.requests.size()
               : !is_due(HandleKind::communicator, &fields.handle))
    return false;
  const auto before = answers_;
  const bool kept =
      keep(handles_.communicators, communicator_of(fields, std::move(name), lists_,
                                                   std::exchange(attributes_, {}), pointer_size()));
  if (is_owner)
    answers_ = before;
  return kept;
}

bool HandleReader::request(wire::Decoder& item) {
  const auto fields = item.get<wire::RequestFields>();
  const auto description = item.get<mpidbg_request_description>();
  if (!item.complete() || !is_due(HandleKind::request, &fields.handle))
    return false;
  RequestHandle handle = request_of(fields, description, pointer_size());
  const bool has_site = fields.described != 0 && (description.known & MPIDBG_KNOWN_SITE) != 0;
  if (has_site && description.site != 0) {
    const auto before = sites_.bytes();
    handle.site = sites_.share({at_pointer_width(description.site, pointer_size())});
    if (!take_bytes(sites_.bytes() - before))
      return true;
  }
  return keep(handles_.requests, std::move(handle));
}

bool HandleReader::errhandler(wire::Decoder& item) {
  const auto fields = item.get<wire::ErrhandlerFields>();
  std::string name = item.text();
  if (!item.complete() || name.size() > MPIDBG_MAX_OBJECT_NAME ||
      !is_due(HandleKind::errhandler, &fields.handle))
    return false;
  return keep(handles_.errhandlers, errhandler_of(fields, std::move(name), lists_, pointer_size()));
}

bool HandleReader::status(wire::Decoder& item) {
  const auto fields = item.get<wire::StatusFields>();
  const auto description = item.get<mpidbg_status_description>();
  if (!item.complete() || !is_due(HandleKind::status, &fields.address))
    return false;
  return keep(handles_.statuses, status_of(fields, description, pointer_size()));
}

bool HandleReader::refused(wire::Decoder& item) {
  const auto asked = item.get<wire::AskedHandle>();
  HandleRefusal refusal;
  refusal.handle = {static_cast<HandleKind>(asked.kind), asked.value, asked.fortran};
  refusal.reason = printable(item.text());
  if (!item.complete() || refusal.handle.kind > HandleKind::status ||
      !is_due(refusal.handle.kind, nullptr))
    return false;
  return keep(handles_.refused, std::move(refusal));
}

bool HandleReader::list_end(wire::Decoder& item) {
  const auto kind = item.get_up_to(HandleKind::status);
  const auto end = item.get_up_to(wire::ListEnd::unlisted);
  if (!item.complete() || !asks_for_lists() || !is_due(kind, nullptr))
    return false;
  ended_.push_back(kind);
  if (end == wire::ListEnd::incomplete)
    handles_.incomplete.push_back(kind);
  if (end == wire::ListEnd::unlisted)
    handles_.unlisted.push_back(kind);
  return true;
}

void HandleReader::finish(const std::optional<Error>& failure, TruncatedBy, bool) {
  const std::string why = failure ? failure->message : "the DLL never came to it";
  if (!asks_for_lists())
    for (auto i = answers_; i < request_.question.handles.size(); ++i)
      handles_.refused.push_back({request_.question.handles[i], why});
  else
    for (const HandleKind kind : listed_kinds)
      if (!std::ranges::count(ended_, kind))
        handles_.incomplete.push_back(kind);
}

} // namespace mqbridge
