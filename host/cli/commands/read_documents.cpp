#include "host/cli/commands/read_documents.h"

#include "host/document/document_reader.h"
#include "host/mqs/walk_budget.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <streambuf>
#include <utility>

namespace mqbridge {
namespace {

/// The most bytes of NDJSON's first line, which holds no ranks.
constexpr std::size_t longest_header = std::size_t{1} << 20;

/// A stream whose first bytes were read already, as a whole again.
class Rejoined : public std::streambuf {
public:
  Rejoined(std::string head, std::streambuf* rest) : head_(std::move(head)), rest_(rest) {
    setg(head_.data(), head_.data(), head_.data() + head_.size());
  }

protected:
  int_type underflow() override {
    const auto count = rest_->sgetn(piece_.data(), static_cast<std::streamsize>(piece_.size()));
    if (count <= 0)
      return traits_type::eof();
    setg(piece_.data(), piece_.data(), piece_.data() + count);
    return traits_type::to_int_type(piece_.front());
  }

private:
  std::string head_;
  std::streambuf* rest_;
  std::string piece_ = std::string(std::size_t{64} << 10, '\0');
};

/// A line with its end, or its first `most` bytes. Empty: the end.
std::string take_line(std::streambuf& from, std::uint64_t most) {
  std::string line;
  while (line.size() < most && !line.ends_with('\n')) {
    const auto byte = from.sbumpc();
    if (byte == std::streambuf::traits_type::eof())
      break;
    line += std::streambuf::traits_type::to_char_type(byte);
  }
  return line;
}

Error in(const std::string& name, Error error) {
  error.message = name + ": " + error.message;
  return error;
}

/// Documents as NDJSON, line by line.
class LinesOf {
public:
  LinesOf(const std::string& name, DocumentReader& reader) : name_(name), reader_(reader) {}

  Result<void> take(std::string_view text) {
    ++line_;
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
      return {};
    auto line = reader_.line(text);
    if (!line)
      return Failure(in(fmt::format("{}: line {}", name_, line_), line.error()));
    if (!std::holds_alternative<HeaderLine>(*line) && documents_.empty())
      return Failure(
          {"document.schema",
           fmt::format("{}: line {}: a dump as NDJSON begins with its header", name_, line_),
           "give the whole file, as mqbridge dump --format ndjson wrote it"});
    std::visit([this](auto& known) { add(known); }, *line);
    return {};
  }

  std::vector<NamedDump> done() {
    if (!documents_.empty())
      end();
    return std::move(documents_);
  }

private:
  Dump& dump() { return documents_.back().dump; }

  void add(HeaderLine& header) {
    if (!documents_.empty())
      end();
    documents_.push_back({name_, std::move(header.dump)});
    is_whole_ = false;
  }
  void add(RankDump& rank) { dump().ranks.push_back(std::move(rank)); }
  void add(EarlierLine& line) {
    auto& looks = dump().earlier;
    auto look = std::ranges::find(looks, line.taken_at, &EarlierLook::taken_at);
    if (look == looks.end())
      look = looks.insert(looks.end(), {std::move(line.taken_at), {}});
    look->ranks.push_back(std::move(line.rank));
  }
  void add(SummaryLine& summary) {
    dump().job_size = summary.dump.job_size;
    dump().job_source = std::move(summary.dump.job_source);
    dump().skew_ms = summary.dump.skew_ms;
    dump().stalled_ms = summary.dump.stalled_ms;
    dump().errors = std::move(summary.dump.errors);
    is_whole_ = summary.ranks == dump().ranks.size();
  }
  void add(OtherLine&) {}

  void end() {
    if (!is_whole_)
      dump().errors.push_back({"document.cut", RankError::Level::warning,
                               fmt::format("{}: it was cut off: ranks are missing", name_),
                               "take the dump again, and let it come to its end"});
  }

  const std::string& name_;
  DocumentReader& reader_;
  std::uint64_t line_ = 0;
  bool is_whole_ = false;
  std::vector<NamedDump> documents_;
};

Result<std::vector<NamedDump>> read_lines(std::string line, std::streambuf& rest,
                                          const std::string& name, DocumentReader& reader,
                                          std::uint64_t most_bytes) {
  LinesOf lines(name, reader);
  for (; !line.empty(); line = take_line(rest, most_bytes))
    if (auto taken = lines.take(line); !taken)
      return forward(std::move(taken));
  return lines.done();
}

/// Whether the text begins with a whole line of NDJSON.
bool is_line(std::string_view text, std::uint64_t most_bytes) {
  return text.ends_with('\n') && DocumentReader(most_bytes).line(text).has_value();
}

Result<std::vector<NamedDump>> read(std::istream& text, const std::string& name,
                                    DocumentReader& reader, std::uint64_t most_bytes) {
  auto head = take_line(*text.rdbuf(), longest_header);
  if (is_line(head, most_bytes))
    return read_lines(std::move(head), *text.rdbuf(), name, reader, most_bytes);
  Rejoined all(std::move(head), text.rdbuf());
  std::istream whole(&all);
  auto document = reader.document(whole);
  if (!document)
    return Failure(in(name, document.error()));
  std::vector<NamedDump> documents;
  documents.push_back({name, std::move(document->dump)});
  return documents;
}

Failure cannot_open(const std::string& name, int error) {
  return fail("document.open", fmt::format("{}: {}", name, std::strerror(error)),
              "name a file that mqbridge dump --format json has written, or - for stdin");
}

} // namespace

Result<std::vector<NamedDump>> read_documents(std::istream& text, const std::string& name,
                                              std::uint64_t most_bytes) {
  DocumentReader reader(most_bytes);
  return read(text, name, reader, most_bytes);
}

Result<std::vector<NamedDump>> read_documents(const std::vector<std::string>& files,
                                              std::uint64_t most_bytes) {
  std::vector<NamedDump> documents;
  DocumentReader reader(most_bytes); // of all of them: equal texts and groups are one
  for (const std::string& file : files) {
    errno = 0;
    std::ifstream opened;
    if (file != "-") {
      opened.open(file, std::ios::binary);
      if (!opened || opened.peek() == std::ifstream::traits_type::eof())
        if (errno != 0) // a directory can be opened
          return cannot_open(file, errno);
    }
    auto some = read(file == "-" ? std::cin : opened, file == "-" ? "standard input" : file, reader,
                     most_bytes);
    if (!some)
      return forward(std::move(some));
    std::ranges::move(*some, std::back_inserter(documents));
  }
  return documents;
}

Result<Dump> read_job(const std::vector<std::string>& files) {
  auto documents = read_documents(files, memory_left() / 2);
  if (!documents)
    return forward(std::move(documents));
  return join_documents(std::move(*documents));
}

} // namespace mqbridge
