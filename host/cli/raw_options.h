#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The command line as words, before any of them is understood.
struct RawOptions {
  // dump, doctor, ranks
  std::vector<std::string> targets;
  std::string targets_file;
  std::string mpirun;
  std::string slurm;
  std::vector<std::string> nodes;
  std::string save;
  std::string launcher;
  std::string launcher_args;
  std::string node_command;
  std::string gdbserver;
  std::string collector;
  std::string dll;
  std::vector<std::string> sysroots;
  std::vector<std::string> debug_dirs;
  std::vector<std::string> types;
  std::vector<std::string> path_maps;
  std::vector<std::string> images;
  std::string fetch_files = "ask";
  std::string config;
  bool no_sandbox = false;
  bool no_stacks = false;
  std::string threads = "application";
  bool collect = false;
  bool consistent = false;
  std::string connect_timeout;
  std::string timeout;
  std::string run_until;
  std::string trace;
  std::string output;
  std::string color = "auto";
  // dump
  std::string max_stop;
  std::string jobs;
  std::string cache = "full";
  std::string max_operations;
  std::string max_bytes;
  std::string max_walk;
  std::vector<std::string> queues;
  std::vector<std::string> communicators;
  std::vector<std::string> ranks;
  std::vector<std::string> tags;
  std::vector<std::string> peers;
  std::string format = "text";
  bool summary = false;
  bool full = false;
  std::string show;
  bool raw = false;
  bool stats = false;
  std::string progress = "auto";
  bool analyze = false;
  bool no_analyze = false;
  std::string twice;
  std::string fail_on;
  // vars
  std::string kind;
  std::string verbosity;
  std::vector<std::string> categories;
  std::vector<std::string> patterns;
  std::vector<std::string> sources;
  bool diff = false;
  bool all = false;
  std::string unexpected;
  // handles
  std::vector<std::string> requests;
  std::vector<std::string> communicator_handles;
  std::vector<std::string> errhandlers;
  std::vector<std::string> statuses;
  bool fortran = false;
  // analyze
  std::vector<std::string> documents;
  std::string before;
  // run
  std::string silent;
  bool record_queues = false;
  std::string kill_after;
  std::string stub_timeout;
  // types
  std::string mpi = "openmpi";
  std::string compiler = "cc";
  std::vector<std::string> include_directories;
  std::string source;
  std::string library;
  std::string types_file;
};

/// Declares all commands and options of the program. `app` and `raw` outlive each other's use.
void declare_commands(CLI::App& app, RawOptions& raw, std::string_view version);

} // namespace mqbridge
