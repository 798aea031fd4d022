#include "host/types/indexer/indexer_session.h"

#include <algorithm>

namespace mqbridge::indexer {
namespace {

using sandbox::leave;
using wire::IndexerKind;

std::optional<SuppliedFile> take_file(IndexerKind kind, wire::Decoder& message,
                                      FileDescriptor descriptor) {
  const auto number = message.get<std::uint32_t>();
  if (kind == IndexerKind::no_file)
    return std::nullopt;
  if (kind != IndexerKind::file || !message.complete() || !descriptor)
    leave();
  return SuppliedFile{std::move(descriptor), number};
}

} // namespace

Start Start::receive(ParentChannel& channel) {
  Start start;
  IndexerKind kind{};
  FileDescriptor descriptor;
  auto message = channel.receive(kind, descriptor);
  start.sandboxed = message.get<std::uint8_t>() != 0;
  start.pointer_size = message.get<std::uint8_t>();
  start.files.wants_alternate = message.get<std::uint8_t>() != 0;
  if (kind != IndexerKind::start || !message.complete())
    leave();
  for (bool first = true;; first = false) {
    auto more = channel.receive(kind, descriptor);
    auto file = take_file(kind, more, std::move(descriptor));
    if (!file)
      return start;
    if (first)
      start.files.main = std::move(*file);
    else
      start.files.alternate = std::move(*file);
  }
}

void Session::serve() {
  for (;;) {
    IndexerKind kind{};
    FileDescriptor descriptor;
    auto question = channel_.receive(kind, descriptor);
    if (kind == IndexerKind::read_names)
      answer_names();
    else if (kind == IndexerKind::read_layout)
      answer_layout(question);
    else
      leave();
  }
}

void Session::answer_names() {
  const auto names = reader_.names();
  if (const auto fault = reader_.take_fault())
    return send_fault(*fault);
  for (auto rest = std::span(names); !rest.empty();) {
    const auto chunk = rest.first(std::min(rest.size(), wire::max_names_chunk));
    wire::Encoder message;
    message.put(IndexerKind::names).bytes(std::as_bytes(chunk));
    channel_.send(message);
    rest = rest.subspan(chunk.size());
  }
  wire::Encoder last;
  last.put(IndexerKind::names_end).put(reader_.missing());
  channel_.send(last);
}

void Session::answer_layout(wire::Decoder& question) {
  const auto name = question.text();
  std::vector<TypeCandidate> candidates;
  while (question.ok() && !question.complete()) {
    const auto kind = question.get<NameKind>();
    candidates.push_back({kind, question.get<TypePlace>()});
  }
  if (!question.ok())
    leave();
  const auto layout = reader_.layout(name, candidates);
  if (const auto fault = reader_.take_fault())
    return send_fault(*fault);
  if (layout) {
    wire::Encoder fields;
    fields.put(IndexerKind::fields);
    for (const auto& field : layout->fields) {
      fields.text(field.name).put(field.offset).put(field.size);
      if (fields.message().size() < wire::max_fields_chunk)
        continue;
      channel_.send(fields);
      fields = wire::Encoder();
      fields.put(IndexerKind::fields);
    }
    channel_.send(fields);
  }
  wire::Encoder last;
  last.put(IndexerKind::layout).put(layout.has_value()).put(layout ? layout->size : 0);
  channel_.send(last);
}

void Session::send_fault(const DwarfFault& fault) {
  wire::Encoder message;
  message.put(IndexerKind::fault).put(fault.file).text(fault.what);
  channel_.send(message);
}

std::optional<SuppliedFile> Session::ask_for_file(const wire::Encoder& question) {
  channel_.send(question);
  IndexerKind kind{};
  FileDescriptor descriptor;
  auto answer = channel_.receive(kind, descriptor);
  return take_file(kind, answer, std::move(descriptor));
}

std::optional<SuppliedFile> Session::package() {
  wire::Encoder question;
  question.put(IndexerKind::want_package);
  return ask_for_file(question);
}

std::optional<SuppliedFile> Session::split(std::string_view directory, std::string_view name,
                                           std::uint32_t index) {
  wire::Encoder question;
  question.put(IndexerKind::want_split).put(index).text(directory).text(name);
  return ask_for_file(question);
}

std::vector<TypePlace> Session::candidates(NameKind kind, std::string_view name) {
  wire::Encoder question;
  question.put(IndexerKind::want_candidates).put(kind).text(name);
  channel_.send(question);
  IndexerKind answer_kind{};
  FileDescriptor descriptor;
  auto answer = channel_.receive(answer_kind, descriptor);
  std::vector<TypePlace> places;
  while (answer.ok() && !answer.complete())
    places.push_back(answer.get<TypePlace>());
  if (answer_kind != IndexerKind::candidates || !answer.ok())
    leave();
  return places;
}

} // namespace mqbridge::indexer
