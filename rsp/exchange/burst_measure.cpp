#include "rsp/exchange/burst_measure.h"

namespace mqbridge::rsp {

void BurstMeasure::replied(Time arrived, std::size_t bytes) {
  if (requests_++ == 0) {
    first_ = arrived;
    first_bytes_ = bytes;
  }
  last_ = arrived;
  bytes_ += bytes;
}

bool BurstMeasure::drained(Time arrived, std::size_t expected, std::size_t received) {
  meter_.came(received, arrived - begun_);
  if (since_ == Time()) {
    since_ = arrived;
    return false;
  }
  drained_ += expected;
  if (!meter_.drained(drained_, arrived - since_))
    return false;
  since_ = arrived;
  drained_ = 0;
  return true;
}

void BurstMeasure::finish(LinkMeter::Manner manner, std::size_t received) const {
  if (requests_ == 0)
    return;
  if (manner == LinkMeter::Manner::pipelined && first_bytes_ <= longest_short_reply)
    meter_.round_trip(first_ - begun_);
  meter_.exchanged({manner, requests_, bytes_, received, last_ - begun_});
}

} // namespace mqbridge::rsp
