// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/tree_paths.hpp"

#include <algorithm>
#include <span>

#include "nuice/core/interrupt.hpp"
#include "schedulers/graph/regular_graph.hpp"

namespace nuice::sched {
namespace {

class TreePaths {
 public:
  TreePaths(const CommMatrix& matrix, const Topology& tree)
      : matrix_(matrix),
        levels_(tree.levels()),
        phase_of_(matrix.num_messages(), 0),
        path_(matrix.num_messages(), no_path) {}

  Schedule make(const Schedule& schedule) {
    PhaseId num_phases = 0;
    std::vector<MessageId> ids;
    for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
      check_interrupt();
      ids.clear();
      for (const Transfer transfer : schedule.transfers(phase)) ids.push_back(transfer.pieces[0].message);
      for (const MessageId id : ids) phase_of_[id] = num_phases;
      num_parts_ = 1;
      choose(ids, 0, 1, 1);
      num_phases += num_parts_;
    }
    return Schedule::of_whole_messages(matrix_, phase_of_, num_phases, path_);
  }

 private:
  /// Chooses cables from `level` upwards for those of the messages `ids` whose source and destination lie in
  /// different subtrees of this level. weight: the factor of the cable's number in the path number. parts:
  /// the number of parts into which the levels below have divided the phase.
  void choose(std::span<const MessageId> ids, std::size_t level, std::int64_t weight, PhaseId parts) {
    if (level + 1 == levels_.size()) return;
    const auto [ranks, cables] = levels_[level];
    std::vector<MessageId> higher;
    std::vector<Ends> ends;
    for (const MessageId id : ids) {
      const Ends subtrees{matrix_.src(id) / ranks, matrix_.dst(id) / ranks,
                          static_cast<MessageId>(ends.size())};
      if (subtrees.src == subtrees.dst) continue;
      higher.push_back(id);
      ends.push_back(subtrees);
    }
    if (ends.empty()) return;
    const std::vector<PhaseId> colours =
        color_between_nodes(levels_.back().ranks / ranks, ends, static_cast<MessageId>(ends.size()));
    const auto num_cables = static_cast<PhaseId>(cables);
    std::vector<std::vector<MessageId>> of_colour(std::ranges::max(colours) + 1);
    for (std::size_t i = 0; i < higher.size(); ++i) {
      path_[higher[i]] = std::max<std::int64_t>(path_[higher[i]], 0) + weight * (colours[i] % num_cables);
      phase_of_[higher[i]] += parts * (colours[i] / num_cables);
      of_colour[colours[i]].push_back(higher[i]);
    }
    parts *= (static_cast<PhaseId>(of_colour.size()) + num_cables - 1) / num_cables;
    num_parts_ = std::max(num_parts_, parts);
    for (const auto& those : of_colour) choose(those, level + 1, weight * cables, parts);
  }

  const CommMatrix& matrix_;
  const std::vector<TreeLevel> levels_;
  std::vector<PhaseId> phase_of_;   // by message
  std::vector<std::int64_t> path_;  // by message
  PhaseId num_parts_ = 1;           // of the current phase
};

}  // namespace

Schedule choose_tree_paths(const CommMatrix& matrix, const Schedule& schedule, const Topology& tree) {
  return TreePaths(matrix, tree).make(schedule);
}

}  // namespace nuice::sched
