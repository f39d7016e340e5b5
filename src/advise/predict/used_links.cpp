// SPDX-License-Identifier: BSD-3-Clause
#include "advise/predict/used_links.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nuice/core/interrupt.hpp"

namespace nuice::advice {
namespace {

class UsedLinks : public Topology {
 public:
  UsedLinks(std::shared_ptr<const Topology> whole, Rank num_ranks) : whole_(std::move(whole)) {
    for (Rank src = 0; src < num_ranks; ++src) {
      check_interrupt();
      for (Rank dst = 0; dst < num_ranks; ++dst)
        for (std::int64_t path = 0; path < whole_->num_paths(src, dst); ++path)
          whole_->append_path(src, dst, path, links_);
      std::ranges::sort(links_);
      links_.erase(std::ranges::unique(links_).begin(), links_.end());
    }
  }

  std::string name() const override { return whole_->name(); }
  Rank num_ranks() const override { return whole_->num_ranks(); }
  LinkId num_links() const override { return static_cast<LinkId>(links_.size()); }
  Link link(LinkId id) const override { return whole_->link(links_[static_cast<std::size_t>(id)]); }
  std::string vertex_name(std::int32_t vertex) const override { return whole_->vertex_name(vertex); }

  std::int64_t num_paths(Rank src, Rank dst) const override { return whole_->num_paths(src, dst); }
  void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const override {
    const std::size_t begin = route.size();
    whole_->append_route(src, dst, route);
    renumber(route, begin);
  }
  void append_path(Rank src, Rank dst, std::int64_t path, std::vector<LinkId>& route) const override {
    const std::size_t begin = route.size();
    whole_->append_path(src, dst, path, route);
    renumber(route, begin);
  }

 private:
  void renumber(std::vector<LinkId>& route, std::size_t begin) const {
    for (std::size_t i = begin; i < route.size(); ++i)
      route[i] = static_cast<LinkId>(std::ranges::lower_bound(links_, route[i]) - links_.begin());
  }

  std::shared_ptr<const Topology> whole_;
  std::vector<LinkId> links_;  // ascending, so that the order of links is unchanged
};

}  // namespace

std::shared_ptr<const Topology> with_used_links(std::shared_ptr<const Topology> whole, Rank num_ranks) {
  constexpr std::int64_t links_for_a_path = 4;
  const std::int64_t most_paths = whole->num_links() / links_for_a_path;
  if (std::int64_t{num_ranks} * num_ranks > most_paths) return whole;
  std::int64_t paths = 0;
  for (Rank src = 0; src < num_ranks; ++src)
    for (Rank dst = 0; dst < num_ranks; ++dst) paths += whole->num_paths(src, dst);
  if (paths > most_paths) return whole;
  return std::make_shared<UsedLinks>(std::move(whole), num_ranks);
}

}  // namespace nuice::advice
