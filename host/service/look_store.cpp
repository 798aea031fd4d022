#include "host/service/look_store.h"

#include "host/disk/output_file.h"
#include "host/disk/text_file.h"
#include "host/service/document_lines.h"
#include "host/service/look_summary.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace mqbridge {
namespace {

using nlohmann::json;

constexpr std::string_view document_ending = ".ndjson.gz";
constexpr std::string_view summary_ending = ".json";
constexpr std::size_t longest_summary = std::size_t{64} << 10;

Failure not_stored(const std::filesystem::path& path, int error) {
  return fail("files.store", fmt::format("{}: {}", path.string(), std::strerror(error)),
              "df " + pasteable(path.parent_path().string()));
}

constexpr std::string_view job_file = "job.json";

/// A regular file of this user, and no link to one. -1: there is none.
FileDescriptor open_own(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  const bool is_own = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                      status.st_uid == ::geteuid();
  return is_own ? std::move(file) : FileDescriptor();
}

/// null: there is no such file, or no such object in it.
json read_json(const std::filesystem::path& path) {
  const FileDescriptor file = open_own(path);
  const auto text =
      file ? read_text_file(fmt::format("/proc/self/fd/{}", file.get()), longest_summary)
           : Result<std::string>(fail("file.read", ""));
  json value = text ? json::parse(*text, nullptr, false) : json();
  return value.is_object() ? value : json();
}

/// False: the file is damaged, or `use` did not want more.
bool unpack(FileDescriptor file, const std::function<bool(std::string_view)>& use) {
  const gzFile compressed = ::gzdopen(file.get(), "rb");
  if (compressed == nullptr)
    return false;
  file.release(); // gzclose() closes it
  std::array<char, 65'536> buffer;
  int count = 0;
  bool goes_on = true;
  while (goes_on && (count = ::gzread(compressed, buffer.data(), buffer.size())) > 0)
    goes_on = use({buffer.data(), static_cast<std::size_t>(count)});
  const int closed = ::gzclose_r(compressed);
  return goes_on && count == 0 && closed == Z_OK;
}

} // namespace

bool is_look_id(std::string_view id) {
  return is_job_name(id);
}

struct LookWriter::Compressor {
  gzFile file = nullptr;
  ~Compressor() {
    if (file != nullptr)
      ::gzclose(file);
  }
};

LookWriter::LookWriter(std::filesystem::path document, std::filesystem::path summary)
    : document_(std::move(document)), summary_(std::move(summary)),
      compressor_(std::make_unique<Compressor>()) {
  const int descriptor = create_beside(document_, temporary_, S_IRUSR | S_IWUSR);
  compressor_->file = descriptor < 0 ? nullptr : ::gzdopen(descriptor, "wb6");
  if (compressor_->file == nullptr)
    error_ = descriptor < 0 ? errno : ENOMEM;
}

LookWriter::~LookWriter() {
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

void LookWriter::append(std::string_view text) {
  // Of more than its buffer, zlib keeps the caller's pointer when the disk is full, and reads from
  // it once more when the file is closed.
  constexpr std::size_t most = 4096;
  while (error_ == 0 && !text.empty()) {
    const auto piece = text.substr(0, most);
    text.remove_prefix(piece.size());
    if (::gzwrite(compressor_->file, piece.data(), static_cast<unsigned>(piece.size())) <= 0)
      error_ = errno != 0 ? errno : EIO;
  }
}

Result<void> LookWriter::finish(const json& summary) {
  if (error_ != 0)
    return not_stored(document_, error_);
  if (::gzclose(std::exchange(compressor_->file, nullptr)) != Z_OK)
    return not_stored(document_, errno);
  const FileDescriptor written(::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC));
  if (::fsync(written.get()) != 0 || ::rename(temporary_.c_str(), document_.c_str()) != 0)
    return not_stored(document_, errno);
  temporary_.clear();
  return write_file(summary_, printed(summary));
}

Result<LookStore> LookStore::open(std::filesystem::path directory) {
  std::error_code ignored; // the next call says why
  std::filesystem::create_directories(directory.parent_path(), ignored);
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return not_stored(directory, errno);
  FileDescriptor opened(::open(directory.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0)
    return not_stored(directory, errno);
  constexpr auto of_others = S_IWGRP | S_IWOTH;
  if (status.st_uid != ::geteuid() || (status.st_mode & of_others) != 0)
    return fail("files.store",
                fmt::format("{} is not a directory that you alone may change", directory.string()),
                "chmod go-w " + pasteable(directory.string()));
  ::fchmod(opened.get(), S_IRWXU);
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail("service.runs",
                fmt::format("another service keeps its looks in {}", directory.string()),
                "end it, or take another directory: --state DIR");
  LookStore store(std::move(directory), std::move(opened));
  store.remove_leftovers();
  return store;
}

/// Of a service that was killed while it wrote.
void LookStore::remove_leftovers() const {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(directory_, error), end;
       !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_left = name.ends_with(".tmp");
    if (is_left && at->is_regular_file(error))
      ::unlink(at->path().c_str());
  }
}

std::filesystem::path LookStore::path(const std::string& job, const std::string& id,
                                      std::string_view ending) const {
  return directory_ / job / (id + std::string(ending));
}

std::vector<json> LookStore::looks_of(const std::string& job) const {
  std::set<std::string> documents;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_ / job, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(document_ending))
      documents.insert(name.substr(0, name.size() - document_ending.size()));
  }
  std::vector<json> looks; // their names begin with the time
  for (const std::string& id : documents) {
    if (!is_look_id(id))
      continue;
    json summary = read_json(path(job, id, summary_ending));
    if (!is_summary(summary)) {
      restore_summary(job, id);
      summary = read_json(path(job, id, summary_ending));
    }
    if (is_summary(summary))
      looks.push_back(std::move(summary));
  }
  return looks;
}

/// The service was killed before it could write it.
void LookStore::restore_summary(const std::string& job, const std::string& id) const {
  auto file = document(job, id);
  DocumentLines lines;
  const auto add = [&](std::string_view text) {
    lines.add(text);
    return true;
  };
  if (!file || !unpack(std::move(*file), add))
    return;
  const json header = json::parse(lines.first(), nullptr, false);
  LookFacts facts{.id = id, .job = job, .taken_at = {}};
  if (header.is_object() && header.contains("taken_at") && header["taken_at"].is_string())
    facts.taken_at = header["taken_at"];
  if (!facts.taken_at.empty())
    static_cast<void>(write_file(path(job, id, summary_ending), printed(summary_of(facts, lines))));
}

Result<std::unique_ptr<LookWriter>> LookStore::begin(const std::string& job,
                                                     const std::string& id) const {
  const auto document = path(job, id, document_ending);
  if (::mkdir(document.parent_path().c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return not_stored(document, errno);
  std::unique_ptr<LookWriter> writer(new LookWriter(document, path(job, id, summary_ending)));
  if (writer->error_ != 0)
    return not_stored(document, writer->error_);
  return writer;
}

Result<FileDescriptor> LookStore::document(const std::string& job, const std::string& id) const {
  FileDescriptor file;
  if (is_job_name(job) && is_look_id(id))
    file = open_own(path(job, id, document_ending));
  if (!file)
    return fail("service.no_look", fmt::format("there is no look {} of job {}", id, job),
                "mqbridge jobs");
  return file;
}

std::vector<ServiceJob> LookStore::named_jobs() const {
  std::vector<ServiceJob> jobs;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    ServiceJob job{.name = at->path().filename().string(), .words = {}};
    const json about = read_json(at->path() / job_file);
    for (const char* const how : {"mpirun", "slurm"})
      if (about.is_object() && about.contains(how) && about[how].is_string())
        job.words = words_of_job(how, about[how]).value_or(std::vector<std::string>());
    if (is_job_name(job.name) && !job.words.empty())
      jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<void> LookStore::keep_job(const ServiceJob& job) const {
  const std::string_view word = job.words.front(); // "--mpirun=4711"
  const auto equals = word.find('=');
  const json about = {{std::string(word.substr(2, equals - 2)), word.substr(equals + 1)}};
  const auto path = directory_ / job.name / job_file;
  auto written = write_file(path, about.dump());
  return written ? Result<void>()
                 : fail("files.store", written.error().message, written.error().hint);
}

void LookStore::forget_job(const std::string& name) const {
  std::error_code ignored;
  if (is_job_name(name))
    std::filesystem::remove_all(directory_ / name, ignored);
}

void LookStore::make_room(const std::string& job, std::vector<json>& looks,
                          const HistoryLimits& limits) const {
  const std::string oldest = time_text(std::chrono::system_clock::now() - limits.age);
  std::uint64_t bytes = 0;
  std::size_t kept = 0;
  for (auto look = looks.rbegin(); look != looks.rend(); ++look, ++kept) {
    struct stat status {};
    if (::lstat(path(job, look->at("id"), document_ending).c_str(), &status) == 0)
      bytes += static_cast<std::uint64_t>(status.st_size);
    const bool is_too_much = kept >= limits.looks || bytes > limits.bytes ||
                             look->at("taken_at").get_ref<const std::string&>() < oldest;
    if (is_too_much && kept > 0) // the last one stays
      break;
  }
  const auto gone = looks.begin() + static_cast<std::ptrdiff_t>(looks.size() - kept);
  for (auto look = looks.begin(); look != gone; ++look)
    for (const auto ending : {summary_ending, document_ending})
      ::unlink(path(job, look->at("id"), ending).c_str());
  looks.erase(looks.begin(), gone);
}

Result<std::string> unpacked_document(FileDescriptor file, std::uint64_t most_bytes) {
  std::string text;
  const bool is_whole = unpack(std::move(file), [&](std::string_view piece) {
    text += piece;
    return text.size() <= most_bytes;
  });
  if (!is_whole || text.empty())
    return fail("service.no_look", "the look's document is damaged, or too long to be unpacked");
  return text;
}

} // namespace mqbridge
