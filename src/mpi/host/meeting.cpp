// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/meeting.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "mpi/call.hpp"
#include "mpi/discover/sparse.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
namespace {

/// A run of consecutive ranks.
struct Run {
  Rank first;
  Rank count;
};

struct Visitor {
  std::uint64_t number;
  Rank rank;
};

/// Returns the ranks that have sent their number to this rank, by number and rank.
std::vector<Visitor> receive_visitors(const Communicator& comm, Rank keeper, std::uint64_t mine) {
  SparseExchange sparse(comm, meeting_tag());
  SparseExchange::Box box;
  box.add(keeper, std::as_bytes(std::span(&mine, 1)));
  SparseExchange::Sums sums{};
  const SparseExchange::Box& inbox = sparse.run(std::move(box), sums, sizeof mine);
  std::vector<Visitor> visitors;
  for (const auto& item : inbox.items) {
    Visitor& visitor = visitors.emplace_back(Visitor{0, item.partner});
    std::memcpy(&visitor.number, inbox.of(item).data(), sizeof visitor.number);
  }
  std::ranges::sort(visitors, {}, [](const Visitor& v) { return std::pair(v.number, v.rank); });
  return visitors;
}

std::vector<Run> runs_of(std::span<const Visitor> visitors) {
  std::vector<Run> runs;
  for (const Visitor& visitor : visitors) {
    const bool follows = !runs.empty() && visitor.rank == runs.back().first + runs.back().count;
    if (follows) {
      ++runs.back().count;
    } else {
      runs.push_back({visitor.rank, 1});
    }
  }
  return runs;
}

/// The answers to all visitors. They are kept until they are sent. If this rank stops waiting, they are left
/// to MPI.
class Answers {
 public:
  Answers(const Communicator& comm, std::vector<Visitor> visitors)
      : comm_(comm), pending_(std::make_unique<Pending>()) {
    pending_->visitors = std::move(visitors);
    const auto& all = pending_->visitors;
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin;
      while (end < all.size() && all[end].number == all[begin].number) ++end;
      pending_->groups.push_back(runs_of(std::span(all).subspan(begin, end - begin)));
      pending_->group_of.resize(end, pending_->groups.size() - 1);
      begin = end;
    }
    for (const auto& runs : pending_->groups) pending_->sizes.push_back(static_cast<int>(runs.size()));
  }

  /// keeper: the rank that answers this rank.
  std::vector<Run> exchange(Rank keeper) {
    Pending& p = *pending_;
    try {
      pass(keeper, std::as_writable_bytes(std::span(&p.size, 1)),
           [&](std::size_t group) { return std::as_bytes(std::span(&p.sizes[group], 1)); });
      p.mine.resize(static_cast<std::size_t>(p.size));
      pass(keeper, std::as_writable_bytes(std::span(p.mine)),
           [&](std::size_t group) { return std::as_bytes(std::span(p.groups[group])); });
    } catch (...) {
      comm_.give_up();
      (void)pending_.release();
      throw;
    }
    return std::move(p.mine);
  }

 private:
  struct Pending {
    std::vector<Visitor> visitors;
    std::vector<std::vector<Run>> groups;
    std::vector<std::size_t> group_of;  // by visitor
    std::vector<int> sizes;             // by group
    int size = 0;
    std::vector<Run> mine;
    std::vector<MPI_Request> requests;
  };

  template <typename Of>
  void pass(Rank keeper, std::span<std::byte> to, Of&& of_group) {
    Pending& p = *pending_;
    p.requests.assign(p.visitors.size() + 1, MPI_REQUEST_NULL);
    must(MPI_Irecv(to.data(), static_cast<int>(to.size()), MPI_BYTE, keeper, host_tag(), comm_.get(),
                   &p.requests.back()),
         "MPI_Irecv");
    for (std::size_t i = 0; i < p.visitors.size(); ++i) {
      const std::span<const std::byte> from = of_group(p.group_of[i]);
      must(MPI_Isend(from.data(), static_cast<int>(from.size()), MPI_BYTE, p.visitors[i].rank, host_tag(),
                     comm_.get(), &p.requests[i]),
           "MPI_Isend");
    }
    wait_all(comm_, p.requests, "finding the ranks of a host");
  }

  const Communicator& comm_;
  std::unique_ptr<Pending> pending_;
};

}  // namespace

std::vector<Rank> meet(const Communicator& comm, std::uint64_t mine) {
  const auto keeper = static_cast<Rank>(mine % static_cast<std::uint64_t>(comm.num_ranks()));
  Answers answers(comm, receive_visitors(comm, keeper, mine));
  std::vector<Rank> ranks;
  for (const auto& [first, count] : answers.exchange(keeper))
    for (Rank i = 0; i < count; ++i) ranks.push_back(first + i);
  return ranks;
}

}  // namespace nuice::mpi
