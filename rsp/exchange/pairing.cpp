#include "rsp/exchange/pairing.h"

namespace mqbridge::rsp {

void Pairing::begin() {
  stale_ = outstanding_;
  in_doubt_ = confirmed_ = false;
}

bool Pairing::take() {
  if (outstanding_ > 0)
    --outstanding_;
  if (stale_ == 0)
    return true;
  --stale_;
  return false;
}

void Pairing::acknowledged(bool acked, bool more_behind) {
  in_doubt_ |= (stub_acks_ && !acked) || more_behind;
  stub_acks_ |= acked;
}

void Pairing::in_step() {
  owes_nothing();
  in_doubt_ = out_of_step_ = false;
}

void Pairing::passed(const StepCheck& check) {
  mute_ = check.mute();
  confirmed_ = true;
}

} // namespace mqbridge::rsp
