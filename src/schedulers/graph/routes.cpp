// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/routes.hpp"

#include <utility>

#include "schedulers/rows.hpp"

namespace nuice::sched {

Routes::Routes(const Problem& problem, std::span<const std::int64_t> paths) {
  const CommMatrix& matrix = problem.matrix;
  const Topology& topology = *problem.topology;
  std::vector<MessageId> crossed_by(static_cast<std::size_t>(topology.num_links()), 0);
  begin_.reserve(std::size_t{matrix.num_messages()} + 1);
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    begin_.push_back(links_.size());
    topology.append_way(matrix.src(id), matrix.dst(id), paths.empty() ? no_path : paths[id], links_);
    for (std::size_t i = begin_.back(); i < links_.size(); ++i)
      ++crossed_by[static_cast<std::size_t>(links_[i])];
  }
  begin_.push_back(links_.size());

  constexpr std::int32_t left_out = -1;
  std::vector<std::int32_t> number_of(crossed_by.size(), left_out);
  for (LinkId id = 0; id < topology.num_links(); ++id) {
    const MessageId load = crossed_by[static_cast<std::size_t>(id)];
    const std::int64_t slots = load > 1 ? topology.link(id).slots() : 1;
    if (std::cmp_less_equal(load, slots)) continue;
    number_of[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(slots_.size());
    slots_.push_back(slots);
    load_.push_back(load);
  }

  std::size_t end = 0;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    const std::size_t begin = end;
    for (std::size_t i = begin_[id]; i < begin_[id + 1]; ++i) {
      const std::int32_t number = number_of[static_cast<std::size_t>(links_[i])];
      if (number != left_out) links_[end++] = number;
    }
    begin_[id] = begin;
  }
  begin_[matrix.num_messages()] = end;
  links_.resize(end);
}

std::string why_not_link_free(const Problem& problem) {
  if (problem.topology == nullptr) return "it needs a network (a topology) whose links to keep free";
  const Rank num_ranks = problem.matrix.num_ranks();
  if (problem.topology->num_ranks() >= num_ranks) return {};
  return "topology " + problem.topology->name() + " has " + std::to_string(problem.topology->num_ranks()) +
         " ranks, the matrix has " + std::to_string(num_ranks);
}

}  // namespace nuice::sched
