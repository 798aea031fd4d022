#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace mqbridge::test {

/// Jobs that spawn others and connect with them, on paper: a world after the other, and what the
/// recorder of each process would say of its communicators (dll/recorder/mpi/joint.c).
class GrowingJob {
public:
  struct Habits {
    bool overlapping = false; ///< calls of different processes take place at the same time
    bool marks = true;        ///< both sides have one of their spawned or connected processes
    std::size_t most = 24;    ///< processes
    std::size_t steps = 12;
  };

  GrowingJob(std::uint32_t seed, const Habits& habits);

  /// Each process is in it with this probability. Ranks of worlds "w0", "w1", ...
  Dump document(double share);
  /// Of the document made last: job_of for connect_processes().
  const std::vector<std::size_t>& job_of() const { return job_of_; }
  /// Which one it is in truth: the same number for the members of one communicator.
  std::size_t truth(std::size_t rank, std::size_t communicator) const {
    return truth_[rank][communicator];
  }
  /// Its members in truth, of the local side as that process sees it and of the other one.
  std::vector<Member> members(std::size_t truth, std::size_t side) const;
  /// The side that this process of the document is on.
  std::size_t side(std::size_t rank, std::size_t truth) const;
  bool is_freed(std::size_t truth) const { return comms_[truth].freed; }

private:
  using Processes = std::vector<std::size_t>;

  struct Process {
    std::size_t world = 0;
    std::int64_t rank = 0;
    std::vector<Joint> joints;
    std::uint64_t free_at = 0; ///< when its last call ends
  };
  struct Comm {
    Processes sides[2];                         ///< the second one: empty in an intracommunicator
    std::map<std::size_t, std::uint64_t> joint; ///< by process; none: all are of one world
    std::uint64_t path = 0;                     ///< or the id
    std::uint32_t collectives = 0;
    bool freed = false;

    bool inter() const { return !sides[1].empty(); }
    Processes all() const;
  };

  void step();
  void spawn(std::size_t parent);
  void connect(std::size_t one, std::size_t other);
  void merge(std::size_t of);
  void split(std::size_t of);
  std::size_t add_world(std::size_t size, std::uint64_t now);
  std::uint64_t add_joint(const Comm& comm, std::size_t process, const Joint& joint);
  std::uint64_t take_time(const Processes& processes);
  Processes world_of(std::size_t comm) const;
  std::size_t pick() { return random_() % comms_.size(); }
  Communicator view(const Comm& comm, std::size_t process) const;
  std::vector<std::int64_t> places(const Processes& processes, std::size_t process) const;

  std::mt19937 random_;
  Habits habits_;
  std::vector<Process> processes_;
  std::vector<Comm> comms_;
  std::size_t worlds_ = 0;
  std::uint64_t now_ = 1000;
  std::vector<std::size_t> job_of_;
  std::vector<std::size_t> shown_; ///< processes of the document
  std::vector<std::vector<std::size_t>> truth_;
};

} // namespace mqbridge::test
