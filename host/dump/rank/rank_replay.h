#pragma once

#include "host/dump/replay_records.h"
#include "host/process/image_set.h"

#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Hints from earlier dumps of one process for this one, and from this one for the next. One
/// thread.
class RankReplay final : public ReplayHints {
public:
  /// `records` is not owned and outlives this; null: nothing is known, nothing kept.
  explicit RankReplay(ReplayRecords* records) : records_(records) {}

  PageRuns process_pages(std::string_view identity) override;
  PageRuns image_pages(std::string_view build_id) override;

  /// The last result of process_pages().
  const PageRuns& known() const { return known_; }

  /// Notes, while the target is attached, which pages of the process with this identity were looked
  /// at; pages in the writable data of an image are noted for the image, too.
  void take_down(std::string identity, PageRuns touched, const ImageSet* images);
  /// Stores the notes: to be called when no target waits any more.
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
