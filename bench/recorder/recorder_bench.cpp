// What the recorder costs a program: traffic.c with and without it, in turn, under each MPI that is
// here. The least of a few runs counts on both sides.

#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace {

struct Mpi {
  std::string_view name;
  std::string_view launcher;
};
constexpr std::array mpis = {
    Mpi{"openmpi",
        "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash "
        "mpirun.openmpi --oversubscribe --mca pml ob1 --mca btl self,vader -np 2"},
    Mpi{"mpich", "mpiexec.mpich -n 2"},
};

/// The argument of traffic.c, and the lines that it prints for it.
struct Part {
  std::string_view argument;
  std::array<std::string_view, 5> cases;
};
constexpr std::array parts = {
    Part{"calls", {"latency", "window", "pairs", "self", "poll"}},
    Part{"threads", {"threads"}},
    Part{"memory", {"memory"}},
};
constexpr int runs = 3;

using Values = std::map<std::string, double, std::less<>>;

/// Lowers `least` by what one run says. False: it did not end well.
bool run(const Mpi& mpi, std::string_view argument, bool recorded, Values& least) {
  const std::string directory = fmt::format("{}/{}", MQBRIDGE_BINARY_DIRECTORY, "recorder");
  const auto preload =
      recorded ? fmt::format("env LD_PRELOAD={}/{}/libmqbridge-recorder.so ", directory, mpi.name)
               : std::string();
  const auto line =
      fmt::format("timeout 300 {}{} {}/bench/recorder_traffic_{} {} </dev/null", preload,
                  mpi.launcher, MQBRIDGE_BINARY_DIRECTORY, mpi.name, argument);
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr)
    return false;
  std::string text;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr)
    text += buffer.data();
  std::istringstream lines(text);
  std::string name;
  for (double value = 0; lines >> name >> value;) {
    const auto [at, is_new] = least.try_emplace(name, value);
    at->second = std::min(at->second, value);
  }
  return ::pclose(pipe) == 0;
}

struct Compared {
  bool good = true;
  Values bare;
  Values recorded;
};

/// One after the other, so that whatever else the machine does meets both.
const Compared& compare(const Mpi& mpi, std::string_view argument) {
  static std::map<std::string, Compared> known;
  const auto [at, is_new] = known.try_emplace(fmt::format("{} {}", mpi.name, argument));
  Compared& both = at->second;
  for (int i = 0; is_new && both.good && i < runs; ++i)
    both.good = run(mpi, argument, false, both.bare) && run(mpi, argument, true, both.recorded);
  return both;
}

void measure(benchmark::State& state, const Mpi& mpi, std::string_view argument,
             std::string_view name) {
  for (auto _ : state) {
    const auto& both = compare(mpi, argument);
    const auto bare = both.bare.find(name);
    const auto recorded = both.recorded.find(name);
    if (!both.good || bare == both.bare.end() || recorded == both.recorded.end())
      return state.SkipWithError("the program did not end well: what it received may be wrong");
    const bool is_time = name != "memory";
    state.SetIterationTime(is_time ? recorded->second * 1e-9 : 0);
    state.counters["bare"] = bare->second;
    state.counters["recorded"] = recorded->second;
    state.counters["cost"] = recorded->second - bare->second; // ns a call, bytes a pending receive
  }
}

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const auto& mpi : mpis)
    for (const auto& part : parts)
      for (const auto name : part.cases)
        if (!name.empty())
          benchmark::RegisterBenchmark(fmt::format("recorder/{}/{}", mpi.name, name).c_str(),
                                       [&mpi, &part, name](benchmark::State& state) {
                                         measure(state, mpi, part.argument, name);
                                       })
              ->UseManualTime()
              ->Iterations(1);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
