#include "host/service/service_config.h"
#include "tests/support/temp_directory.h"

#include <fstream>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

Result<ServiceConfig> read(const std::string& text) {
  const test::TempDirectory directory;
  const auto path = directory / "service.toml";
  std::ofstream(path) << text;
  return read_service_config(path);
}

TEST(ServiceConfig, HasJobsAndLimits) {
  const auto config = read(R"(
looks_at_once = 3
most_load = 0.5
keep_looks = 7
keep_days = 2
keep_mib = 100
look_seconds = 30
look_mib = 512
[[job]]
name = "weather"
mpirun = 4711
every = "10m"
output = "/var/log/weather"
cpu = true
quiet = "90"
on_deadlock = ["mail", "{job}"]
after_looks = 3
[[job]]
name = "other"
slurm = "12.0"
launcher = "ssh"
)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->looks_at_once, 3U);
  EXPECT_EQ(config->most_load, 0.5);
  EXPECT_EQ(config->history.looks, 7U);
  EXPECT_EQ(config->history.age, 48h);
  EXPECT_EQ(config->history.bytes, 100U << 20);
  EXPECT_EQ(config->look.time, 30s);
  EXPECT_EQ(config->look.memory, 512U << 20);
  ASSERT_EQ(config->jobs.size(), 2U);
  const ServiceJob& weather = config->jobs.front();
  EXPECT_EQ(weather.name, "weather");
  EXPECT_THAT(weather.words, ElementsAre("--mpirun=4711"));
  EXPECT_EQ(weather.every, 600s);
  EXPECT_EQ(weather.output, "/var/log/weather");
  EXPECT_EQ(weather.cpu_of, 4711);
  EXPECT_EQ(weather.quiet, 90s);
  EXPECT_THAT(weather.on_deadlock, ElementsAre("mail", "{job}"));
  EXPECT_EQ(weather.after_looks, 3U);
  EXPECT_TRUE(weather.is_configured);
  EXPECT_THAT(config->jobs.back().words,
              testing::UnorderedElementsAre("--slurm=12.0", "--launcher=ssh"));
  EXPECT_FALSE(config->jobs.back().every);
  EXPECT_EQ(config->jobs.back().cpu_of, 0);
}

TEST(ServiceConfig, WhatIsWrongIsNamedWithItsLine) {
  const std::string job = "[[job]]\nname = \"a\"\nmpirun = 1\n";
  for (const auto& [text, code, words] :
       {std::tuple<std::string, std::string, std::string>{"x = [", "config.syntax", ":1:"},
        {"colour = 1", "config.unknown_key", "colour"},
        {job + "colour = 1", "config.unknown_key", ":4: "},
        {job + "dll = \"/tmp/x.so\"", "config.unknown_key", "dll"},
        {job + "every = \"soon\"", "config.value", ":4: "},
        {job + "every = \"0\"", "config.value", "every"},
        {job + "every = \"1e99d\"", "config.value", "every"},
        {job + "output = \"log\"", "config.value", "absolute"},
        {job + "cpu = 1", "config.value", "true or false"},
        {"[[job]]\nname = \"a\"\nslurm = 1\ncpu = true", "config.value", "mpirun = 4711"},
        {"[[job]]\nname = \"a\"\nmpirun = \"ssh:node7:1\"\ncpu = true", "config.value",
         "mpirun = 4711"},
        {job + "on_deadlock = \"mail me\"", "config.value", "list"},
        {job + "on_deadlock = [1]", "config.value", "list"},
        {job + "after_looks = 0", "config.value", "after_looks"},
        {job + job, "config.value", "no other job"},
        {"[[job]]\nname = \"a\"", "config.value", "one of mpirun"},
        {"[[job]]\nmpirun = 1", "config.value", "a name"},
        {"[[job]]\nname = \"../a\"\nmpirun = 1", "config.value", "letters"},
        {"job = 1", "config.value", "[[job]]"},
        {"looks_at_once = 0", "config.value", "from 1 to 64"},
        {"looks_at_once = \"2\"", "config.value", "a whole number"},
        {"looks_at_once = 1.5", "config.value", "a whole number"},
        {"[[job]]\nname = \"a\"\nmpirun = 1\nslurm = 2", "config.value", "one of mpirun"},
        {"[[job]]\nname = \"a\"\ntargets = \"x\"", "config.value", "absolute"},
        {"most_load = nan", "config.value", "a number"}}) {
    const auto config = read(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().code, code) << text;
    EXPECT_THAT(config.error().message, HasSubstr(words)) << text;
    EXPECT_FALSE(config.error().hint.empty()) << text;
  }
  EXPECT_EQ(read_service_config("/nowhere").error().code, "config.open");
}

TEST(ServiceConfig, OfAClientNumbersAloneBecomeWords) {
  EXPECT_THAT(words_of_job("mpirun", "4711").value(), ElementsAre("--mpirun=4711"));
  EXPECT_THAT(words_of_job("slurm", "12").value(), ElementsAre("--slurm=12"));
  for (const auto& [how, number] : {std::pair("mpirun", ""),
                                    {"mpirun", "-1"},
                                    {"mpirun", "ssh:host:1"},
                                    {"mpirun", "1 2"},
                                    {"mpirun", "12345678901234567890"},
                                    {"slurm", "1.0"},
                                    {"targets", "1"},
                                    {"dll", "1"},
                                    {"", "1"}})
    EXPECT_FALSE(words_of_job(how, number)) << how << " " << number;
}

} // namespace
} // namespace mqbridge
