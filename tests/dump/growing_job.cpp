#include "tests/dump/growing_job.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace mqbridge::test {
namespace {

std::uint64_t mix(std::uint64_t seed, std::uint64_t part) {
  std::uint64_t mixed = seed + 0x9e3779b97f4a7c15ULL + part * 0xd1342543de82ef95ULL;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

constexpr std::uint64_t world_id = 1;

} // namespace

GrowingJob::Processes GrowingJob::Comm::all() const {
  Processes all = sides[0];
  all.insert(all.end(), sides[1].begin(), sides[1].end());
  return all;
}

GrowingJob::GrowingJob(std::uint32_t seed, const Habits& habits) : random_(seed), habits_(habits) {
  const std::size_t worlds = 1 + random_() % 3;
  for (std::size_t i = 0; i < worlds; ++i)
    add_world(1 + random_() % 3, now_);
  for (std::size_t i = 0; i < habits.steps; ++i)
    step();
}

std::size_t GrowingJob::add_world(std::size_t size, std::uint64_t now) {
  Comm comm;
  comm.path = world_id;
  for (std::size_t i = 0; i < size; ++i) {
    comm.sides[0].push_back(processes_.size());
    Process& process = processes_.emplace_back();
    process.world = worlds_;
    process.rank = static_cast<std::int64_t>(i);
    process.free_at = now;
  }
  ++worlds_;
  comms_.push_back(comm);
  return comms_.size() - 1;
}

/// When a call of these processes begins. Without habits.overlapping all others wait meanwhile.
std::uint64_t GrowingJob::take_time(const Processes& processes) {
  std::uint64_t begin = now_;
  for (const std::size_t process : processes)
    begin = std::max(begin, processes_[process].free_at + 1);
  const std::uint64_t end = begin + 20 + random_() % 50;
  for (const std::size_t process : processes)
    processes_[process].free_at = end;
  now_ = habits_.overlapping ? now_ + random_() % 20 : end + 1;
  return begin;
}

std::uint64_t GrowingJob::add_joint(const Comm& comm, std::size_t process, const Joint& joint) {
  Joint made = joint;
  const auto base = comm.joint.find(process);
  const bool nested = base != comm.joint.end();
  made.base = nested ? base->second : 0;
  made.path = comm.path;
  made.id = mix(nested ? mix(base->second, comm.path) : comm.path, joint.sequence);
  made.began = joint.began + random_() % 5;
  made.ended = processes_[process].free_at - random_() % 5;
  processes_[process].joints.push_back(made);
  return made.id;
}

void GrowingJob::spawn(std::size_t parent) {
  const std::size_t count = 1 + random_() % 3;
  if (comms_[parent].inter() || processes_.size() + count > habits_.most)
    return;
  const auto parents = comms_[parent].sides[0];
  const auto root = processes_[parents[random_() % parents.size()]];
  const std::uint64_t begin = take_time(parents);
  const std::size_t world = add_world(count, processes_[parents.front()].free_at);
  Joint joint;
  joint.call = random_() % 2 == 0 ? "MPI_Comm_spawn" : "MPI_Comm_spawn_multiple";
  joint.size = static_cast<std::int64_t>(parents.size());
  joint.remote_size = static_cast<std::int64_t>(count);
  joint.sequence = comms_[parent].collectives++;
  joint.began = begin;
  if (habits_.marks)
    joint.mark = fmt::format("w{}.{}", root.world, root.rank);
  Comm made;
  for (const std::size_t process : parents)
    made.joint[process] = add_joint(comms_[parent], process, joint);
  joint.call = "MPI_Init";
  std::swap(joint.size, joint.remote_size);
  joint.sequence = ~std::uint32_t{0};
  joint.began = begin + 5;
  made.sides[0] = parents;
  made.sides[1] = comms_[world].sides[0];
  for (const std::size_t process : made.sides[1])
    made.joint[process] = add_joint(comms_[world], process, joint);
  comms_.push_back(made);
}

void GrowingJob::connect(std::size_t one, std::size_t other) {
  const Comm& server = comms_[one];
  const Comm& client = comms_[other];
  std::set<std::size_t> worlds;
  for (const Comm* comm : {&server, &client})
    for (const std::size_t process : comm->all())
      worlds.insert(processes_[process].world);
  const auto both = [&](std::size_t process) {
    return std::ranges::find(client.sides[0], process) != client.sides[0].end();
  };
  if (server.inter() || client.inter() || worlds.size() < 2 ||
      std::ranges::any_of(server.sides[0], both))
    return;
  Comm made;
  made.sides[0] = server.sides[0];
  made.sides[1] = client.sides[0];
  Joint joint;
  joint.began = take_time(made.all());
  if (habits_.marks)
    joint.mark = fmt::format("port{}", random_() % 2);
  for (const std::size_t at : {one, other}) {
    const bool accepts = at == one;
    Comm& comm = comms_[at];
    joint.call = accepts ? "MPI_Comm_accept" : "MPI_Comm_connect";
    joint.size = static_cast<std::int64_t>(comm.sides[0].size());
    joint.remote_size = static_cast<std::int64_t>(made.sides[accepts ? 1 : 0].size());
    joint.sequence = comm.collectives++;
    for (const std::size_t process : comm.sides[0]) {
      Joint said = joint;
      if (process != comm.sides[0].front())
        said.mark.clear(); // the name of the port means something at the root alone
      made.joint[process] = add_joint(comm, process, said);
    }
  }
  comms_.push_back(made);
}

void GrowingJob::merge(std::size_t of) {
  Comm& inter = comms_[of];
  if (!inter.inter())
    return;
  take_time(inter.all());
  Comm made;
  made.sides[0] = inter.all();
  if (random_() % 2 == 0)
    std::ranges::rotate(made.sides[0],
                        made.sides[0].begin() + static_cast<std::ptrdiff_t>(inter.sides[0].size()));
  made.joint = inter.joint;
  made.path = mix(mix(inter.path, inter.collectives++), 0);
  comms_.push_back(made);
}

/// MPI_Comm_dup, with one color.
void GrowingJob::split(std::size_t of) {
  const Comm parent = comms_[of];
  const std::uint32_t sequence = comms_[of].collectives++;
  const std::size_t colors = 1 + random_() % 3;
  std::vector<std::array<Processes, 2>> parts(colors);
  take_time(parent.all());
  for (const std::size_t side : {0U, 1U})
    for (const std::size_t process : parent.sides[side])
      parts[random_() % colors][side].push_back(process);
  const auto rank = [&](std::size_t process) -> std::uint64_t {
    for (const auto& side : parent.sides)
      if (const auto at = std::ranges::find(side, process); at != side.end())
        return static_cast<std::uint64_t>(at - side.begin());
    return 0;
  };
  for (const auto& part : parts) {
    if (part[0].empty() || part[1].empty() == parent.inter())
      continue;
    Comm made;
    made.sides[0] = part[0];
    made.sides[1] = part[1];
    const std::uint64_t first = rank(part[0].front());
    std::uint64_t other = part[1].empty() ? first : rank(part[1].front());
    for (const std::size_t process : made.all())
      if (const auto joint = parent.joint.find(process); joint != parent.joint.end())
        made.joint.insert(*joint);
    if (made.joint.empty()) // by ranks in MPI_COMM_WORLD
      other = static_cast<std::uint64_t>(processes_[part[0].front()].rank);
    made.path = mix(mix(parent.path, sequence), first << 32 | other);
    comms_.push_back(made);
  }
}

void GrowingJob::step() {
  const std::size_t at = pick();
  if (comms_[at].freed)
    return;
  const std::size_t other = pick();
  switch (random_() % 6) {
  case 0:
  case 1:
    return spawn(at);
  case 2:
    return comms_[other].freed ? void() : connect(at, other);
  case 3:
    return merge(at);
  case 4:
    return split(at);
  default:
    comms_[at].freed = comms_[at].path != world_id;
  }
}

std::vector<std::int64_t> GrowingJob::places(const Processes& processes,
                                             std::size_t process) const {
  std::vector<std::int64_t> ranks;
  for (const std::size_t each : processes)
    ranks.push_back(processes_[each].world == processes_[process].world ? processes_[each].rank
                                                                        : -1);
  return ranks;
}

/// As host/mpi/recorder reads it.
Communicator GrowingJob::view(const Comm& comm, std::size_t process) const {
  const bool second = std::ranges::find(comm.sides[1], process) != comm.sides[1].end();
  const auto& own = comm.sides[second ? 1 : 0];
  const auto group = places(own, process);
  const auto remote = places(comm.sides[second ? 0 : 1], process);
  Communicator shown;
  shown.size = static_cast<std::int64_t>(own.size());
  shown.local_rank = std::ranges::find(own, process) - own.begin();
  shown.kind = comm.inter() ? CommunicatorKind::inter : CommunicatorKind::intra;
  if (std::ranges::find(group, -1) == group.end())
    shown.group = group;
  if (comm.inter() && std::ranges::find(remote, -1) == remote.end())
    shown.remote.ranks = remote;
  if (const auto joint = comm.joint.find(process); joint != comm.joint.end()) {
    shown.joined = Joined{joint->second, comm.path, group, remote};
    if (!comm.inter())
      shown.joined->remote_group.clear();
    shown.id.value = mix(joint->second, comm.path);
  } else {
    shown.id.value = comm.path;
    shown.context = comm.path;
  }
  return shown;
}

Dump GrowingJob::document(double share) {
  Dump dump;
  job_of_.clear();
  shown_.clear();
  truth_.clear();
  std::uniform_real_distribution<double> chance(0, 1);
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (chance(random_) >= share)
      continue;
    const Process& process = processes_[i];
    RankDump& rank = dump.ranks.emplace_back();
    rank.rank = static_cast<int>(process.rank);
    rank.endpoint = fmt::format("local:{}", i);
    rank.world_rank = process.rank;
    rank.job_id = fmt::format("w{}", process.world);
    rank.joints = process.joints;
    job_of_.push_back(process.world);
    shown_.push_back(i);
    auto& truth = truth_.emplace_back();
    for (std::size_t c = 0; c < comms_.size(); ++c) {
      const auto all = comms_[c].all();
      if (comms_[c].freed || std::ranges::find(all, i) == all.end())
        continue;
      rank.communicators.push_back(view(comms_[c], i));
      truth.push_back(c);
    }
  }
  return dump;
}

std::vector<Member> GrowingJob::members(std::size_t truth, std::size_t side) const {
  std::vector<Member> members;
  for (const std::size_t process : comms_[truth].sides[side])
    members.push_back({fmt::format("w{}", processes_[process].world), processes_[process].rank});
  return members;
}

std::size_t GrowingJob::side(std::size_t rank, std::size_t truth) const {
  const auto& second = comms_[truth].sides[1];
  return std::ranges::find(second, shown_[rank]) != second.end() ? 1 : 0;
}

} // namespace mqbridge::test
