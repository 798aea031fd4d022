#include "host/memory/page_runs.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(PageRuns, AreMadeOfPagesInAnyOrder) {
  EXPECT_EQ(runs_of({}), PageRuns());
  EXPECT_EQ(runs_of({7, 3, 4, 7, 5, 9}), (PageRuns{{3, 3}, {7, 1}, {9, 1}}));
  EXPECT_EQ(runs_of({UINT64_MAX, UINT64_MAX - 1, 0}), (PageRuns{{0, 1}, {UINT64_MAX - 1, 2}}));
}

TEST(PageRuns, CountAndContain) {
  const PageRuns runs = {{3, 3}, {7, 1}};
  EXPECT_EQ(count_pages(runs), 4U);
  for (const std::uint64_t page : {3, 5, 7})
    EXPECT_TRUE(contains_page(runs, page)) << page;
  for (const std::uint64_t page : {0, 2, 6, 8})
    EXPECT_FALSE(contains_page(runs, page)) << page;
}

} // namespace
} // namespace mqbridge
