#include "host/document/document_reader.h"

#include "host/document/read_parts.h"
#include "host/document/tree_builder.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <streambuf>
#include <utility>

namespace mqbridge {
namespace {

using nlohmann::json;

/// The bytes of a stream. It ends early if one piece of the document is too long: the parser keeps
/// a whole text in memory before it passes it to the builder.
class StreamBytes {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  StreamBytes() = default;
  StreamBytes(std::streambuf* from, const TreeBuilder& tree) : from_(from), tree_(&tree) {}

  char operator*() const { return std::char_traits<char>::to_char_type(from_->sgetc()); }
  StreamBytes& operator++() {
    if (std::exchange(events_, tree_->events()) != events_)
      piece_ = 0;
    ++piece_;
    from_->sbumpc();
    return *this;
  }
  bool operator==(const StreamBytes& other) const { return at_end() == other.at_end(); }

private:
  static constexpr std::size_t longest_piece = std::size_t{16} << 20;

  bool at_end() const {
    return from_ == nullptr || piece_ > longest_piece ||
           from_->sgetc() == std::char_traits<char>::eof();
  }

  std::streambuf* from_ = nullptr; ///< null: the end
  const TreeBuilder* tree_ = nullptr;
  std::uint64_t events_ = 0;
  std::size_t piece_ = 0; ///< bytes since the builder was told something
};

/// Which program wrote it, and in which version of the document.
std::string read_tool(const Fields& fields) {
  const auto schema = fields.text("schema");
  if (schema != "mqbridge.dump/1")
    fields.state().complain(
        {"document.schema",
         fmt::format("the document is of \"{}\", and this version reads mqbridge.dump/1",
                     printable(schema.substr(0, 64))),
         "read it with the mqbridge that wrote it"});
  const Fields tool(fields, "tool");
  if (tool.text("name") != "mqbridge")
    tool.complain("name", "mqbridge");
  return tool.text("version");
}

void read_job(const Fields& fields, Dump& dump) {
  const Fields job(fields, "job");
  dump.job_size = job.maybe_integer("size");
  dump.job_source = job.text("source");
  dump.skew_ms = job.maybe_number("skew_ms");
  dump.stalled_ms = job.maybe_number("stalled_ms");
}

std::vector<std::int64_t> integers(const Fields& fields, std::string_view key) {
  std::vector<std::int64_t> values;
  fields.each(key, [&](const json& element, const Place& place) {
    const auto value = integer_of(element);
    if (!value)
      fields.state().complain(place, "an integer");
    values.push_back(value.value_or(0));
  });
  return values;
}

void read_filter(const Fields& fields, Filter filter, std::vector<OpClass>& queues) {
  fields.each(filter.name, [&](const json& element, const Place& place) {
    const auto queue =
        element.is_string() ? value_named<OpClass>(element.get<std::string>()) : std::nullopt;
    if (queue)
      queues.push_back(*queue);
    else
      fields.state().complain(place, "a queue that this version knows");
  });
}

void read_filter(const Fields& fields, Filter filter, std::vector<std::string>& names) {
  constexpr std::size_t most_names = 4096;
  names = fields.texts(filter.name, most_names);
}

void read_filter(const Fields& fields, Filter filter, std::vector<std::int64_t>& numbers) {
  numbers =
      filter.of == FilterOf::ranks ? read_runs(fields, filter.name) : integers(fields, filter.name);
}

template <Worded E>
void read_filter(const Fields& fields, Filter filter, std::optional<E>& value) {
  value = fields.word<E>(filter.name);
}

Filters read_filters(const Fields& document) {
  const Fields fields(document, "filters");
  Filters filters;
  each_filter(
      [&](Filter filter, auto& values) {
        if (!fields.is_null(filter.name))
          read_filter(fields, filter, values);
      },
      filters);
  filters.no_queues = !fields.is_null("queue") && filters.queues.empty();
  return filters;
}

/// The members in front of the ranks.
std::string read_head(const Fields& fields, Dump& dump) {
  auto version = read_tool(fields);
  dump.taken_at = fields.maybe_text("taken_at").value_or("");
  read_job(fields, dump);
  dump.filters = read_filters(fields);
  return version;
}

/// Earlier versions had none.
std::vector<RankError> errors_of_no_rank(const Fields& fields) {
  return fields.is_null("errors") ? std::vector<RankError>() : read_errors(fields, "errors");
}

/// The members of each earlier look other than its ranks, which have been read.
void read_looks(const Fields& fields, std::vector<EarlierLook>& looks) {
  if (fields.is_null("earlier"))
    return;
  std::size_t index = 0;
  fields.each("earlier", [&](const json& element, const Place& place) {
    const Fields look(element, place, fields.state());
    look.each("ranks", [](const json&, const Place&) {});
    fields.state().spend(sizeof(EarlierLook));
    if (fields.state().failed())
      return;
    looks.resize(std::max(looks.size(), index + 1));
    looks[index++].taken_at = look.text("taken_at");
  });
}

DocumentLine read_line(const json& root, const TakeOperations& take, ReadState& state) {
  const Place whole;
  const Fields fields(root, whole, state);
  const auto type = fields.text("type");
  if (type == "rank")
    return read_rank(root, whole, take, state);
  if (type == "earlier")
    return EarlierLine{fields.text("taken_at"), read_earlier_rank(root, whole, take, state)};
  if (type == "header") {
    HeaderLine header;
    header.tool_version = read_head(fields, header.dump);
    return header;
  }
  if (type != "summary")
    return OtherLine{};
  SummaryLine summary;
  read_job(fields, summary.dump);
  summary.ranks = Fields(fields, "ranks").count("total");
  summary.dump.errors = errors_of_no_rank(fields);
  return summary;
}

} // namespace

Result<WrittenDump> DocumentReader::document(std::istream& text) {
  WrittenDump read;
  auto& looks = read.dump.earlier;
  TreeBuilder tree(state_, [&](RankDump&& rank, std::optional<std::size_t> look) {
    if (look)
      looks.resize(std::max(looks.size(), *look + 1));
    (look ? looks[*look].ranks : read.dump.ranks).push_back(std::move(rank));
  });
  if (json::sax_parse(StreamBytes(text.rdbuf(), tree), StreamBytes(), &tree)) {
    const Fields fields(tree.root(), Place{}, state_);
    read.tool_version = read_head(fields, read.dump);
    fields.each("ranks", [](const json&, const Place&) {}); // they have been read
    read.dump.errors = errors_of_no_rank(fields);
    read_looks(fields, looks);
  }
  if (state_.failed())
    return Failure(state_.take_error());
  return read;
}

Result<DocumentLine> DocumentReader::line(std::string_view text) {
  const auto bytes_left = state_.bytes_left();
  DocumentLine read;
  {
    TreeBuilder tree(state_, nullptr);
    if (json::sax_parse(text.begin(), text.end(), &tree))
      read = read_line(tree.root(), tree.take_operations(), state_);
  }
  if (!state_.failed())
    return read;
  state_.give_back(bytes_left - state_.bytes_left()); // nothing of it is kept
  return Failure(state_.take_error());
}

} // namespace mqbridge
