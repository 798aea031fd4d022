#include "tests/memory/simulated_layouts.h"

#include "host/memory/page_store.h"
#include "host/memory/reader.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

namespace mqbridge {
namespace {

using page_table::page_size;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t node_size = 136;
constexpr std::uint64_t heap = 0x555555600000;
constexpr std::uint64_t heap_of_32_bits = 0x0a600000;

std::uint64_t heap_of(const Platform& platform) {
  return platform.pointer_size == 4 ? heap_of_32_bits : heap;
}

/// `count` places of `size` in so many bytes, no two alike, in no order.
std::vector<std::uint64_t> places(std::uint64_t count, std::uint64_t bytes, std::uint64_t size,
                                  std::mt19937_64& random) {
  const auto slots = bytes / size;
  std::vector<std::uint64_t> chosen(slots);
  std::iota(chosen.begin(), chosen.end(), std::uint64_t{0});
  for (std::uint64_t i = 0; i < count; ++i)
    std::swap(chosen[i], chosen[i + random() % (slots - i)]);
  chosen.resize(count);
  for (auto& slot : chosen)
    slot *= size;
  return chosen;
}

/// A list through these addresses; each node also holds its number.
void put_list(SimulatedProcess& process, const std::vector<std::uint64_t>& nodes) {
  const auto word = static_cast<std::uint64_t>(process.platform().pointer_size);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    process.put({nodes[i]}, i + 1 < nodes.size() ? nodes[i + 1] : 0);
    process.put({nodes[i] + 5 * word}, i);
    process.put({nodes[i] + 15 * word}, ~i);
  }
}

/// One step: the next node; nullopt where what is read is not what was put there.
std::optional<TargetAddress> step(Memory& memory, const Platform& platform, TargetAddress node,
                                  std::uint64_t number) {
  const auto word = static_cast<std::uint64_t>(platform.pointer_size);
  const auto mask = platform.last_address();
  const auto next = read_pointer(memory, platform, node);
  const auto index = read_pointer(memory, platform, node + 5 * word);
  const auto check = read_pointer(memory, platform, node + 15 * word);
  if (!next || !index || !check || index->value != number || check->value != (~number & mask))
    return std::nullopt;
  return *next;
}

bool walk_list(Memory& memory, const Platform& platform, TargetAddress node, std::uint64_t length) {
  std::uint64_t number = 0;
  while (node) {
    const auto next = step(memory, platform, node, number++);
    if (!next)
      return false;
    node = *next;
  }
  return number == length;
}

SimulatedLayout list_layout(std::string name, SimulatedProcess process,
                            std::vector<std::uint64_t> nodes) {
  put_list(process, nodes);
  const auto platform = process.platform();
  return {std::move(name), std::move(process),
          [platform, head = nodes.front(), length = nodes.size()](Memory& memory) {
            return walk_list(memory, platform, {head}, length);
          }};
}

std::vector<std::uint64_t> scattered(SimulatedProcess& process, std::uint64_t count,
                                     std::uint64_t mebibytes) {
  std::mt19937_64 random(count + mebibytes);
  const auto base = heap_of(process.platform());
  process.map(base, mebibytes * mebibyte, "[heap]");
  auto nodes = places(count, mebibytes * mebibyte, node_size, random);
  for (auto& node : nodes)
    node += base;
  return nodes;
}

} // namespace

SimulatedLayout contiguous_list(std::uint64_t nodes, const Platform& platform) {
  SimulatedProcess process(platform);
  const auto base = heap_of(platform);
  process.map(base, std::max<std::uint64_t>(4 * mebibyte, nodes * node_size), "[heap]");
  std::vector<std::uint64_t> addresses(nodes);
  for (std::uint64_t i = 0; i < nodes; ++i)
    addresses[i] = base + i * node_size;
  return list_layout("contiguous", std::move(process), std::move(addresses));
}

SimulatedLayout scattered_list(std::uint64_t nodes, std::uint64_t mebibytes,
                               const Platform& platform) {
  SimulatedProcess process(platform);
  auto addresses = scattered(process, nodes, mebibytes);
  return list_layout("scattered in " + std::to_string(mebibytes) + " MiB", std::move(process),
                     std::move(addresses));
}

SimulatedLayout lone_nodes_list(std::uint64_t nodes, std::uint64_t mebibytes) {
  SimulatedProcess process;
  process.map(heap, mebibytes * mebibyte, "[heap]");
  std::mt19937_64 random(nodes);
  auto addresses = places(nodes, mebibytes * mebibyte, page_size, random);
  for (auto& address : addresses)
    address += heap;
  return list_layout("a page for each node in " + std::to_string(mebibytes) + " MiB",
                     std::move(process), std::move(addresses));
}

SimulatedLayout busy_list(std::uint64_t nodes, std::uint64_t mebibytes) {
  SimulatedProcess process;
  auto addresses = scattered(process, nodes, mebibytes);
  std::mt19937_64 random(1);
  for (std::uint64_t page = 0; page < mebibytes * mebibyte; page += 2 * page_size)
    for (std::uint64_t at = 0; at < page_size; at += 64)
      process.put({heap + page + at}, heap + random() % (mebibytes * mebibyte));
  return list_layout("busy in " + std::to_string(mebibytes) + " MiB", std::move(process),
                     std::move(addresses));
}

SimulatedLayout pointer_array(std::uint64_t objects) {
  SimulatedProcess process;
  auto addresses = scattered(process, objects, 16);
  put_list(process, addresses);
  constexpr std::uint64_t array = 0x7f0000000000;
  process.map(array, mebibyte);
  for (std::uint64_t i = 0; i < objects; ++i)
    process.put({array + 8 * i}, addresses[i]);
  return {"array of pointers", std::move(process), [objects](Memory& memory) {
            for (std::uint64_t i = 0; i < objects; ++i) {
              const auto object = read_pointer(memory, Platform(), {array + 8 * i});
              if (!object || !step(memory, Platform(), *object, i))
                return false;
            }
            return true;
          }};
}

SimulatedLayout interleaved_lists(std::uint64_t nodes) {
  SimulatedProcess process;
  process.map(heap, 4 * mebibyte, "[heap]");
  std::vector<std::uint64_t> up(nodes);
  std::vector<std::uint64_t> down(nodes);
  for (std::uint64_t i = 0; i < nodes; ++i) {
    up[i] = heap + 2 * i * node_size;
    down[i] = heap + (2 * (nodes - i) - 1) * node_size;
  }
  put_list(process, up);
  put_list(process, down);
  return {"two lists interleaved", std::move(process),
          [first = up[0], second = down[0], nodes](Memory& memory) {
            std::array<TargetAddress, 2> at = {TargetAddress{first}, TargetAddress{second}};
            for (std::uint64_t i = 0; i < nodes; ++i)
              for (auto& node : at) {
                const auto next = step(memory, Platform(), node, i);
                if (!next)
                  return false;
                node = *next;
              }
            return !at[0] && !at[1];
          }};
}

namespace {

constexpr std::uint64_t library_data = 0x7f1200000000;
constexpr std::uint64_t before_requests = 1638 * 1024;
constexpr std::uint64_t request_size = 768;
constexpr std::uint64_t communicators = 6;
constexpr std::uint64_t most_looks = 200'000; ///< at requests: a longer queue gets fewer passes

/// What the library keeps beside the queues: objects of all sizes that point to one another and to
/// their classes. A list through 22 pages of it stands for the communicators.
std::vector<std::uint64_t> put_library_objects(SimulatedProcess& process, std::mt19937_64& random) {
  for (std::uint64_t at = 0; at < before_requests; at += 48 + 16 * (random() % 40)) {
    process.put({heap + at}, library_data + 8 * (random() % 4096));
    process.put({heap + at + 16}, heap + random() % before_requests / 16 * 16);
  }
  std::vector<std::uint64_t> nodes(22);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    nodes[i] = heap + (i * 18 + random() % 16) * page_size + 512;
  put_list(process, nodes);
  return nodes;
}

} // namespace

SimulatedLayout openmpi_rank(std::uint64_t receives) {
  SimulatedProcess process;
  std::mt19937_64 random(receives);
  process.map(heap,
              (before_requests + receives * request_size + page_size - 1) / page_size * page_size,
              "[heap]");
  process.map(library_data, 64 * page_size, "libmpi.so.40");
  const auto objects = put_library_objects(process, random);
  std::vector<std::uint64_t> requests(receives);
  for (std::uint64_t i = 0; i < receives; ++i)
    requests[i] = heap + before_requests + i * request_size;
  put_list(process, requests);
  for (std::uint64_t i = 0; i < receives; ++i)
    process.put({requests[i] + 640}, objects[i % objects.size()]); // its communicator
  process.put({library_data + 40 * page_size}, objects[0]);
  process.put({library_data + 41 * page_size}, requests[0]);
  SimulatedLayout layout{"Open MPI, " + std::to_string(receives) + " receives",
                         std::move(process),
                         {},
                         {{library_data / page_size + 40, 2}}};
  layout.walk = [receives](Memory& memory) {
    const auto comm = read_pointer(memory, Platform(), {library_data + 40 * page_size});
    if (!comm || !walk_list(memory, Platform(), *comm, 22))
      return false;
    const auto passes = std::clamp<std::uint64_t>(most_looks / receives, 1, communicators);
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      const auto head = read_pointer(memory, Platform(), {library_data + 41 * page_size});
      if (!head || !walk_list(memory, Platform(), *head, receives))
        return false;
    }
    return true;
  };
  return layout;
}

} // namespace mqbridge
