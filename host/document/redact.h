#pragma once

#include "host/dump/values/document.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mqbridge {

/// Takes out of a dump what tells where it was taken and by whom, before any report sees it.
///
/// Hosts, targets, jobs and addresses get numbers: the same thing has the same number in everything
/// that one Redactor is given. Paths lose their directories. Texts that may hold anything (errors,
/// what a debug DLL says about an operation, settings of the MPI) are left out, and not searched
/// through. Names of functions, files and communicators stay: they say where to look. A member
/// that is not named in redact.cpp is left out.
///
/// The analysis goes, as its words quote the rest: analyze() makes it again.
class Redactor {
public:
  void redact(Dump& dump);
  void redact(RankDump& rank);
  void redact(RankError& error);

  // What becomes of one value.
  std::string text(std::string_view key, const std::string& text);
  std::uint64_t address(std::uint64_t address);
  SharedSite site(const SharedSite& site);

private:
  std::string numbered(std::string_view word, const std::string& text);

  std::map<std::string, std::map<std::string, std::size_t>, std::less<>> numbers_; ///< by word
  std::unordered_map<std::uint64_t, std::uint64_t> addresses_;
  std::map<SharedSite, SharedSite> sites_; ///< operations share theirs
};

} // namespace mqbridge
