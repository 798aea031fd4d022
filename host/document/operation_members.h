#pragma once

#include "host/document/forms.h"
#include "host/mqs/queues.h"

#include <limits>

namespace mqbridge {

void describe(auto& form, CallSite& site) {
  form.member("site", site.address);
  form.member("function", site.function);
  form.member("file", site.file);
  form.member("line", site.line);
}

template <>
inline constexpr bool may_be_none<Waited> = true;

void describe(auto& form, Waited& waited) {
  auto mode = waited.mode;
  CompactOptional<std::uint32_t, Waited::unknown_count> count = std::uint32_t{waited.count};
  bool unseen = waited.unseen;
  form.member("mode", mode, WaitMode::unknown);
  form.member("group", waited.group, Within{1, std::numeric_limits<std::uint32_t>::max()});
  form.member("count", count, Within{0, Waited::unknown_count - 1});
  form.member("unseen", unseen, true_or_null);
  form.put([&] {
    waited.mode = mode;
    waited.count = *count & Waited::unknown_count;
    waited.unseen = unseen;
  });
}

void describe(auto& form, Peer& peer) {
  form.member("any", peer.any);
  form.member("local_rank", peer.local_rank);
  form.member("global_rank", peer.global_rank);
}

void describe(auto& form, Tag& tag) {
  form.member("any", tag.any);
  form.member("value", tag.value);
}

void describe(auto& form, Length& length) {
  form.member("value", length.value);
  form.member("unit", length.unit, LengthUnit::unknown);
}

void describe(auto& form, ActualMessage& actual) {
  form.member("local_rank", actual.local_rank);
  form.member("global_rank", actual.global_rank);
  form.member("tag", actual.tag);
  form.member("length", actual.length);
}

void describe(auto& form, Operation& operation) {
  bool system_buffer = operation.system_buffer;
  auto kind = operation.kind;
  auto delivery = operation.delivery;
  auto source = operation.source;
  auto protocol = operation.protocol;
  form.member("status", operation.status, OpStatus::unknown);
  form.object("peer", operation.peer);
  form.object("tag", operation.tag);
  form.object("length", operation.length);
  form.member("buffer", operation.buffer);
  form.member("system_buffer", system_buffer);
  form.object("actual", operation.actual);
  form.member("text", operation.text);
  form.member("repairs", operation.repairs);
  form.afterwards([&] { form.member("raw", operation, raw_values); });
  form.member("call", operation.call);
  form.member("datatype", operation.datatype);
  form.member("count", operation.count);
  form.null("unchanged_ms");
  form.member("request", operation.request);
  form.member("kind", kind, OpKind::unknown);
  // A collective that this version does not know is not the program's own either.
  form.member("collective", operation.collective, Collective::internal);
  form.member("source", source, OpSource::dll);
  form.object("waited", operation.waited);
  form.member("delivered", delivery);
  form.member("sequence", operation.sequence,
              Within{0, std::numeric_limits<std::uint32_t>::max() - 1});
  form.member("protocol", protocol, Protocol::unknown);
  form.members(operation.site);
  form.put([&] {
    operation.system_buffer = system_buffer;
    operation.kind = kind;
    operation.delivery = delivery;
    operation.source = source;
    operation.protocol = protocol;
  });
}

} // namespace mqbridge
