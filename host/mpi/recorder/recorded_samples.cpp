#include "host/mpi/recorder/recorded_samples.h"

#include "host/codes.h"
#include "host/limits.h"
#include "host/mpi/recorder/tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace mqbridge::recorder {
namespace {

constexpr BlockShape samples_shape = {"the recorder's sample of performance variables",
                                      MQR_MAGIC_SAMPLES, sizeof(mqr_samples), MQR_MAX_SAMPLES_SIZE};

std::string text_at(const Record& record) {
  std::string text;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const auto byte = record.u8(i);
    if (byte == 0)
      break;
    text.push_back(static_cast<char>(byte));
  }
  return text;
}

struct Known {
  std::string name;
  bool inter = false;
};

struct Communicators {
  std::map<std::uint64_t, Known> by_id;
  bool whole = true; ///< false: there may be more
};

Result<Communicators> read_communicators(const AddressSpace& space, const Root& root) {
  auto list = read_list(space, root.communicators, MQR_MAGIC_COMMUNICATOR, root.communicator_size,
                        root.updating, most_communicators);
  if (!list)
    return forward(std::move(list));
  Tables texts(space);
  for (const auto& node : list->nodes)
    texts.want(node.record(space).u64(offsetof(mqr_communicator, name)), MQR_NAME_SIZE);
  if (auto done = texts.read(); !done)
    return forward(std::move(done));
  Communicators known;
  known.whole = list->whole;
  for (std::size_t i = 0; i < list->nodes.size(); ++i) {
    const auto record = list->nodes[i].record(space);
    const auto text = texts.at(i);
    known.by_id[record.u64(offsetof(mqr_communicator, id))] = {
        text ? text_at(*text) : "", record.u32(offsetof(mqr_node, kind)) == MQR_INTER};
  }
  return known;
}

/// Decodes the block. After an error the decoded part is worthless.
class Samples {
public:
  Samples(const Block& block, const Communicators& known, std::span<const ValueForm> forms)
      : block_(block), known_(known), forms_(forms), readings_(forms.size()) {}

  Result<void> add(const Record& record, std::optional<double> age) {
    const auto variable = record.u32(offsetof(mqr_reading, variable));
    if (variable >= forms_.size())
      return Failure(block_.damage("a reading of no variable"));
    VariableReading reading;
    reading.earlier = true;
    reading.age_s = age;
    if (record.u32(offsetof(mqr_reading, bound)) != 0) {
      reading.context = record.u64(offsetof(mqr_reading, communicator));
      const auto communicator = known_.by_id.find(*reading.context);
      if (communicator == known_.by_id.end() && known_.whole)
        return {}; // the communicator was freed since
      if (communicator != known_.by_id.end())
        reading.object = communicator->second.name;
    }
    if (auto done = add_value(reading, record, forms_[variable]); !done)
      return done;
    readings_[variable].push_back(std::move(reading));
    return {};
  }

  /// Adds the communicators that were not sampled. False: there are too many of them.
  bool add_unsampled() {
    std::size_t added = 0;
    for (auto& readings : readings_) {
      std::set<std::uint64_t> sampled;
      for (const auto& reading : readings)
        if (reading.context)
          sampled.insert(*reading.context);
      for (const auto& [id, communicator] : known_.by_id) {
        if (sampled.empty() || sampled.contains(id))
          continue;
        if (++added > limits::variables)
          return false;
        VariableReading missing;
        missing.object = communicator.name;
        missing.context = id;
        missing.reason = communicator.inter ? "the recorder samples no intercommunicators"
                                            : "the recorder has not sampled this communicator";
        readings.push_back(std::move(missing));
      }
    }
    return true;
  }

  std::vector<std::vector<VariableReading>> take() { return std::move(readings_); }

private:
  Result<void> add_value(VariableReading& reading, const Record& record, const ValueForm& form) {
    const auto state = record.u32(offsetof(mqr_reading, state));
    if (state != MQR_VALUE_READ) {
      reading.reason = reason_of(state, record.i32(offsetof(mqr_reading, error)));
      return {};
    }
    const auto bytes =
        block_.bytes(block_.whole(), record.u32(offsetof(mqr_reading, value)),
                     std::uint64_t{record.u32(offsetof(mqr_reading, count))} * form.element);
    // Values do not share their bytes: together they are no longer than the block.
    if (!bytes || bytes->size() > block_.whole().count - spent_)
      return Failure(block_.damage("a value reaches beyond its end"));
    spent_ += bytes->size();
    reading.value = decode_value(*bytes, form, block_.order());
    if (!reading.value)
      reading.reason = reason_of(MQR_VALUE_FORM, 0);
    return {};
  }

  const Block& block_;
  const Communicators& known_;
  std::span<const ValueForm> forms_;
  std::vector<std::vector<VariableReading>> readings_;
  std::size_t spent_ = 0;
};

} // namespace

std::optional<double> age_of(std::uint64_t then, Warnings& warnings) {
  constexpr double unsure = 1; // seconds
  const double age = seconds_since(then);
  if (age >= -unsure)
    return std::max(age, 0.0);
  const bool said = std::any_of(warnings.begin(), warnings.end(), [](const Error& warning) {
    return warning.code == codes::variables_clock;
  });
  if (!said)
    warnings.push_back({codes::variables_clock,
                        fmt::format("the clock of the target's computer is {:.0f} s ahead of this "
                                    "one's: how old the variables are is not known",
                                    -age),
                        "set the clocks of both computers (chronyc tracking, timedatectl)"});
  return std::nullopt;
}

Result<std::vector<std::vector<VariableReading>>>
read_samples(const AddressSpace& space, const Root& root, std::uint64_t address,
             std::span<const ValueForm> forms, Warnings& warnings) {
  auto block = Block::read(space, address, samples_shape);
  if (!block)
    return forward(std::move(block));
  auto part = block->part(offsetof(mqr_samples, readings), sizeof(mqr_reading), samples_shape.most);
  if (!part)
    return forward(std::move(part));
  auto known = read_communicators(space, root);
  if (!known)
    return forward(std::move(known));
  const auto age = age_of(block->header().u64(offsetof(mqr_samples, taken)), warnings);
  Samples samples(*block, *known, forms);
  for (std::size_t i = 0; i < part->count; ++i)
    if (auto done = samples.add(block->entry(*part, i), age); !done)
      return forward(std::move(done));
  const bool cut = (block->header().u32(offsetof(mqr_samples, flags)) & MQR_SAMPLES_CUT) != 0;
  if (!samples.add_unsampled() || !known->whole || cut)
    warnings.push_back({"variables.unsampled",
                        "performance variables of some communicators are missing: there are too "
                        "many communicators, memory was short, or the recorder's list is damaged",
                        "mqbridge dump says what is wrong with that list"});
  return samples.take();
}

} // namespace mqbridge::recorder
