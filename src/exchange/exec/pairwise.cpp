// SPDX-License-Identifier: BSD-3-Clause
// Executor pairwise: synchronous exchanges (001 s.3.2, fig. 2), as on the CM-5 and the iPSC/860.
//
//   for every phase:  if this rank sends to the rank from which it receives:
//                       the lower rank receives, then sends; the higher rank sends, then receives
//                     else: it receives and sends at once
//
// Sends are synchronous, and receives are posted only in their phase, so no rank runs ahead of a partner.
//
// Why no rank waits forever: consider the ranks in the lowest phase that is not over. Their partners are in
// this phase, or have completed it. Of two ranks that exchange, one waits for a message that the other is
// sending. All other ranks have posted their receives before they wait for their sends. So some message of
// this phase can always proceed.
#include <utility>

#include "exchange/exec/rows.hpp"
#include "exchange/exec/steps.hpp"

namespace nuice::mpi {
namespace {

class Synchronous : public Steps {
 public:
  using Steps::Steps;

 private:
  using Steps::start_receives;
  void start_receives() override {}  // steps start their own receives
  void begin_step() override {
    start_receives(step_begin().receives, step_end().receives);
    Steps::begin_step();
  }
};

/// Returns the ends of the steps: an exchange of two ranks is two steps, any other phase is one.
std::vector<RequestCount> ends_of_exchanges(const PhaseTable& table,
                                            const std::vector<RequestCount>& of_entries) {
  std::vector<RequestCount> ends;
  RequestCount last;
  for (std::size_t first = 0; first < of_entries.size();) {
    const PhaseEntry& entry = table.entries[first];
    std::size_t next = first + 1;
    while (next < of_entries.size() && table.entries[next].phase == entry.phase) ++next;
    const RequestCount end = of_entries[next - 1];
    const bool is_exchange =
        next == first + 1 && entry.send_partner != no_rank && entry.send_partner == entry.recv_partner;
    const bool receives_first = table.rank < entry.recv_partner;
    if (is_exchange)
      ends.push_back(receives_first ? RequestCount{end.receives, last.sends}
                                    : RequestCount{last.receives, end.sends});
    ends.push_back(end);
    last = end;
    first = next;
  }
  return ends;
}

}  // namespace

std::unique_ptr<Run> bind_pairwise(const Binding& binding) {
  TableRequests requests = make_requests(binding, true);
  std::vector<RequestCount> ends = ends_of_exchanges(binding.table, requests.ends);
  return std::make_unique<Synchronous>(std::move(requests), std::move(ends), binding.arrivals);
}

}  // namespace nuice::mpi
