#include "host/mpi/recorder/recorder_support.h"

#include "dll/recorder/layout.h"
#include "host/mpi/recorder/recorder_process.h"

#include <array>
#include <charconv>

namespace mqbridge::recorder {
namespace {

/// The interface has no fields for what posted an operation and of which datatype: its debug DLL
/// says so in lines (dll/queues/operations.c), "MPI_Irecv" and "12 x MPI_DOUBLE".
void take_details(Operation& operation, TextPool& texts) {
  constexpr std::string_view times = " x ";
  for (const std::string line : operation.text) {
    if (line.starts_with("node ")) // where the DLL read it: for this program alone
      continue;
    std::int64_t count = 0;
    const char* const end = line.data() + line.size();
    const auto [past_count, error] = std::from_chars(line.data(), end, count);
    const std::string_view rest(past_count, static_cast<std::size_t>(end - past_count));
    if (error == std::errc() && count >= 0 && rest.starts_with(times)) {
      operation.count = count;
      operation.datatype = texts.share(rest.substr(times.size()));
    } else if (!operation.call) {
      operation.call = texts.share(line);
    }
  }
}

constexpr std::string_view version_symbol = "mqbridge_recorder_version";
constexpr auto symbols = std::to_array<std::string_view>({MQR_ROOT_SYMBOL});
constexpr auto roots = std::to_array<std::string_view>({version_symbol, MQR_ROOT_SYMBOL});
constexpr auto libraries = std::to_array<std::string_view>({"libmqbridge"});

class Support final : public MpiSupport {
public:
  MpiIdentity identity() const override {
    return {"recorder", "mqbridge recorder", version_symbol, symbols, libraries};
  }
  std::span<const std::string_view> root_symbols() const override { return roots; }

  Result<MpiState> read_state(const AddressSpace& space) const override {
    return recorder::read_state(space);
  }
  bool needs_types() const override { return false; } // its layout is the same everywhere

  Result<void> repair(std::vector<Communicator>& communicators,
                      const AddressSpace&) const override {
    TextPool texts;
    for (auto& communicator : communicators) {
      communicator.context = communicator.id.value; // dll/recorder/layout.h
      for (Queue& queue : communicator.queues)
        for (Operation& operation : queue.operations)
          take_details(operation, texts);
    }
    return {};
  }
};

} // namespace

const MpiSupport& support() {
  static const Support support;
  return support;
}

} // namespace mqbridge::recorder
