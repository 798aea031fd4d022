#pragma once

#include "bench/queue_walk/cache_states.h"
#include "bench/queue_walk/contender.h"
#include "host/memory/cache_mode.h"
#include "rsp/packet/trace.h"

#include <string>
#include <vector>

namespace mqbridge::bench {

/// mqbridge itself, as its library: take_dump() in this process.
class OwnDump {
public:
  OwnDump(CacheMode cache, Knowledge knowledge, CacheStates& states)
      : cache_(cache), knowledge_(knowledge), states_(states) {}

  std::string name() const;
  /// `trace`: gets every packet; null: none.
  Result<Attempt> run(Stage& stage, const Cell& cell, rsp::Trace* trace = nullptr) const;

private:
  void prepare(Stage& stage, const Cell& cell) const;

  CacheMode cache_;
  Knowledge knowledge_;
  CacheStates& states_; ///< outlives it
};

/// mqbridge in all variants: without a cache, with plain pages, and with the full cache in each
/// state of knowledge.
std::vector<Contender> own_contenders(CacheStates& states);

} // namespace mqbridge::bench
