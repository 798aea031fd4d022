#include "host/mqs/mpi_support.h"
#include "host/mqs/recorder_process.h"

namespace mqbridge::recorder {
namespace {

class Support final : public MpiSupport {
public:
  Result<MpiState> read_state(ImageSet& images, Memory& memory,
                              const Platform& platform) const override {
    return recorder::read_state(images, memory, platform);
  }
  bool needs_types() const override { return false; } // its layout is the same everywhere
  bool id_is_shared() const override { return true; } // dll/recorder/layout.h
};

} // namespace

const MpiSupport& support() {
  static const Support support;
  return support;
}

} // namespace mqbridge::recorder
