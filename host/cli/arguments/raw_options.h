#pragma once

#include "host/cli/arguments/choices.h"

#include <CLI/App.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The command line, of which only choices and flags are understood yet. Members stand by command.
struct RawOptions { // NOLINT(clang-analyzer-optin.performance.Padding)
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
  std::string recorder;
  std::string collector;
  std::string dll;
  std::vector<std::string> sysroots;
  std::vector<std::string> debug_dirs;
  std::vector<std::string> types;
  std::vector<std::string> path_maps;
  std::vector<std::string> images;
  FetchMode fetch_files = FetchMode::ask;
  std::string config;
  bool no_sandbox = false;
  bool no_stacks = false;
  bool no_python = false;
  bool all_threads = false;
  bool collect = false;
  bool consistent = false;
  std::string connect_timeout;
  std::string timeout;
  std::string run_until;
  std::string trace;
  std::string output;
  bool redact = false;
  When color = When::automatic;
  // dump
  std::string max_stop;
  std::string jobs;
  CacheMode cache = CacheMode::full;
  std::string max_operations;
  std::string max_bytes;
  std::string max_walk;
  std::map<std::string, std::vector<std::string>, std::less<>>
      filters; ///< by Filter::name; not of variables
  Format format = Format::text;
  bool summary = false;
  bool full = false;
  std::string show;
  bool raw = false;
  bool stats = false;
  When progress = When::automatic;
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
  std::string report;
  bool record_queues = false;
  std::string kill_after;
  std::string stub_timeout;
  // proxy
  std::string listen;
  std::string on_disconnect;
  // serve, jobs
  std::string state;
  std::string service;
  std::string job;
  bool open = false;
  bool check = false;
  // recorder
  std::string mpicc = "mpicc";
  // types
  std::string mpi;
  std::string compiler = "cc";
  std::vector<std::string> include_directories;
  std::string source;
  std::string library;
  std::string types_file;
};

/// What `help` says of a word that is no command; empty: nothing.
std::string_view help_topic(std::string_view word);

/// Declares all commands and options of the program. `app` and `raw` outlive each other's use.
void declare_commands(CLI::App& app, RawOptions& raw, std::string_view version);

} // namespace mqbridge
