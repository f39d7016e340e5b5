// SPDX-License-Identifier: BSD-3-Clause
// Max-min fair rates of flows that share resources (ports, links), kept up to date as flows come and go.
//
//   rates are max-min fair  <=>  every flow runs at its own cap, or crosses a full resource on which no flow is faster
//                                (its bottleneck; Bertsekas and Gallager, Data Networks, s.6.5)
//
// After a change only the flows that it touches are filled again, the others keep their rates; then the condition is
// checked on every resource touched, and flows for which it fails join, until it holds for all. So the rates are exact,
// and a change costs as much as the flows whose rates it changes (and their neighbours on full resources).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nuice::machine {

using ResourceId = std::int32_t;
using FlowId = std::int32_t;  ///< Small numbers, used again: arrays are indexed by them.

class MaxMin {
 public:
  /// Resources 0 .. capacities.size() - 1, in bytes per second.
  explicit MaxMin(std::vector<double> capacities);

  void set_capacity(ResourceId resource, double capacity);
  /// A flow of at most `cap` bytes per second over these resources, each named once. Its rate is 0 until settle().
  void add(FlowId flow, double cap, std::span<const ResourceId> over);
  void remove(FlowId flow);

  /// Makes the rates fair and returns the flows whose rates have changed (new ones included), in no promised order but
  /// the same one every time. Valid until the next call.
  std::span<const FlowId> settle();

  double rate(FlowId flow) const { return flows_[at(flow)].rate; }
  double capacity(ResourceId resource) const { return resources_[at(resource)].capacity; }
  std::size_t num_flows(ResourceId resource) const { return resources_[at(resource)].flows.size(); }

 private:
  struct Use {  // a flow on a resource
    ResourceId resource;
    std::uint32_t position;  // in the resource's list
  };
  struct Entry {  // the same, seen from the resource
    FlowId flow;
    std::uint32_t use;  // in the flow's list
  };
  struct Flow {
    double cap = 0;
    double rate = 0;
    ResourceId bottleneck = -1;
    double filled = 0;  // the rate that is being worked out
    ResourceId filled_bottleneck = -1;
    double limit = 0;            // cap, or less where it is the only one to be filled on a resource ...
    ResourceId limited_by = -1;  // ... this one
    std::uint32_t joined = 0;    // the round in which it is filled again
    bool frozen = false;
    bool present = false;
    std::vector<Use> over;
  };
  struct Resource {
    double capacity = 0;
    double scale = 0;  // the largest capacity that it has had: what rounding is measured by
    double load = 0;
    bool full = false;
    bool full_now = false;  // after the filling that is being checked
    std::uint32_t touched = 0;
    double left = 0;     // what the filling may still hand out
    double wanted = 0;   // sum of the caps of the flows filled
    double fastest = 0;  // among the flows filled
    double level = 0;    // of the flows filled whose bottleneck it is; -1 if there are none
    std::uint32_t unfrozen = 0;
    std::uint32_t filled = 0;  // how many of its flows are filled
    std::vector<Entry> flows;
  };
  struct Level {
    double rate;
    ResourceId resource;
  };

  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }
  void join(FlowId flow);
  void join_all(const Resource& resource);
  void fill();
  void prepare();
  void take_off();
  void limit_flows();
  void freeze_limited(double rate);
  void freeze(FlowId flow, double rate, ResourceId bottleneck);
  void freeze_all(ResourceId resource, double rate);
  bool extend();
  void extend_over(ResourceId id);
  void commit();

  std::vector<Flow> flows_;
  std::vector<Resource> resources_;
  std::vector<FlowId> joined_;
  std::vector<FlowId> changed_;
  std::vector<FlowId> by_limit_;
  std::size_t next_limit_ = 0;  // into by_limit_
  std::size_t unfrozen_ = 0;    // of the joined flows
  std::vector<ResourceId> touched_;
  std::vector<Level> levels_;  // heap
  std::uint32_t round_ = 1;    // of settle()
  std::uint32_t pass_ = 1;     // of fill()
};

}  // namespace nuice::machine
