#include "host/report/text_report.h"
#include "host/report/tsv_report.h"
#include "tests/document/sample_dump.h"
#include "tests/document/sample_handles.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <sstream>

namespace mqbridge::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Dump dump_with(ProcessHandles handles) {
  Dump dump;
  auto rank = complete_rank(0);
  rank.communicators.clear();
  rank.handles = std::move(handles);
  dump.ranks = {rank};
  return dump;
}

std::string handles_text(ProcessHandles handles, bool full = false) {
  TextOptions options;
  options.full = full;
  return written(
      [&](const Sink& sink) { write_handles(dump_with(std::move(handles)), options, sink); });
}

TEST(HandlesText, ListsInTablesThatLineUp) {
  const auto text = handles_text(rich_handles());
  EXPECT_THAT(text, HasSubstr("mqbridge handles   job j1: 1 rank, 1 complete\n"));
  EXPECT_THAT(text, ContainsRegex("\n    HANDLE  NAME +RANK  SIZE  TOPOLOGY"));
  EXPECT_THAT(text, ContainsRegex("\n    0x10 +gr\\\\x01id +2 +3  cartesian 3 x 1, periodic in 0, "
                                  "reordered +no\n"));
  EXPECT_THAT(text, HasSubstr("\n    no room for ERRORS, ATTRIBUTES: --full has it\n"));
  EXPECT_THAT(text, ContainsRegex("\n    0x11 +- +\\? +1\\+2  distributed graph, weighted, from 1, "
                                  "2, to 2"));
  EXPECT_THAT(text, ContainsRegex("0x20 +receive, persistent  complete  4\\(0\\)  ANY  800 B  "
                                  "gr\\\\x01id"));
  EXPECT_EQ(text.find('\x01'), std::string::npos) << "names are the target's";
}

TEST(HandlesText, CountsTheRequestsThatTheMpiMade) {
  EXPECT_THAT(handles_text(rich_handles()),
              AllOf(HasSubstr("1 more request that the MPI made for itself: --full"),
                    Not(HasSubstr("0x21"))));
  EXPECT_THAT(handles_text(rich_handles(), true), HasSubstr("request 0x21"));
}

TEST(HandlesText, SaysWhatIsNotKnownAndNotListed) {
  const auto text = handles_text(rich_handles());
  EXPECT_THAT(text, HasSubstr("requests, communicators: there may be more"));
  EXPECT_THAT(text, HasSubstr("errhandlers: the debug DLL cannot list them (unknown, not none)"));
  EXPECT_THAT(text, HasSubstr("request -1 (Fortran): nothing there is such an object"));
}

TEST(HandlesText, SaysAllOfARequestThatIsAskedFor) {
  auto handles = rich_handles();
  handles.listed = false;
  const auto text = handles_text(std::move(handles));
  EXPECT_THAT(text,
              HasSubstr("  request 0x20\n"
                        "    what        receive, persistent\n"
                        "    Fortran     17\n"
                        "    made by     MPI_Recv_init in exchange (halo.c:77)\n"
                        "    state       complete: MPI_Test or MPI_Wait would return at once\n"
                        "    whose       of communicator gr\\x01id\n"
                        "    message     from 4(0) tag ANY, 100 x MPI_DOUBLE, at most 800 B, "
                        "at 0x7000\n"
                        "    has met     from 4(0) tag 5, 400 B\n"
                        "    error       MPI_ERROR 15\n"
                        "    cancelled   yes\n"));
}

TEST(HandlesText, SaysAllOfACommunicatorThatIsAskedFor) {
  auto handles = rich_handles();
  handles.listed = false;
  const auto text = handles_text(std::move(handles));
  EXPECT_THAT(text, HasSubstr("    what        predefined intracommunicator, not freed\n"
                              "    Fortran     -4\n"
                              "    whose       rank 2 of 3, world ranks 4,none,6\n"));
  EXPECT_THAT(text, HasSubstr("    attributes  MPI_TAG_UB=32767, -5=0xabc\n"
                              "    errors      0x30 MPI_ERRORS_RETURN\n"));
  EXPECT_THAT(text, HasSubstr("topology    graph of 3 nodes, index 1, 3, 4, edges 1, 0, 2, 1\n"));
}

TEST(HandlesText, OfWhatNothingIsKnownSaysSo) {
  ProcessHandles handles;
  RequestHandle request;
  request.handle = 0x20;
  handles.requests = {request};
  CommunicatorHandle comm;
  comm.handle = 0x10;
  handles.communicators = {comm};
  const auto text = handles_text(std::move(handles));
  EXPECT_THAT(text, HasSubstr("state       not known whether it is complete"));
  EXPECT_THAT(text, HasSubstr("rank not known of not known, world ranks not known"));
  EXPECT_THAT(text, HasSubstr("topology    not known\n    attributes  not known\n"));
  EXPECT_THAT(text, Not(HasSubstr("none")));
}

TEST(HandlesText, NoTableIsWiderThanThePage) {
  std::istringstream lines(handles_text(rich_handles()));
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 100U) << line;
}

TEST(HandlesTsv, EachHandleIsALineOfAllColumns) {
  const auto text =
      written([](const Sink& sink) { write_handles_tsv(dump_with(rich_handles()), sink); });
  std::istringstream lines(text);
  std::string titles;
  std::getline(lines, titles);
  std::map<std::string, int> kinds;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(std::ranges::count(line, '\t'), std::ranges::count(titles, '\t')) << line;
    ++kinds[line.substr(0, line.find('\t'))];
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"rank", 1},
                                               {"communicator", 4},
                                               {"request", 2},
                                               {"errhandler", 1},
                                               {"status", 1},
                                               {"refused", 1},
                                               {"list", 3}}));
  EXPECT_THAT(text, HasSubstr("\tMPI_Recv_init\texchange\thalo.c\t77\t"));
}

} // namespace
} // namespace mqbridge::test
