#pragma once

#include "host/disk/file_descriptor.h"
#include "host/service/service_config.h"
#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Whether it is written as the looks of this store are: digits, letters, '-', '.'.
bool is_look_id(std::string_view id);

/// A look's document on its way to the disk: NDJSON, compressed.
class LookWriter {
public:
  ~LookWriter(); ///< without finish() nothing stays
  LookWriter(const LookWriter&) = delete;
  LookWriter& operator=(const LookWriter&) = delete;

  /// After the first failure nothing more is written; finish() returns it.
  void append(std::string_view text);
  /// The look appears: complete, or not at all. Error: files.store.
  Result<void> finish(const nlohmann::json& summary);

private:
  friend class LookStore;
  LookWriter(std::filesystem::path document, std::filesystem::path summary);

  struct Compressor;
  std::filesystem::path document_;
  std::filesystem::path summary_;
  std::filesystem::path temporary_;
  std::unique_ptr<Compressor> compressor_;
  int error_ = 0; ///< errno of the first failure
};

/// The looks that were taken: for each a compressed document (NDJSON), and its summary beside it,
/// which appears last. There is no index: the summaries are read when the service begins, and the
/// one of a document that has none, because the service was killed between the two, is made again.
/// One thread at a time, but document() and summary are for any.
class LookStore {
public:
  /// Makes the directory, for this user alone. Errors: files.store (also where others may write to
  /// it), service.runs (another one has it).
  static Result<LookStore> open(std::filesystem::path directory);

  /// The summaries of a job's looks, the oldest first. What cannot be read is left out.
  std::vector<nlohmann::json> looks_of(const std::string& job) const;
  /// Error: files.store.
  Result<std::unique_ptr<LookWriter>> begin(const std::string& job, const std::string& id) const;
  /// The compressed document. Error: service.no_look.
  Result<FileDescriptor> document(const std::string& job, const std::string& id) const;
  /// The jobs that clients have named, and that were not forgotten.
  std::vector<ServiceJob> named_jobs() const;
  /// Error: files.store.
  Result<void> keep_job(const ServiceJob& job) const;
  /// With all of its looks.
  void forget_job(const std::string& name) const;
  /// Where the page of a job's last look may be put.
  std::filesystem::path report(const std::string& job) const {
    return directory_ / job / "report.html";
  }
  /// Removes those of `looks` that the limits have no room for, from the front.
  void make_room(const std::string& job, std::vector<nlohmann::json>& looks,
                 const HistoryLimits& limits) const;

private:
  LookStore(std::filesystem::path directory, FileDescriptor locked)
      : directory_(std::move(directory)), locked_(std::move(locked)) {}
  void remove_leftovers() const;
  std::filesystem::path path(const std::string& job, const std::string& id,
                             std::string_view ending) const;
  void restore_summary(const std::string& job, const std::string& id) const;

  std::filesystem::path directory_;
  FileDescriptor locked_; ///< the directory: no other service takes it
};

/// The text of a document, from its compressed file. Error: service.no_look (it is damaged, or
/// longer than `most_bytes`).
Result<std::string> unpacked_document(FileDescriptor file, std::uint64_t most_bytes);

} // namespace mqbridge
