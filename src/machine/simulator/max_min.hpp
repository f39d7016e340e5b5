// SPDX-License-Identifier: BSD-3-Clause
// Max-min fair rates of flows that share resources (ports, links). The rates are updated as flows come and
// go.
//
//   rates are max-min fair  <=>  every flow runs at its own cap, or crosses a full resource on which no flow
//                                is faster (its bottleneck; Bertsekas and Gallager, Data Networks, s.6.5)
//
// After a change only the affected flows get new rates; the other flows keep theirs. Then the condition is
// checked on every resource concerned. Flows that violate it join the affected flows, until all flows satisfy
// it. So the rates are exact. A change costs as much as the flows whose rates it changes (and their
// neighbours on full resources).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nuice::machine {

using ResourceId = std::int32_t;
using FlowId = std::int32_t;  ///< A small number. It is used again for later flows, because it is an index of
                              ///< arrays.

class MaxMin {
 public:
  /// Makes resources 0 .. capacities.size() - 1 with capacities in bytes per second.
  explicit MaxMin(std::vector<double> capacities);

  void set_capacity(ResourceId resource, double capacity);
  /// Adds a flow of at most `cap` bytes per second over these resources, each listed once. Its rate is 0
  /// until settle() is called.
  void add(FlowId flow, double cap, std::span<const ResourceId> over);
  void remove(FlowId flow);

  /// Makes the rates fair, and returns the flows whose rates have changed, including new flows. The flows are
  /// in the same order in every run. The span is valid until the next call.
  std::span<const FlowId> settle();

  double rate(FlowId flow) const { return flows_[at(flow)].rate; }
  double capacity(ResourceId resource) const { return resources_[at(resource)].capacity; }
  std::size_t num_flows(ResourceId resource) const { return resources_[at(resource)].flows.size(); }

 private:
  struct Use {  // a resource that a flow uses
    ResourceId resource;
    std::uint32_t position;  // index of the flow in the resource's list
  };
  struct Entry {  // a flow that uses a resource
    FlowId flow;
    std::uint32_t use;  // index of the resource in the flow's list
  };
  struct Flow {
    double cap = 0;
    double rate = 0;
    ResourceId bottleneck = -1;
    double filled = 0;  // the rate that is being computed
    ResourceId filled_bottleneck = -1;
    double limit = 0;            // cap, or less if it is the only joined flow on the resource limited_by
    ResourceId limited_by = -1;  // the resource that sets the limit; -1: cap
    std::uint32_t joined = 0;    // the round in which it joined
    bool frozen = false;
    bool present = false;
    std::vector<Use> over;
  };
  struct Resource {
    double capacity = 0;
    double scale = 0;  // the largest capacity so far, relative to which rounding is judged
    double load = 0;
    bool full = false;
    bool full_now = false;  // whether it is full after the filling that is being checked
    std::uint32_t touched = 0;
    double left = 0;     // the capacity that the filling may still distribute
    double wanted = 0;   // the sum of the caps of the joined flows
    double fastest = 0;  // the highest rate of the joined flows
    double level = 0;    // the rate of joined flows whose bottleneck it is; -1 if there are none
    std::uint32_t unfrozen = 0;
    std::uint32_t filled = 0;  // the number of its joined flows
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
  std::size_t next_limit_ = 0;  // index into by_limit_
  std::size_t unfrozen_ = 0;    // the number of joined flows that can still grow
  std::vector<ResourceId> touched_;
  std::vector<Level> levels_;  // a heap
  std::uint32_t round_ = 1;    // counts calls of settle()
  std::uint32_t pass_ = 1;     // counts calls of fill()
};

}  // namespace nuice::machine
