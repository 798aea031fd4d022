#pragma once

#include "host/job/node_files.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mqbridge::test {

/// A process of a FakeNode. What is left out is what a usual one has.
struct FakeProcess {
  std::int64_t pid = 0;
  std::int64_t parent = 1;
  std::string name = "solver";
  std::vector<std::string> environment = {}; ///< "NAME=value"
  std::vector<std::string> libraries = {};   ///< mapped beside the executable
  std::vector<std::string> command = {};     ///< the words of its command line
  std::string user = "me";
  std::uint64_t started = 0; ///< 0: as the pid
  char state = 'S';
};

/// A node whose /proc consists of what is put there.
class FakeNode final : public NodeFiles {
public:
  FakeNode& add(const FakeProcess& process);
  /// It is in the list, and there is nothing of it any more.
  FakeNode& add_ended(std::int64_t pid);
  /// What reading the file comes to, from now on.
  void answer(std::int64_t pid, const std::string& file, rsp::FileText text);
  void fail_with(Error error) { error_ = std::move(error); }

  Result<std::vector<ListedProcess>> processes() override;
  Result<void> read(std::span<const rsp::FileStart> files, const rsp::TakeText& take) override;

  std::size_t calls = 0;            ///< of read()
  std::size_t most_bytes_asked = 0; ///< of one file

private:
  std::vector<ListedProcess> listed_;
  std::map<std::string, rsp::FileText> files_; ///< by their paths
  Error error_;
};

} // namespace mqbridge::test
