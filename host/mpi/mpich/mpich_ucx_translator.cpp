#include "host/mpi/mpich/mpich_ucx_translator.h"

#include "host/mpi/mpich/collective_tags.h"
#include "host/mqs/interpret.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <unordered_set>
#include <utility>

namespace mqbridge::mpich {
namespace {

/// MPIR_Request (include/mpir_request.h), the same in 4.0 to 4.3. What lies behind differs.
namespace request {
constexpr Field kind = {8, 4};
constexpr Field completion = {16, word}; ///< leads to a counter: of the started request
constexpr Field counter = {24, 4};
constexpr std::uint64_t rest = 32;
enum Kind : std::uint64_t {
  send = 1,
  receive,
  persistent_send,
  persistent_receive,
  persistent_collective,
};
} // namespace request

/// MPIDI_self_request_t (src/mpid/ch4/include/mpidpre.h), before its datatype and behind it.
namespace own {
constexpr std::uint64_t buffer_before = 16;
constexpr std::uint64_t count_before = 8;
constexpr std::uint64_t tag_behind = 4;
constexpr std::uint64_t context_behind = 8;
} // namespace own

/// MPIDI_av_table_t: a header, the number of entries, and the entries, each with its endpoints at
/// its beginning. How large they are depends on the version, and on the number of workers that the
/// build allows (1 or 64, squared).
namespace table {
struct Form {
  Field size;
  std::uint64_t entries, stride;
};
constexpr std::uint64_t many = 64 * 64 * 8;
constexpr std::array<Form, 9> forms = {
    Form{{8, 4}, 16, 8},       Form{{8, 4}, 16, 16},       Form{{8, 4}, 16, many + 8},
    Form{{4, 4}, 8, 8},        Form{{4, 4}, 8, 16},        Form{{4, 4}, 8, 24},
    Form{{4, 4}, 8, many + 8}, Form{{4, 4}, 8, many + 16}, Form{{8, 4}, 16, many}};
constexpr std::uint64_t head_bytes = 16;
constexpr std::uint64_t tried_first = 16; ///< entries
} // namespace table

/// A tag of UCX (src/mpid/ch4/netmod/ucx/ucx_types.h): 16 bits of the context id, 16 of the
/// sender's rank, 32 of the program's tag, of which the highest ones tell of failures.
struct UcxTag {
  std::uint64_t context = 0;
  std::int64_t source = 0;
  std::int64_t tag = 0;
};

constexpr std::uint64_t context_mask = 0xffff'0000'0000'0000;
constexpr std::uint64_t source_mask = 0x0000'ffff'0000'0000;
/// MPIR_TAG_USABLE_BITS; the next one is of nonblocking collectives.
constexpr std::uint64_t tag_mask = 0x0fff'ffff;

UcxTag decode(std::uint64_t tag) {
  return {tag >> 48, static_cast<std::int64_t>((tag & source_mask) >> 32),
          static_cast<std::int64_t>(tag & tag_mask)};
}

/// Whether these bits of a mask are all set, or none is.
bool is_whole(std::uint64_t mask, std::uint64_t bits) {
  return (mask & bits) == bits || (mask & bits) == 0;
}

bool is_datatype(std::uint64_t handle) {
  constexpr int kind_shift = 26;
  constexpr int form_shift = 30; // 0: no handle
  return handle >> form_shift != 0 &&
         ((handle >> kind_shift) & 15) == static_cast<std::uint64_t>(ObjectKind::datatype);
}

Collective collective_in(const UcxTag& tag) {
  return (tag.context & context::collective) != 0 ? collective_of(tag.tag) : Collective::none;
}

} // namespace

UcxTranslator::UcxTranslator(const OwnData& data, std::uint64_t worker,
                             const std::vector<FoundCommunicator>& found,
                             const std::vector<Communicator>& shown, const AddressSpace& space)
    : data_(data), worker_(worker), shown_(shown), space_(space) {
  std::map<std::uint64_t, std::size_t> by_address;
  for (std::size_t i = 0; i < shown.size(); ++i)
    by_address.emplace(shown[i].id.value, i);
  for (const bool parts : {false, true})
    for (const FoundCommunicator& each : found) {
      if (each.is_part != parts)
        continue;
      std::optional<std::size_t> at;
      if (const auto own = by_address.find(each.communicator.id.value); own != by_address.end())
        at = own->second;
      else if (const auto whole = of_receives_.find(each.receive_context &
                                                    ~std::uint64_t{context::node | context::roots});
               parts && whole != of_receives_.end())
        at = whole->second.shown;
      if (!at)
        continue;
      of_receives_.emplace(each.receive_context, Place{&each, *at});
      of_sends_.emplace(each.context, Place{&each, *at});
      if (!parts && each.is_of_one())
        of_one_.emplace(each.communicator.id.value, *at);
    }
}

Result<void> UcxTranslator::take(ucx::Requests& requests) {
  return take(requests, false);
}

Result<void> UcxTranslator::take_own_alone() {
  ucx::Requests none;
  return take(none, true);
}

Result<void> UcxTranslator::take(ucx::Requests& requests, bool own_alone) {
  auto objects = Objects::read(data_.requests, ObjectKind::request, space_);
  if (!objects)
    return forward(std::move(objects));
  std::unordered_map<std::uint64_t, std::uint64_t> buffers; // by UCX's part
  for (const auto* all : {&requests.receives, &requests.sends})
    for (const ucx::Request& each : *all)
      buffers.emplace(each.mpi_part, each.buffer);
  std::unordered_set<std::uint64_t> named; // by requests that are no sends and receives
  for (std::size_t i = 0; i < objects->count(); ++i) {
    const ItemBytes each = objects->at(i);
    const auto kind = each.value(request::kind).value_or(0);
    const auto completion = each.value(request::completion).value_or(0);
    if (kind == request::persistent_send || kind == request::persistent_receive)
      starters_.emplace(completion - request::counter.offset, each.address().value);
    else if (kind > request::persistent_collective)
      for (std::uint64_t at = request::rest; at + word <= data_.requests.object_bytes; at += word)
        named.insert(each.value({at, word}).value_or(0));
  }
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < objects->count(); ++i) {
    const ItemBytes each = objects->at(i);
    const std::uint64_t address = each.address().value;
    const auto kind = each.value(request::kind).value_or(0);
    const bool is_pending = each.value(request::completion) == address + request::counter.offset &&
                            each.value(request::counter).value_or(0) != 0;
    if ((kind != request::send && kind != request::receive) || !is_pending)
      continue; // a complete one may still name a part that is another one's by now
    std::unordered_set<std::uint64_t> words;
    std::optional<std::uint64_t> part;
    for (std::uint64_t at = request::rest; at + word <= data_.requests.object_bytes; at += word) {
      const auto value = each.value({at, word}).value_or(0);
      words.insert(value);
      if (!part && value != 0 && buffers.contains(value))
        part = value;
    }
    // Where MPICH unpacks the data itself, it knows the buffer that it gave to UCX.
    if (part && words.contains(buffers.at(*part)))
      packed_.insert(*part);
    const bool is_known =
        part ? owners_.emplace(*part, address).second : take_own(each, kind == request::send);
    if (!is_known)
      ++unknown;
  }
  for (OwnOperation& each : own_)
    each.taken = named.contains(each.request);
  if (!objects->are_all())
    damage_ = "the pool of MPICH's requests was just being changed, or is damaged";
  else if (unknown > 0 && !own_alone)
    damage_ = fmt::format("{} pending request{} of MPICH, which {} not among those of UCX", unknown,
                          unknown == 1 ? "" : "s", unknown == 1 ? "is" : "are");
  // A request of UCX may serve other purposes than a send of MPICH. But between its beginning and
  // the next moment MPICH has no request of it.
  std::erase_if(requests.sends, [&](const ucx::Request& each) {
    const bool is_owned = owners_.contains(each.mpi_part);
    if (!is_owned && !damage_ && may_be_send(each))
      damage_ = "UCX has just begun a send";
    return !is_owned;
  });
  if (!requests.damage)
    requests.damage = damage_;
  return {};
}

bool UcxTranslator::may_be_send(const ucx::Request& request) const {
  const Place* place = request.has_no_tag || request.state == ucx::Request::State::complete
                           ? nullptr
                           : place_in(of_sends_, request.tag);
  return place != nullptr && decode(request.tag).source == place->named->communicator.local_rank;
}

/// Such a request knows its communicator, and has buffer, count, datatype, tag and context in a
/// row.
bool UcxTranslator::take_own(const ItemBytes& object, bool is_send) {
  const auto value = [&](std::uint64_t at, std::size_t size) {
    return object.value({at, size}).value_or(0);
  };
  std::optional<std::size_t> place;
  for (std::uint64_t at = request::rest; at + word <= data_.requests.object_bytes; at += word)
    if (const auto known = of_one_.find(value(at, word)); known != of_one_.end())
      place = known->second;
  if (!place)
    return false;
  const auto context = *shown_[*place].context & 0xffff;
  for (std::uint64_t at = request::rest + own::buffer_before;
       at + own::context_behind + 4 <= data_.requests.object_bytes; at += word) {
    const auto datatype = value(at, 4);
    const auto count = static_cast<std::int64_t>(value(at - own::count_before, word));
    if (!is_datatype(datatype) || value(at + own::context_behind, 4) != context || count < 0)
      continue;
    Operation operation;
    operation.source = OpSource::mqbridge;
    operation.kind = is_send ? OpKind::send : OpKind::receive;
    operation.peer.local_rank = 0;
    const auto tag = static_cast<std::int32_t>(value(at + own::tag_behind, 4));
    operation.tag.any = tag < 0;
    if (tag >= 0)
      operation.tag.value = tag;
    operation.buffer = TargetAddress{value(at - own::buffer_before, word)};
    operation.count = count;
    operation.length = {count, LengthUnit::elements};
    constexpr std::uint64_t basic = 0x13; // such a handle holds its size
    if (std::int64_t bytes = 0;
        datatype >> 26 == basic && !__builtin_mul_overflow(count, (datatype >> 8) & 0xff, &bytes))
      operation.length = {bytes, LengthUnit::bytes};
    const auto starter = starters_.find(object.address().value);
    operation.request =
        TargetAddress{starter == starters_.end() ? object.address().value : starter->second};
    own_.push_back({*place, object.address().value, std::move(operation)});
    return true;
  }
  return false;
}

Result<void> UcxTranslator::find_peers(const std::vector<ucx::Request>& sends) {
  if (sends.empty())
    return {};
  if (auto done = read_processes(); !done)
    return done;
  return find_buffered(sends);
}

/// Each process has an endpoint of its own, and an endpoint knows its worker. The form in which
/// most are found, and nothing else, is the right one.
Result<void> UcxTranslator::read_processes() {
  const auto world =
      std::ranges::find(shown_, std::optional<std::uint64_t>(0), &Communicator::context);
  if (data_.processes == 0 || world == shown_.end())
    return {};
  auto head = Objects::read({data_.processes}, table::head_bytes, space_);
  if (!head)
    return forward(std::move(head));
  std::vector<table::Form> possible;
  for (const table::Form& form : table::forms)
    if (std::cmp_equal(head->at(0).value(form.size).value_or(0), world->size))
      possible.push_back(form);
  const Field first = {0, word};
  std::vector<std::map<std::uint64_t, std::int64_t>> fitting;
  for (const std::uint64_t most : {table::tried_first, static_cast<std::uint64_t>(world->size)}) {
    const auto count = std::min<std::uint64_t>(most, static_cast<std::uint64_t>(world->size));
    fitting.clear();
    std::vector<table::Form> left;
    for (const table::Form& form : possible) {
      Words entries;
      const auto place = [&](std::uint64_t i) {
        return Field{form.entries + i * form.stride, word};
      };
      for (std::uint64_t i = 0; i < count; ++i)
        entries.want(data_.processes, place(i));
      if (auto done = entries.read(space_); !done)
        return done;
      Words workers;
      std::map<std::uint64_t, std::int64_t> ranks;
      bool fits = true;
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto endpoint = entries.get(data_.processes, place(i));
        workers.want(endpoint, first);
        fits = fits && endpoint &&
               (*endpoint == 0 || ranks.emplace(*endpoint, static_cast<std::int64_t>(i)).second);
      }
      if (auto done = workers.read(space_); !done)
        return done;
      for (const auto& [endpoint, rank] : ranks)
        fits = fits && workers.get(endpoint, first) == worker_;
      if (!fits || ranks.empty())
        continue;
      left.push_back(form);
      fitting.push_back(std::move(ranks));
    }
    possible = std::move(left);
  }
  // Another form may meet one endpoint, and then nothing.
  std::ranges::sort(fitting, std::greater(), &std::map<std::uint64_t, std::int64_t>::size);
  if (fitting.size() == 1 || (fitting.size() > 1 && fitting[0].size() > fitting[1].size()))
    processes_ = std::move(fitting.front());
  return {};
}

/// In front of what MPI_Bsend copies (MPII_Bsend_data_t) stand the request and the address of the
/// copy. Each look costs a page: the first sends are looked at, and more as long as there are such
/// ones among them.
Result<void> UcxTranslator::find_buffered(const std::vector<ucx::Request>& sends) {
  constexpr std::uint64_t before = 96;
  constexpr std::size_t at_once = 256;
  bool found = true;
  for (std::size_t from = 0; from < sends.size() && found; from += at_once) {
    found = false;
    std::vector<std::uint64_t> places;
    std::vector<const ucx::Request*> looked_at;
    for (std::size_t i = from; i < std::min(sends.size(), from + at_once); ++i)
      if (sends[i].buffer > before && sends[i].buffer % word == 0) {
        places.push_back(sends[i].buffer - before);
        looked_at.push_back(&sends[i]);
      }
    auto fronts = Objects::read(std::move(places), before, space_);
    if (!fronts)
      return forward(std::move(fronts));
    for (std::size_t i = 0; i < fronts->count(); ++i) {
      const ucx::Request& send = *looked_at[i];
      const auto owner = owners_.find(send.mpi_part);
      std::set<std::uint64_t> words;
      for (std::uint64_t at = 0; at < before; at += word)
        words.insert(fronts->at(i).value({at, word}).value_or(0));
      if (owner == owners_.end() || !words.contains(owner->second) || !words.contains(send.buffer))
        continue;
      buffered_.insert(send.mpi_part);
      found = true;
    }
  }
  return {};
}

const UcxTranslator::Place* UcxTranslator::place_in(const std::map<std::uint64_t, Place>& places,
                                                    std::uint64_t tag) {
  const auto place = places.find(decode(tag).context & ~std::uint64_t{context::collective});
  return place == places.end() ? nullptr : &place->second;
}

std::optional<std::size_t> UcxTranslator::place_of(std::uint64_t tag) const {
  const Place* place = place_in(of_receives_, tag);
  return place != nullptr ? std::optional(place->shown) : std::nullopt;
}

Stray UcxTranslator::stray_of(std::uint64_t tag) const {
  const UcxTag decoded = decode(tag);
  return {decoded.context, decoded.source, decoded.tag};
}

TargetAddress UcxTranslator::owner_of(const ucx::Request& request) const {
  const auto owner = owners_.find(request.mpi_part);
  if (owner == owners_.end())
    return {request.mpi_part};
  const auto starter = starters_.find(owner->second);
  return {starter == starters_.end() ? owner->second : starter->second};
}

/// The rank of this process of the job among those whose messages the communicator takes.
std::optional<std::int64_t> UcxTranslator::rank_of_process(std::size_t shown,
                                                           std::int64_t process) const {
  const auto [known, is_new] = ranks_.try_emplace(shown);
  if (is_new) {
    const Communicator& communicator = shown_[shown];
    const RankList& ranks = communicator.kind == CommunicatorKind::inter ? communicator.remote.ranks
                                                                         : communicator.group;
    for (std::size_t i = 0; ranks && i < ranks->size(); ++i)
      known->second.emplace((*ranks)[i], static_cast<std::int64_t>(i));
  }
  const auto found = known->second.find(process);
  return found == known->second.end() ? std::nullopt : std::optional(found->second);
}

/// The rank in the communicator that is shown. nullopt: there is none, or it is not known.
std::optional<std::int64_t> UcxTranslator::shown_rank(const Place& place, std::int64_t rank) const {
  const Communicator& named = place.named->communicator;
  if (!place.named->is_part)
    return ucx::may_be_source(named, rank) ? std::optional(rank) : std::nullopt;
  if (!named.group || rank < 0 || std::cmp_greater_equal(rank, named.group->size()))
    return std::nullopt;
  return rank_of_process(place.shown, (*named.group)[static_cast<std::size_t>(rank)]);
}

ucx::Placed UcxTranslator::receive(const ucx::Request& request) const {
  const UcxTag tag = decode(request.tag);
  const Place* place = place_in(of_receives_, request.tag);
  if ((request.mask & context_mask) != context_mask || !is_whole(request.mask, source_mask) ||
      !is_whole(request.mask, tag_mask))
    return ucx::damaged(request, "asks for no messages that MPICH sends");
  if (place == nullptr)
    return ucx::nowhere();
  const bool any_source = (request.mask & source_mask) == 0;
  const auto source = any_source ? std::nullopt : shown_rank(*place, tag.source);
  if (!any_source && !source)
    return ucx::damaged(
        request, fmt::format("is from rank {} of {}", tag.source, place->named->communicator.size));
  Operation operation = ucx::receive_of(request);
  if (packed_.contains(request.mpi_part))
    operation.buffer = {};
  operation.peer.any = any_source;
  operation.peer.local_rank = source;
  operation.tag.any = (request.mask & tag_mask) == 0;
  if (!operation.tag.any)
    operation.tag.value = tag.tag;
  operation.collective = collective_in(tag);
  if (request.state == ucx::Request::State::posted)
    return {place->shown, std::move(operation), {}};
  const UcxTag message = decode(request.message_tag);
  if (const auto from = shown_rank(*place, message.source); from && message.context == tag.context)
    operation.actual = {*from, world_rank_of_peer(shown_[place->shown], *from), message.tag,
                        static_cast<std::int64_t>(request.message_length)};
  return {place->shown, std::move(operation), {}};
}

ucx::Placed UcxTranslator::send(const ucx::Request& request) const {
  const UcxTag tag = decode(request.tag);
  const Place* place = request.has_no_tag ? nullptr : place_in(of_sends_, request.tag);
  const auto process = processes_.find(request.endpoint);
  if (place == nullptr || process == processes_.end() ||
      tag.source != place->named->communicator.local_rank)
    return ucx::nowhere();
  const auto peer = rank_of_process(place->shown, process->second);
  if (!peer)
    return ucx::nowhere();
  Operation operation = ucx::send_of(request, buffered_.contains(request.mpi_part));
  operation.peer.local_rank = *peer;
  operation.tag.value = tag.tag;
  operation.collective = collective_in(tag);
  return {place->shown, std::move(operation), {}};
}

ucx::Placed UcxTranslator::message(const ucx::Message& message, std::size_t place) const {
  const UcxTag tag = decode(message.tag);
  const Place* named = place_in(of_receives_, message.tag);
  const auto source = named != nullptr ? shown_rank(*named, tag.source) : std::nullopt;
  ucx::Placed placed{place};
  if (!source)
    placed.damage =
        fmt::format("a message of UCX is from rank {} of {}", tag.source,
                    named != nullptr ? named->named->communicator.size : shown_[place].size);
  Operation& operation = placed.operation;
  operation = ucx::message_of(message);
  operation.peer.local_rank = source;
  operation.tag.value = tag.tag;
  operation.collective = collective_in(tag);
  return placed;
}

} // namespace mqbridge::mpich
