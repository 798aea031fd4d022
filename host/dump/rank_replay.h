#pragma once

#include "host/dump/replay_records.h"
#include "host/process/image_set.h"

#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// What earlier dumps of one process tell this one, and what this one tells the next. One thread.
class RankReplay final : public ReplayHints {
public:
  /// `records` is not owned and outlives this; null: nothing is known, nothing kept.
  explicit RankReplay(ReplayRecords* records) : records_(records) {}

  PageRuns process_pages(std::string_view identity) override;
  PageRuns image_pages(std::string_view build_id) override;

  /// What process_pages() gave.
  const PageRuns& known() const { return known_; }

  /// Takes down, while the target is attached, which pages of the process that has this identity
  /// were looked at; those in the writable data of an image count for it, too.
  void take_down(std::string identity, PageRuns touched, const ImageSet* images);
  /// Writes down what was taken down: when no target waits any more.
  void keep();

private:
  ReplayRecords* records_;
  PageRuns known_;
  std::string identity_;
  PageRuns touched_;
  std::vector<std::pair<std::string, PageRuns>> of_images_; ///< by build-id, relative to the bias
};

/// The pages of `touched` that lie in writable segments of `image`, relative to its load bias.
PageRuns pages_of_image(const Image& image, const PageRuns& touched);

} // namespace mqbridge
