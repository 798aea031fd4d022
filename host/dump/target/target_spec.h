#pragma once

#include "host/dump/values/document.h"
#include "host/launch/node.h"
#include "host/process/core/core_path.h"
#include "rsp/result.h"
#include "rsp/transport/endpoint.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mqbridge {

/// `core:FILE[@EXECUTABLE]`: the core file of a dead process.
struct CoreEndpoint {
  std::string text; ///< as the user wrote it
  CorePath path;
};

/// The keys of one target in a targets file, beside its rank.
struct TargetKeys {
  std::optional<std::string> job = {}; ///< name of the job that the rank belongs to
  std::vector<std::filesystem::path> sysroots = {};
  std::vector<std::filesystem::path> types = {};
  std::optional<std::filesystem::path> dll = {};
  std::optional<std::string> node_command = {}; ///< as --node-command

  bool operator==(const TargetKeys&) const = default;
};

/// `[RANK=]ENDPOINT` of the command line.
struct TargetSpec {
  std::optional<int> rank;
  /// A stub, a process whose stub is to be started, or what a dead process has left.
  std::variant<rsp::Endpoint, NodeProcess, CoreEndpoint> where;
  TargetKeys keys = {};
  RankSource rank_source = RankSource::given; ///< of `rank`, where that is known

  /// The endpoint as the user wrote it.
  const std::string& text() const;
  /// A dead process.
  bool is_core() const { return std::holds_alternative<CoreEndpoint>(where); }
  /// A text that is the same for the same process, as far as the words tell; nullopt: it is a
  /// command, which may lead to another process each time.
  std::optional<std::string> process_key() const;
  /// Whether the words name the same process: a command may lead to another one each time.
  bool is_same_process(const TargetSpec& other) const;

  /// Errors: target.syntax, endpoint.syntax.
  static Result<TargetSpec> parse(std::string_view text);

  /// The same, and also `local:PID,PID` and `local:A-B`: the processes of these that run now, by
  /// number. Error as well: target.no_process (none of them runs).
  static Result<std::vector<TargetSpec>> parse_all(std::string_view text);
};

} // namespace mqbridge
