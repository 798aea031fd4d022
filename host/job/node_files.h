#pragma once

#include "rsp/client/client.h"
#include "rsp/commands/file_starts.h"
#include "rsp/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// A process of a node.
struct ListedProcess {
  std::int64_t pid = 0;
  std::string user; ///< name or number; empty: not known
};

/// The processes of one node, and files of its own file system. No process is attached to, and none
/// is stopped. One thread at a time. An Error means that the connection to the node is lost. It
/// never quotes the contents of a file: environments hold secrets.
class NodeFiles {
public:
  NodeFiles() = default;
  virtual ~NodeFiles() = default;
  NodeFiles(const NodeFiles&) = delete;
  NodeFiles& operator=(const NodeFiles&) = delete;

  /// In no order; kernel threads may be among them.
  virtual Result<std::vector<ListedProcess>> processes() = 0;
  virtual Result<void> read(std::span<const rsp::FileStart> files, const rsp::TakeText& take) = 0;
};

/// Files of this host, from /proc.
class LocalFiles final : public NodeFiles {
public:
  Result<std::vector<ListedProcess>> processes() override;
  Result<void> read(std::span<const rsp::FileStart> files, const rsp::TakeText& take) override;
};

/// Files of the node on which a gdbserver runs, by qXfer:osdata and vFile, for which it attaches to
/// nothing. Errors as well: node.no_processes and vfile.unsupported, for a stub that does not have
/// these.
class StubFiles final : public NodeFiles {
public:
  /// `client` outlives this. Its deadline counts.
  explicit StubFiles(rsp::Client& client) : client_(client) {}

  Result<std::vector<ListedProcess>> processes() override;
  Result<void> read(std::span<const rsp::FileStart> files, const rsp::TakeText& take) override;

private:
  rsp::Client& client_;
};

} // namespace mqbridge
