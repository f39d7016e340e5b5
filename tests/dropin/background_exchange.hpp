// SPDX-License-Identifier: BSD-3-Clause
// All-to-alls of a program that knows nothing of NUICE: patterns, exchanges whose every byte is compared, and ways to complete them.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5  // whose mpi.h does not declare them either
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
extern "C" int MPIX_Alltoallv_init(const void*, const int*, const int*, MPI_Datatype, void*, const int*,
                                   const int*, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
extern "C" int MPIX_Neighbor_alltoallv_init(const void*, const int*, const int*, MPI_Datatype, void*,
                                            const int*, const int*, MPI_Datatype, MPI_Comm, MPI_Info,
                                            MPI_Request*);
extern "C" int MPIX_Neighbor_alltoallw_init(const void*, const int*, const MPI_Aint*, const MPI_Datatype*,
                                            void*, const int*, const MPI_Aint*, const MPI_Datatype*, MPI_Comm,
                                            MPI_Info, MPI_Request*);
#endif

namespace background {

inline bool is_wrong = false;
inline void require(bool holds, const std::string& what) {
  if (!holds) std::fprintf(stderr, "wrong: %s\n", what.c_str());
  is_wrong = is_wrong || !holds;
}

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// What stands at a place to receive: from whom, and from which of the sender's places.
struct Origin {
  int rank;
  int place;
};

/// A communicator, where its blocks go and whence they come.
struct Pattern {
  MPI_Comm comm = MPI_COMM_NULL;
  bool are_neighbours = false;
  int num_out = 0;
  std::vector<Origin> origins;
};

inline bool is_there(const Pattern& pattern) { return pattern.comm != MPI_COMM_NULL; }

inline Pattern all_of(MPI_Comm comm) {
  Pattern all{comm, false, size_of(comm), {}};
  for (int rank = 0; rank < all.num_out; ++rank) all.origins.push_back({rank, rank_in(comm)});
  return all;
}

/// A periodic row or a grid of two columns: what left towards one side comes from the other.
inline Pattern grid_of(int columns) {
  const int n = size_of(MPI_COMM_WORLD);
  Pattern grid{MPI_COMM_NULL, true, 4, {}};
  const int sizes[] = {n / columns, columns};
  // Between two ranks that are neighbours on both sides, MPI_Ineighbor_alltoall* of Open MPI 4 and 5 takes the one block for the other.
  const int periods[] = {n / columns > 2, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid.comm);
  for (int d = 0; d < 2 && grid.comm != MPI_COMM_NULL; ++d) {
    int before = 0;
    int after = 0;
    MPI_Cart_shift(grid.comm, d, 1, &before, &after);
    grid.origins.push_back({before, 2 * d + 1});
    grid.origins.push_back({after, 2 * d});
  }
  return grid;
}

/// To the next twice, and all but the last to rank 0.
inline Pattern graph_of(MPI_Comm parent) {
  const int n = size_of(parent);
  const int me = rank_in(parent);
  const auto targets = [n](int rank) {
    std::vector<int> to = {(rank + 1) % n, (rank + 1) % n};
    if (rank != 0 && rank != n - 1) to.push_back(0);
    return to;
  };
  Pattern graph{MPI_COMM_NULL, true, 0, {}};
  std::vector<int> from;
  for (int rank = 0; rank < n; ++rank) {
    const std::vector<int> to = targets(rank);
    for (int place = 0; place < static_cast<int>(to.size()); ++place) {
      if (to[static_cast<std::size_t>(place)] != me) continue;
      from.push_back(rank);
      graph.origins.push_back({rank, place});
    }
  }
  const std::vector<int> to = targets(me);
  graph.num_out = static_cast<int>(to.size());
  MPI_Dist_graph_create_adjacent(parent, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                 graph.num_out, to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph.comm);
  return graph;
}

/// One exchange with memory of its own: blocks of different lengths, of which each has bytes of its own in each turn.
class Exchange {
 public:
  enum class Form { v, w, equal };

  /// seed: the same on all ranks. The blocks of form w leave as every second number.
  Exchange(const Pattern& pattern, Form form, unsigned seed, int most)
      : pattern_(pattern), form_(form), seed_(seed), most_(most) {
    const int me = rank_in(pattern.comm);
    for (int place = 0; place < pattern.num_out; ++place) add(out_, length(me, place));
    for (const auto& [rank, place] : pattern.origins)
      add(in_, rank < 0 ? block_of_none() : length(rank, place));
    data_.resize(2 * static_cast<std::size_t>(out_.total) + 2);
    came_.resize(static_cast<std::size_t>(in_.total) + 1);
    for (const int place : out_.at) out_bytes_.push_back(8 * place);
    for (const int place : in_.at) in_bytes_.push_back(4 * place);
    out_aints_.assign(out_bytes_.begin(), out_bytes_.end());
    in_aints_.assign(in_bytes_.begin(), in_bytes_.end());
  }

  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { free_types(); }

  void run() {
    fill();
    with_types([&] {
      call(MPI_Alltoallv, MPI_Neighbor_alltoallv, MPI_Alltoallw, MPI_Neighbor_alltoallw, MPI_Alltoall,
           MPI_Neighbor_alltoall);
    });
    check();
  }
  void begin(MPI_Request* request) {
    fill();
    with_types([&] {
      call(MPI_Ialltoallv, MPI_Ineighbor_alltoallv, MPI_Ialltoallw, MPI_Ineighbor_alltoallw, MPI_Ialltoall,
           MPI_Ineighbor_alltoall, request);
    });
  }
  /// Of v, and of w among neighbours.
  bool may_persist() const { return form_ == Form::v || (form_ == Form::w && pattern_.are_neighbours); }
  void init(MPI_Request* request) {
    keeps_types_ = true;  // Open MPI 5 does not keep those of MPI_Neighbor_alltoallw_init
    with_types([&] {
      if (form_ == Form::w) {
        MPI_Neighbor_alltoallw_init(data_.data(), ones_.data(), out_aints_.data(), out_types_.data(),
                                    came_.data(), in_.counts.data(), in_aints_.data(), in_types_.data(),
                                    pattern_.comm, MPI_INFO_NULL, request);
        return;
      }
      const auto init = pattern_.are_neighbours ? MPI_Neighbor_alltoallv_init : MPI_Alltoallv_init;
      init(data_.data(), out_.counts.data(), out_.at.data(), MPI_INT, came_.data(), in_.counts.data(),
           in_.at.data(), MPI_INT, pattern_.comm, MPI_INFO_NULL, request);
    });
  }
  void fill() {
    ++turn_;
    const int me = rank_in(pattern_.comm);
    std::fill(came_.begin(), came_.end(), -1);
    for (std::size_t j = 0; j < out_.counts.size(); ++j)
      for (int i = 0; i < out_.counts[j]; ++i) {
        const int at = out_.at[j] + i;
        data_[static_cast<std::size_t>(form_ == Form::w ? 2 * at : at)] = mark(me, static_cast<int>(j), i);
      }
  }
  const Pattern& pattern() const { return pattern_; }
  void check() const {
    for (std::size_t j = 0; j < in_.counts.size(); ++j)
      for (int i = 0; i < in_.counts[j]; ++i) {
        const auto [rank, place] = pattern_.origins[j];
        const int expected = rank < 0 ? -1 : mark(rank, place, i);
        if (came_[static_cast<std::size_t>(in_.at[j] + i)] == expected) continue;
        return require(false, "block " + std::to_string(j) + ", number " + std::to_string(i) + " of " +
                                  std::to_string(in_.counts[j]));
      }
  }

 private:
  struct Side {
    std::vector<int> counts, at;
    int total = 0;
  };
  static void add(Side& side, int count) {
    side.counts.push_back(count);
    side.at.push_back(side.total);
    side.total += count;
  }
  int block_of_none() const { return form_ == Form::equal ? most_ : 0; }
  int length(int src, int place) const {
    if (form_ == Form::equal) return most_;
    const unsigned drawn =
        (seed_ + 7U * static_cast<unsigned>(src) + 13U * static_cast<unsigned>(place)) % 6U;
    return drawn == 0 ? 0 : drawn == 1 ? 3 : most_ + 31 * src + place;
  }
  int mark(int src, int place, int i) const {
    return static_cast<int>((seed_ * 977U + static_cast<unsigned>(turn_) * 131U +
                             static_cast<unsigned>(src) * 17U + static_cast<unsigned>(place)) %
                            100'000U) *
               10'000 +
           i % 10'000;
  }
  /// Types that are gone once the call has returned, unless it is for good.
  template <typename Act>
  void with_types(Act&& act) {
    out_types_.clear();
    MPI_Type_contiguous(1, MPI_INT, &in_type_);
    MPI_Type_commit(&in_type_);
    in_types_.assign(in_.counts.size() + 1, in_type_);
    ones_.assign(out_.counts.size() + 1, 1);
    for (const int count : out_.counts) {
      MPI_Type_vector(count, 1, 2, MPI_INT, &out_types_.emplace_back());
      MPI_Type_commit(&out_types_.back());
    }
    act();
    if (!keeps_types_) free_types();
  }
  void free_types() {
    for (MPI_Datatype& each : out_types_) MPI_Type_free(&each);
    if (!out_types_.empty()) MPI_Type_free(&in_type_);
    out_types_.clear();
  }
  template <typename V, typename NV, typename W, typename NW, typename E, typename NE, typename... Request>
  void call(V v, NV neighbor_v, W w, NW neighbor_w, E equal, NE neighbor_equal, Request... request) {
    if (form_ == Form::equal) {
      const auto own = pattern_.are_neighbours ? neighbor_equal : equal;
      own(data_.data(), most_, MPI_INT, came_.data(), most_, MPI_INT, pattern_.comm, request...);
    } else if (form_ == Form::v) {
      const auto own = pattern_.are_neighbours ? neighbor_v : v;
      own(data_.data(), out_.counts.data(), out_.at.data(), MPI_INT, came_.data(), in_.counts.data(),
          in_.at.data(), MPI_INT, pattern_.comm, request...);
    } else if (pattern_.are_neighbours) {
      neighbor_w(data_.data(), ones_.data(), out_aints_.data(), out_types_.data(), came_.data(),
                 in_.counts.data(), in_aints_.data(), in_types_.data(), pattern_.comm, request...);
    } else {
      w(data_.data(), ones_.data(), out_bytes_.data(), out_types_.data(), came_.data(), in_.counts.data(),
        in_bytes_.data(), in_types_.data(), pattern_.comm, request...);
    }
  }

  const Pattern& pattern_;
  Form form_;
  unsigned seed_;
  int most_;
  int turn_ = 0;
  bool keeps_types_ = false;
  Side out_, in_;
  std::vector<int> data_, came_, out_bytes_, in_bytes_, ones_;
  std::vector<MPI_Aint> out_aints_, in_aints_;
  std::vector<MPI_Datatype> out_types_, in_types_;
  MPI_Datatype in_type_ = MPI_DATATYPE_NULL;
};

/// All of these requests, in one of MPI's ways; done(i) as soon as the i-th is complete.
inline void complete(std::vector<MPI_Request>& requests, unsigned way, const std::function<void(int)>& done) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> indices(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  int left = count;
  int flag = 0;
  int some = 0;
  const auto take = [&](int i) {
    require(i >= 0 && i < count, "index");
    done(i);
    --left;
  };
  switch (way % 8) {
    case 0:
      for (int i = count - 1; i >= 0; --i) {
        MPI_Wait(&requests[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE);
        take(i);
      }
      break;
    case 1:
      MPI_Waitall(count, requests.data(), statuses.data());
      for (int i = 0; i < count; ++i) take(i);
      break;
    case 2:
      while (left > 0) {
        MPI_Waitany(count, requests.data(), &some, statuses.data());
        take(some);
      }
      MPI_Waitany(count, requests.data(), &some, statuses.data());
      require(some == MPI_UNDEFINED, "nothing is active");
      break;
    case 3:
      while (left > 0) {
        MPI_Waitsome(count, requests.data(), &some, indices.data(), statuses.data());
        for (int i = 0; i < some; ++i) take(indices[static_cast<std::size_t>(i)]);
      }
      break;
    case 4:
      for (int i = 0; i < count; ++i) {
        for (flag = 0; flag == 0;) MPI_Test(&requests[static_cast<std::size_t>(i)], &flag, MPI_STATUS_IGNORE);
        take(i);
      }
      break;
    case 5:
      for (flag = 0; flag == 0;) MPI_Testall(count, requests.data(), &flag, MPI_STATUSES_IGNORE);
      for (int i = 0; i < count; ++i) take(i);
      break;
    case 6:
      while (left > 0) {
        MPI_Testany(count, requests.data(), &some, &flag, statuses.data());
        if (flag != 0) take(some);
      }
      break;
    case 7:
      for (int i = 0; i < count; ++i) {
        MPI_Request& own = requests[static_cast<std::size_t>(i)];
        for (flag = 0; flag == 0;) MPI_Request_get_status(own, &flag, MPI_STATUS_IGNORE);
      }
      while (left > 0) {
        MPI_Testsome(count, requests.data(), &some, indices.data(), statuses.data());
        for (int i = 0; i < some; ++i) take(indices[static_cast<std::size_t>(i)]);
      }
      break;
    default:
      break;
  }
}

/// Numbers that go to the next rank beside all that.
class Passed {
 public:
  Passed(int tag, int count) : out_(static_cast<std::size_t>(count), tag), in_(out_.size(), -1) {
    const int n = size_of(MPI_COMM_WORLD);
    const int me = rank_in(MPI_COMM_WORLD);
    MPI_Irecv(in_.data(), count, MPI_INT, (me + n - 1) % n, tag, MPI_COMM_WORLD, &requests_[0]);
    MPI_Isend(out_.data(), count, MPI_INT, (me + 1) % n, tag, MPI_COMM_WORLD, &requests_[1]);
  }
  const MPI_Request* requests() const { return requests_; }
  void check() const { require(in_ == out_, "what was passed on"); }

 private:
  std::vector<int> out_, in_;
  MPI_Request requests_[2];
};

}  // namespace background
