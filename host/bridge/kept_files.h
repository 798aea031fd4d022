#pragma once

#include "host/bridge/remembered_files.h"
#include "rsp/client/features.h"
#include "rsp/exchange/connection.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The files that a debugger reads through the stub (vFile), such as libraries: what it will read
/// next comes with what it reads now, and what has come is kept. A file is the same one as long as
/// its path and what fstat says of it are the same; it is asked again once the process has run.
/// With a build-id it is also kept for the next session, which reads its beginning only.
/// Nothing is kept of /proc, /sys and /dev, and nothing is read ahead where a link is so slow that
/// a piece takes longer than to ask for it. The debugger's descriptors are numbers of our own: one
/// file that it opens three times is open at the stub once. One thread.
class KeptFiles {
public:
  /// What is kept for the next session is in a folder of `cache`; nullopt: nothing is.
  KeptFiles(rsp::Connection& stub, const std::optional<std::filesystem::path>& cache)
      : stub_(stub), remembered_(cache) {}
  ~KeptFiles(); ///< keeps it
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  void set_features(const rsp::Features& features) { packet_size_ = features.packet_size; }
  /// The reply to any vFile packet. Errors: those of Connection.
  Result<std::string> answer(const std::string& packet);
  /// The debugger may open these next: with the first of them, they and their debug files are
  /// opened in four bursts.
  void expect(std::vector<std::string> paths) { expected_ = std::move(paths); }
  /// From here on, until the process runs, the file `path` of the stub's own file system has these
  /// contents.
  void know(const std::string& path, std::string contents);
  /// Whose file system is chosen: the last vFile:setfs.
  const std::string& root() const { return root_; }
  /// The process has run: files may have other contents.
  void process_ran();

private:
  struct File {
    std::string stub_descriptor; ///< hexadecimal, as the stub says it
    std::string status;          ///< the stub's reply to fstat
    std::size_t size = 0;        ///< by `status`
    bool is_checked = false;     ///< `status` is that of now
    RememberedFiles::Pieces pieces;
    std::size_t next_piece = 0; ///< behind the last one that was read
    std::size_t window = 0;     ///< pieces that the last burst brought
    std::string key;            ///< by which it is kept for the next session; empty: it is not
    std::size_t recalled = 0;   ///< pieces that the last one has kept
  };
  struct Open {
    std::shared_ptr<File> file;  ///< null: every request goes to the stub
    std::string stub_descriptor; ///< of such a one
  };

  Result<std::string> open(const std::string& packet);
  Result<std::string> read(File& file, std::size_t offset, std::size_t count);
  Result<void> fetch(File& file, std::size_t first, std::size_t last);
  Result<void> begin(std::span<const std::shared_ptr<File>> files);
  Result<void> read_sections(std::span<const std::shared_ptr<File>> files);
  Result<void> open_expected();
  bool take_status(File& file, std::string reply);
  Result<void> expect_debug_files(std::span<const std::string> paths,
                                  std::span<const std::shared_ptr<File>> files);
  bool is_missing(const std::string& key);
  std::size_t size_of(const File& file, std::size_t piece) const;
  void take(File& file, std::size_t piece, std::string_view reply);
  void recall(File& file);
  std::string number(Open opened);
  std::size_t piece_size() const;
  Result<void> make_room();
  Result<bool> is_still(File& file);
  bool is_slow() const;
  std::size_t bytes_in_time() const;

  rsp::Connection& stub_;
  RememberedFiles remembered_;
  std::size_t packet_size_ = 400;
  std::string root_ = "0";                             ///< whose file system: the last vFile:setfs
  std::map<std::string, std::shared_ptr<File>> files_; ///< by root, path and flags
  std::map<std::uint64_t, Open> opened_;               ///< by the debugger's descriptor
  /// Files that are not there, and when that was seen: somebody may install them.
  std::map<std::string, std::chrono::steady_clock::time_point> missing_;
  std::vector<std::string> expected_;
  std::size_t kept_bytes_ = 0;
};

} // namespace mqbridge
