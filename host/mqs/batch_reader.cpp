#include "host/mqs/batch_reader.h"

#include "rsp/packet/printable.h"

#include <new>

namespace mqbridge {

bool BatchReader::accept(std::span<const std::byte> batch) {
  wire::Decoder in(batch);
  if (improper_ || in.get<wire::Kind>() != wire::Kind::batch)
    return false;
  if (in.get<std::uint64_t>() != next_sequence_ || !in.ok())
    return false;
  ++next_sequence_;
  bool proper = false;
  try {
    proper = accept_items(in);
  } catch (const std::bad_alloc&) { // there is less memory than was thought
    limit_ = WalkLimit::run_bytes;
    proper = true;
  }
  improper_ = !proper;
  if (proper && request_.progress)
    request_.progress(found());
  return proper;
}

bool BatchReader::accept_items(wire::Decoder& in) {
  while (limit_ == WalkLimit::none && !in.rest().empty()) {
    const auto item = in.take(in.get<std::uint32_t>());
    if (!in.ok() || !accept_any(item))
      return false;
  }
  return true;
}

void BatchReader::accept_remainder(std::span<const std::byte> batch) {
  // A worker killed between sending a batch and starting the next one leaves a number that was
  // already taken: accept() refuses it.
  static_cast<void>(accept(batch));
}

bool BatchReader::accept_any(std::span<const std::byte> item) {
  wire::Decoder in(item);
  const auto kind = in.get<wire::Item>();
  switch (kind) {
  case wire::Item::dll:
    return dll(in);
  case wire::Item::note:
    return note(in);
  default:
    return accept_item(kind, in);
  }
}

bool BatchReader::dll(wire::Decoder& item) {
  outcome_.dll_version = printable(item.text());
  outcome_.dll_compatibility = item.get<std::int32_t>();
  return item.complete();
}

bool BatchReader::note(wire::Decoder& item) {
  const std::string text = item.text();
  if (!item.complete())
    return false;
  log_.add(text);
  return true;
}

bool BatchReader::take_bytes(std::size_t bytes) {
  using Verdict = RankBudget::Verdict;
  const auto verdict = request_.budget != nullptr ? request_.budget->take(bytes) : Verdict::granted;
  if (verdict != Verdict::granted)
    limit_ = verdict == Verdict::rank_full ? WalkLimit::rank_bytes : WalkLimit::run_bytes;
  return verdict == Verdict::granted;
}

} // namespace mqbridge
