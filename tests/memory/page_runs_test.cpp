#include "host/memory/page_runs.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(PageRuns, AreMadeOfPagesInAnyOrder) {
  EXPECT_EQ(runs_of({}), PageRuns());
  EXPECT_EQ(runs_of({7, 3, 4, 7, 5, 9}), (PageRuns{{3, 3}, {7, 1}, {9, 1}}));
  EXPECT_EQ(runs_of({UINT64_MAX, UINT64_MAX - 1, 0}), (PageRuns{{0, 1}, {UINT64_MAX - 1, 2}}));
}

TEST(PageRuns, AreCounted) {
  EXPECT_EQ(count_pages({{3, 3}, {7, 1}}), 4U);
}

} // namespace
} // namespace mqbridge
