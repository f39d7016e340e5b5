// SPDX-License-Identifier: BSD-3-Clause
#include "machine/simulator/max_min.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace nuice::machine {
namespace {

constexpr double slack = 1e-9;    // relative difference below which rates are equal, or a resource is full
constexpr double noise = 1e-12;   // rounding error of a zero rate, relative to the resource's scale
constexpr int local_passes = 24;  // after these passes all remaining flows join at once

}  // namespace

MaxMin::MaxMin(std::vector<double> capacities) : resources_(capacities.size()) {
  for (std::size_t r = 0; r < capacities.size(); ++r)
    resources_[r].capacity = resources_[r].scale = capacities[r];
}

void MaxMin::join(FlowId flow) {
  Flow& f = flows_[at(flow)];
  if (f.joined == round_) return;
  f.joined = round_;
  joined_.push_back(flow);
}

void MaxMin::join_all(const Resource& resource) {
  for (const Entry& entry : resource.flows) join(entry.flow);
}

void MaxMin::set_capacity(ResourceId resource, double capacity) {
  Resource& r = resources_[at(resource)];
  if (r.capacity == capacity) return;
  r.capacity = capacity;
  r.scale = std::max(r.scale, capacity);
  if (r.full || r.load > capacity * (1 - slack)) join_all(r);
}

void MaxMin::add(FlowId flow, double cap, std::span<const ResourceId> over) {
  if (at(flow) >= flows_.size()) flows_.resize(at(flow) + 1);
  Flow& f = flows_[at(flow)];
  assert(!f.present);
  f.cap = cap;
  f.rate = 0;
  f.present = true;
  f.bottleneck = -1;
  f.over.clear();
  for (const ResourceId id : over) {
    Resource& r = resources_[at(id)];
    if (r.full) join_all(r);  // its flows must become slower
    f.over.push_back({id, static_cast<std::uint32_t>(r.flows.size())});
    r.flows.push_back({flow, static_cast<std::uint32_t>(f.over.size() - 1)});
  }
  join(flow);
}

void MaxMin::remove(FlowId flow) {
  Flow& f = flows_[at(flow)];
  assert(f.present);
  for (const Use& use : f.over) {
    Resource& r = resources_[at(use.resource)];
    r.flows[use.position] = r.flows.back();
    flows_[at(r.flows[use.position].flow)].over[r.flows[use.position].use].position = use.position;
    r.flows.pop_back();
    r.load = r.flows.empty() ? 0 : r.load - f.rate;  // removes rounding errors when it is empty
    if (!r.full) continue;
    r.full = false;
    for (const Entry& entry : r.flows) {
      if (flows_[at(entry.flow)].bottleneck == use.resource) join(entry.flow);
    }
  }
  f.present = false;
  f.rate = 0;
}

std::span<const FlowId> MaxMin::settle() {
  changed_.clear();
  std::erase_if(joined_, [this](FlowId flow) { return !flows_[at(flow)].present; });
  if (!joined_.empty()) {
    for (int pass = 1;; ++pass) {
      fill();
      if (!extend()) break;
      if (pass < local_passes) continue;
      for (std::size_t flow = 0; flow < flows_.size(); ++flow) {
        if (flows_[flow].present) join(static_cast<FlowId>(flow));
      }
    }
    commit();
  }
  joined_.clear();
  ++round_;
  return changed_;
}

/// Raises the rates of the joined flows together. A flow stops at its limit, or when a resource that it
/// crosses is full.
void MaxMin::fill() {
  prepare();
  const auto higher = [](const Level& a, const Level& b) {
    return a.rate != b.rate ? a.rate > b.rate : a.resource > b.resource;
  };
  std::ranges::make_heap(levels_, higher);
  while (!levels_.empty() && unfrozen_ > 0) {
    std::ranges::pop_heap(levels_, higher);
    const Level level = levels_.back();
    levels_.pop_back();
    freeze_limited(level.rate);
    const Resource& r = resources_[at(level.resource)];
    if (r.unfrozen == 0) continue;
    const double rate = std::max(0.0, r.left) / r.unfrozen;
    if (rate > level.rate * (1 + slack)) {  // other flows have since stopped below their share
      levels_.push_back({rate, level.resource});
      std::ranges::push_heap(levels_, higher);
      continue;
    }
    freeze_all(level.resource, rate);
  }
  freeze_limited(std::numeric_limits<double>::infinity());
}

void MaxMin::freeze_limited(double rate) {
  for (; next_limit_ < by_limit_.size(); ++next_limit_) {
    const FlowId flow = by_limit_[next_limit_];
    const Flow& f = flows_[at(flow)];
    if (f.limit > rate) return;
    if (!f.frozen) freeze(flow, f.limit, f.limited_by);
  }
}

void MaxMin::prepare() {
  take_off();
  limit_flows();
  levels_.clear();
  for (const ResourceId id : touched_) {
    const Resource& r = resources_[at(id)];
    if (r.filled > 1 && r.wanted > r.left) levels_.push_back({std::max(0.0, r.left) / r.unfrozen, id});
  }
  by_limit_ = joined_;
  next_limit_ = 0;
  unfrozen_ = joined_.size();
  const auto lower = [this](FlowId a, FlowId b) {
    return flows_[at(a)].limit != flows_[at(b)].limit ? flows_[at(a)].limit < flows_[at(b)].limit : a < b;
  };
  if (!std::ranges::is_sorted(by_limit_, lower)) std::ranges::sort(by_limit_, lower);
}

/// Removes the rates of the joined flows from their resources.
void MaxMin::take_off() {
  ++pass_;
  touched_.clear();
  for (const FlowId flow : joined_) {
    Flow& f = flows_[at(flow)];
    f.frozen = false;
    for (const Use& use : f.over) {
      Resource& r = resources_[at(use.resource)];
      if (r.touched != pass_) {
        r.touched = pass_;
        touched_.push_back(use.resource);
        r.left = r.capacity - r.load;
        r.wanted = r.fastest = 0;
        r.level = -1;
        r.unfrozen = r.filled = 0;
      }
      r.left += f.rate;
      ++r.unfrozen;
      ++r.filled;
    }
  }
}

/// Sets the limits of joined flows. If a resource has only one joined flow, it limits just this flow. Other
/// resources are shared.
void MaxMin::limit_flows() {
  for (const FlowId flow : joined_) {
    Flow& f = flows_[at(flow)];
    f.limit = f.cap;
    f.limited_by = -1;
    for (const Use& use : f.over) {
      const Resource& r = resources_[at(use.resource)];
      if (r.filled > 1 || r.left >= f.limit) continue;
      f.limit = std::max(0.0, r.left);
      f.limited_by = use.resource;
    }
    for (const Use& use : f.over) resources_[at(use.resource)].wanted += f.limit;
  }
}

void MaxMin::freeze(FlowId flow, double rate, ResourceId bottleneck) {
  Flow& f = flows_[at(flow)];
  f.filled = rate;
  f.filled_bottleneck = bottleneck;
  f.frozen = true;
  --unfrozen_;
  for (const Use& use : f.over) {
    Resource& r = resources_[at(use.resource)];
    r.left -= rate;
    r.fastest = std::max(r.fastest, rate);
    --r.unfrozen;
  }
  if (bottleneck >= 0) resources_[at(bottleneck)].level = std::max(resources_[at(bottleneck)].level, rate);
}

void MaxMin::freeze_all(ResourceId resource, double rate) {
  for (const Entry& entry : resources_[at(resource)].flows) {
    const Flow& f = flows_[at(entry.flow)];
    if (f.joined != round_ || f.frozen) continue;
    if (f.limit <= rate) {
      freeze(entry.flow, f.limit, f.limited_by);
    } else {
      freeze(entry.flow, rate, resource);
    }
  }
}

/// Lets all flows join that violate the condition. Returns false if there are no such flows.
bool MaxMin::extend() {
  const std::size_t before = joined_.size();
  for (const ResourceId id : touched_) extend_over(id);
  return joined_.size() > before;
}

void MaxMin::extend_over(ResourceId id) {
  constexpr double all = std::numeric_limits<double>::infinity();
  Resource& r = resources_[at(id)];
  r.full_now = r.left <= slack * r.scale;
  if (r.filled == r.flows.size() || (!r.full_now && !r.full)) return;
  const bool overfull = r.left < -slack * r.scale;
  const double too_fast = r.level < 0 ? all : r.level * (1 + slack) + noise * r.scale;
  const double too_slow = r.full_now ? r.fastest * (1 - slack) - noise * r.scale : all;
  for (const Entry& entry : r.flows) {
    const Flow& f = flows_[at(entry.flow)];
    if (f.joined == round_) continue;
    if (overfull || f.rate > too_fast || (f.bottleneck == id && f.rate < too_slow)) join(entry.flow);
  }
}

void MaxMin::commit() {
  for (const FlowId flow : joined_) {
    Flow& f = flows_[at(flow)];
    f.bottleneck = f.filled_bottleneck;
    if (f.filled == f.rate) continue;
    for (const Use& use : f.over) resources_[at(use.resource)].load += f.filled - f.rate;
    f.rate = f.filled;
    changed_.push_back(flow);
  }
  for (const ResourceId id : touched_) resources_[at(id)].full = resources_[at(id)].full_now;
}

}  // namespace nuice::machine
