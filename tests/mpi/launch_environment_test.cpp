#include "host/mpi/launch_environment.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using namespace std::string_view_literals;

TEST(LaunchEnvironment, OpenMpi) {
  const auto found =
      parse_environment("A=1\0OMPI_COMM_WORLD_RANK=3\0OMPI_COMM_WORLD_SIZE=8\0PMIX_RANK=9\0"
                        "PMIX_NAMESPACE=12345.1\0"sv);
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.size, 8);
  EXPECT_EQ(found.job, "12345.1");
}

TEST(LaunchEnvironment, Slurm) {
  const auto found =
      parse_environment("SLURM_PROCID=0\0SLURM_NTASKS=2\0SLURM_JOB_ID=77\0SLURM_STEP_ID=4"sv);
  EXPECT_EQ(found.rank, 0);
  EXPECT_EQ(found.size, 2);
  EXPECT_EQ(found.job, "77.4");
}

TEST(LaunchEnvironment, WhatABatchScriptStartsIsInNoStepOfSrun) {
  const auto found = parse_environment("SLURM_PROCID=0\0SLURM_JOB_ID=77\0"sv);
  EXPECT_EQ(found.job, "77.batch");
  EXPECT_TRUE(found.job_is_step);
  EXPECT_EQ(found.slurm_step, "batch");
  EXPECT_EQ(found.rank_variable, rank_variable_of_slurm);
  EXPECT_EQ(parse_environment("SLURM_STEP_ID=1\0PMI_RANK=0"sv).job, std::nullopt);
}

TEST(LaunchEnvironment, NonsenseSaysNothing) {
  for (const auto text : {""sv, "="sv, "PMI_RANK"sv, "PMI_RANK="sv, "PMI_RANK=-1"sv,
                          "PMI_RANK=1x"sv, "PMI_RANK=99999999999999999999"sv, "\0\0\0"sv}) {
    const auto found = parse_environment(text);
    EXPECT_EQ(found.rank, std::nullopt) << text;
    EXPECT_EQ(found.job, std::nullopt) << text;
  }
}

} // namespace
} // namespace mqbridge
