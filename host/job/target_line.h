#pragma once

#include "host/dump/target/target_spec.h"
#include "host/job/quoted_words.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Parses a line of a targets file. Faults of the line are collected: everything that can be
/// understood is read.
class TargetLine {
public:
  /// `directory`: relative paths in keys begin there.
  explicit TargetLine(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// nullopt: the line is empty or a comment, or take_faults() says why it is no target.
  std::optional<TargetSpec> read(std::string_view line);
  /// The faults of the last line, by column.
  std::vector<LineFault> take_faults();

private:
  void read_rank(const QuotedWord& word, TargetSpec& target);
  void read_endpoint(const QuotedWord& word, TargetSpec& target);
  void read_key(const QuotedWord& word, TargetSpec& target);
  void set_text(const QuotedWord& word, std::string_view value, std::optional<std::string>& into);
  void set_node_command(const QuotedWord& word, std::string_view value, TargetSpec& target);
  void set_sysroot(const QuotedWord& word, std::string_view value, TargetSpec& target);
  bool is_directory(const std::filesystem::path& path);
  void fault(const QuotedWord& word, std::string what, std::string mend);

  std::filesystem::path directory_;
  std::map<std::filesystem::path, bool> directories_; ///< looked at once each
  std::vector<LineFault> faults_;
};

} // namespace mqbridge
