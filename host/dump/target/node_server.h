#pragma once

#include "host/dump/shared_tools.h"
#include "host/dump/target/target_spec.h"
#include "rsp/client/attach_facts.h"
#include "rsp/client/client.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

/// The command words that lead to the place where `target` runs on its node: its own, or
/// --node-command's.
std::vector<std::string> node_command_of(const TargetSpec& target, const SharedTools& tools);

/// The gdbserver to be started for a target that is a NodeProcess. Targets with the same one can
/// share it: those of a node, except targets in a container of their own.
rsp::Endpoint server_of(const TargetSpec& target, const SharedTools& tools);

/// Starts a gdbserver on `node`, attached to nothing. Errors: node.login, node.no_gdbserver,
/// node.no_stub, and those of rsp::Client::connect.
Result<std::unique_ptr<rsp::Client>> start_server(const rsp::Endpoint& server, const Node& node,
                                                  const SharedTools& tools, std::stop_token stop);

/// Reads files of a node: this host's files directly, files of another one through a gdbserver that
/// is started for the first of them. `tools` outlives it. Errors: those of start_server, file.read
/// and vfile.
rsp::FileSource node_files(const Node& node, const SharedTools& tools, std::stop_token stop);

/// At most the first `count` bytes of one file, which may be of any size. Errors: as node_files().
Result<std::string> node_file_start(const Node& node, const std::string& path, std::size_t count,
                                    const SharedTools& tools, std::stop_token stop);

/// The numbers of process `pid`, from that of the node to the one in its own name space of process
/// ids: more than one inside of a container that has such a name space. Empty: not known.
std::vector<std::int64_t> numbers_of(const rsp::FileSource& files, std::int64_t pid);

/// The number of process `pid` of a node inside of a container, where `inside` reads files; it may
/// be the same number. The process is recognised by its start time, its name and its rank. Error:
/// node.container.
Result<std::int64_t> pid_inside(const rsp::FileSource& outside, const rsp::FileSource& inside,
                                std::int64_t pid);

} // namespace mqbridge
