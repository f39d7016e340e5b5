// SPDX-License-Identifier: BSD-3-Clause
// A program that knows nothing of NUICE: all-to-alls that go on in the background, nonblocking and persistent, among blocking ones and other
// requests, completed in every way and in another order on each rank (background_test.py). Prints "all right" if every byte is where it belongs.
//
// usage: background_program soak CALLS [SEED] | asked CALLS NUMBERS | init CALLS NUMBERS | progress | free | cancel | mismatch | late WHERE | threads
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
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

namespace {

bool is_wrong = false;
void require(bool holds, const std::string& what) {
  if (!holds) std::fprintf(stderr, "wrong: %s\n", what.c_str());
  is_wrong = is_wrong || !holds;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
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

bool is_there(const Pattern& pattern) { return pattern.comm != MPI_COMM_NULL; }

Pattern all_of(MPI_Comm comm) {
  Pattern all{comm, false, size_of(comm), {}};
  for (int rank = 0; rank < all.num_out; ++rank) all.origins.push_back({rank, rank_in(comm)});
  return all;
}

/// A periodic row or a grid of two columns: what left towards one side comes from the other.
Pattern grid_of(int columns) {
  const int n = size_of(MPI_COMM_WORLD);
  Pattern grid{MPI_COMM_NULL, true, 4, {}};
  const int sizes[] = {n / columns, columns};
  // Between two ranks that are neighbours on both sides, MPI_Ineighbor_alltoall* of Open MPI 4 and 5 takes the one block for the other.
  const int periods[] = {n > 2 * columns, 0};
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
Pattern graph_of(MPI_Comm parent) {
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
void complete(std::vector<MPI_Request>& requests, unsigned way, const std::function<void(int)>& done) {
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

/// Calls of all kinds in any order over some twenty communicators, several under way on each, with what is not ours among them. What is drawn from
/// `alike_` all ranks do in the same order; how and when they complete what they have begun is each one's own.
class Soak {
 public:
  explicit Soak(unsigned seed)
      : alike_(seed), own_(seed + 1000U + static_cast<unsigned>(rank_in(MPI_COMM_WORLD))) {
    for (unsigned i = 0; i < num_patterns; ++i) {
      patterns_.push_back(make(i));
      if (is_there(patterns_.back())) Exchange(patterns_.back(), Exchange::Form::v, 1, 5000).run();
    }
    kept_.resize(num_kept);
    for (Kept& each : kept_) renew(each);
  }
  Soak(const Soak&) = delete;
  Soak& operator=(const Soak&) = delete;
  ~Soak() {
    complete_some([](std::size_t) { return true; });
    for (Kept& each : kept_)
      if (each.exchange) MPI_Request_free(&each.request);
    for (unsigned i = 0; i < num_patterns; ++i)
      if (i != 0 && is_there(patterns_[i])) MPI_Comm_free(&patterns_[i].comm);
  }

  void act(unsigned round) {
    switch (draw(16)) {
      case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
      case 1:
        MPI_Allreduce(MPI_IN_PLACE, &sum_, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        break;
      case 2:
        pass(round);
        break;
      case 3:
        pass_and_wait(round);
        break;
      case 4:
        renew(kept_[draw(num_kept)]);
        break;
      case 5:
        if (draw(8) == 0) remake(num_patterns - 1 - draw(num_graphs));
        break;
      case 6:
      case 7:
      case 8:
        start(draw(2) == 0 ? 1 : num_kept);
        break;
      default:
        exchange(round, draw(4) == 0);
        break;
    }
    const bool is_full = begun_.size() >= most_begun;
    if (is_full || own_() % 4 == 0) complete_some([&](std::size_t) { return is_full || own_() % 2 == 0; });
  }

 private:
  static constexpr unsigned num_patterns = 20;
  static constexpr unsigned num_graphs = 6;  // the last ones
  static constexpr unsigned num_kept = 6;
  static constexpr std::size_t most_begun = 24;
  struct Kept {
    std::unique_ptr<Exchange> exchange;
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_active = false;
  };
  struct Begun {
    MPI_Request request;
    std::function<void()> check;
    Kept* kept = nullptr;
  };

  unsigned draw(unsigned below) { return static_cast<unsigned>(alike_() % below); }

  /// Whole or in parts, in several orders; grids; graphs.
  Pattern make(unsigned i) const {
    const int me = rank_in(MPI_COMM_WORLD);
    const unsigned num_grids = 4;
    if (i == 0) return all_of(MPI_COMM_WORLD);
    MPI_Comm part = MPI_COMM_NULL;
    if (i + num_graphs + num_grids < num_patterns) {
      MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 0 ? me % 2 : 0, i % 2 == 0 ? me : -me, &part);
      return all_of(part);
    }
    if (i + num_graphs < num_patterns) return grid_of(1 + static_cast<int>(i % 2));
    return graph_of(patterns_[i % 4].comm);
  }

  void exchange(unsigned round, bool blocks) {
    const Pattern& pattern = patterns_[draw(num_patterns)];
    const auto form = static_cast<Exchange::Form>(draw(3));
    const int most = draw(8) == 0 ? 9000 : 1 + static_cast<int>(draw(900));
    if (!is_there(pattern)) return;
    const auto made = std::make_shared<Exchange>(pattern, form, round, most);
    if (blocks) return made->run();
    MPI_Request request = MPI_REQUEST_NULL;
    made->begin(&request);
    begun_.push_back({request, [made] { made->check(); }});
  }

  void renew(Kept& kept) {
    const Pattern& pattern = patterns_[draw(num_patterns)];
    const auto form = draw(2) == 0 ? Exchange::Form::v : Exchange::Form::w;
    complete_some([&](std::size_t i) { return begun_[i].kept == &kept; });
    if (kept.exchange) MPI_Request_free(&kept.request);
    kept.exchange.reset();
    if (!is_there(pattern)) return;
    auto made = std::make_unique<Exchange>(pattern, form, 5U, form == Exchange::Form::v ? 4000 : 700);
    if (!made->may_persist()) return;
    kept.exchange = std::move(made);
    kept.exchange->init(&kept.request);
  }

  /// Persistent ones may be started in any order.
  void start(unsigned number) {
    std::vector<Kept*> some;
    for (unsigned i = 0; i < number; ++i) some.push_back(&kept_[number == 1 ? draw(num_kept) : i]);
    std::erase_if(some, [](const Kept* each) { return each->exchange == nullptr; });
    std::shuffle(some.begin(), some.end(), own_);
    std::vector<MPI_Request> requests;
    for (Kept* const each : some) {
      complete_some([&](std::size_t i) { return begun_[i].kept == each; });
      each->exchange->fill();
      requests.push_back(each->request);
      begun_.push_back({each->request, [each] { each->exchange->check(); }, each});
    }
    if (own_() % 2 == 0 && !requests.empty()) {
      MPI_Startall(static_cast<int>(requests.size()), requests.data());
    } else {
      for (MPI_Request& each : requests) MPI_Start(&each);
    }
  }

  void pass(unsigned round) {
    const auto passed =
        std::make_shared<Passed>(static_cast<int>(round % 30'000), 1 + static_cast<int>(draw(20'000)));
    for (int i = 0; i < 2; ++i)
      begun_.push_back({passed->requests()[i], [passed, i] { i == 0 ? passed->check() : void(); }});
  }
  void pass_and_wait(unsigned round) {
    const int n = size_of(MPI_COMM_WORLD);
    const int me = rank_in(MPI_COMM_WORLD);
    const int tag = static_cast<int>(round % 30'000);
    const int after = (me + 1) % n;
    const int before = (me + n - 1) % n;
    const std::vector<int> out(1 + draw(20'000), tag);
    std::vector<int> in(out.size(), -1);
    const auto send = [&] {
      MPI_Ssend(out.data(), static_cast<int>(out.size()), MPI_INT, after, tag, MPI_COMM_WORLD);
    };
    const auto receive = [&] {
      MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_INT, before, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    };
    if (me == 0) send();
    receive();
    if (me != 0) send();
    require(in == out, "what was passed on");
  }

  /// A graph's communicator is freed while exchanges go on, and made again.
  void remake(unsigned i) {
    for (Kept& each : kept_)
      if (each.exchange && &each.exchange->pattern() == &patterns_[i]) {
        complete_some([&](std::size_t j) { return begun_[j].kept == &each; });
        MPI_Request_free(&each.request);
        each.exchange.reset();
      }
    if (is_there(patterns_[i])) MPI_Comm_free(&patterns_[i].comm);
    patterns_[i] = make(i);
  }

  template <typename IsChosen>
  void complete_some(IsChosen&& is_chosen) {
    std::vector<MPI_Request> requests;
    std::vector<Begun> chosen;
    std::vector<Begun> rest;
    for (std::size_t i = 0; i < begun_.size(); ++i) (is_chosen(i) ? chosen : rest).push_back(begun_[i]);
    for (const Begun& each : chosen) requests.push_back(each.request);
    if (!chosen.empty())
      complete(requests, static_cast<unsigned>(own_()),
               [&](int i) { chosen[static_cast<std::size_t>(i)].check(); });
    begun_ = std::move(rest);
  }

  std::mt19937 alike_;
  std::mt19937 own_;
  std::deque<Pattern> patterns_;  // which stay where they are
  std::vector<Kept> kept_;
  std::vector<Begun> begun_;
  int sum_ = 1;
};

/// Calls of one communicator and nothing that is replaced else, each with so many numbers for everybody.
void asked(int calls, int most, bool is_persistent) {
  const Pattern everybody = all_of(MPI_COMM_WORLD);
  Exchange one(everybody, Exchange::Form::v, 2, most);
  MPI_Request request = MPI_REQUEST_NULL;
  if (is_persistent) one.init(&request);
  for (int call = 0; call < calls; ++call) {
    if (is_persistent) {
      one.fill();
      MPI_Start(&request);
    } else {
      one.begin(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    one.check();
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(sum == everybody.num_out, "MPI_Allreduce");
  }
  if (is_persistent) MPI_Request_free(&request);
}

/// Rank 0 begins and then blocks in something that the others come to only when they have waited: MPI's own nonblocking collectives end.
void progress() {
  const int me = rank_in(MPI_COMM_WORLD);
  const int n = size_of(MPI_COMM_WORLD);
  const Pattern everybody = all_of(MPI_COMM_WORLD);
  const Pattern row = grid_of(1);
  const Pattern graph = graph_of(MPI_COMM_WORLD);
  Exchange(everybody, Exchange::Form::v, 1, 50'000).run();
  int number = 0;
  int other = 0;
  std::vector<int> long_one(200'000), came(long_one);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(&number, sizeof number, sizeof number, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const std::map<std::string, std::function<void()>> calls = {
      {"Recv",
       [&] {
         if (me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
       }},
      {"Ssend",
       [&] {
         if (me == 0) MPI_Ssend(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
         if (me == 1) MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
       }},
      {"Send of a long one",
       [&] {
         if (me == 0) MPI_Send(long_one.data(), 200'000, MPI_INT, 1, 5, MPI_COMM_WORLD);
         if (me == 1) MPI_Recv(came.data(), 200'000, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
       }},
      {"Sendrecv",
       [&] {
         if (me < 2)
           MPI_Sendrecv(&number, 1, MPI_INT, 1 - me, 5, &other, 1, MPI_INT, 1 - me, 5, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE);
       }},
      {"Probe",
       [&] {
         if (me == 0) MPI_Probe(1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         if (me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
       }},
      {"Iprobe",
       [&] {
         int flag = 0;
         while (me == 0 && flag == 0) MPI_Iprobe(1, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
         if (me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
       }},
      {"Wait for another",
       [&] {
         MPI_Request request = MPI_REQUEST_NULL;
         if (me == 0) MPI_Irecv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
         if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
         MPI_Wait(&request, MPI_STATUS_IGNORE);
       }},
      {"Barrier", [&] { MPI_Barrier(MPI_COMM_WORLD); }},
      {"Bcast", [&] { MPI_Bcast(&number, 1, MPI_INT, n - 1, MPI_COMM_WORLD); }},
      {"Allreduce", [&] { MPI_Allreduce(&number, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }},
      {"Neighbor_allgather",
       [&] {
         std::vector<int> four(4);
         MPI_Neighbor_allgather(&number, 1, MPI_INT, four.data(), 1, MPI_INT, row.comm);
       }},
      {"Alltoallv", [&] { Exchange(everybody, Exchange::Form::v, 3, 20'000).run(); }},
      {"Neighbor_alltoallv", [&] { Exchange(graph, Exchange::Form::v, 3, 20'000).run(); }},
      {"Comm_split",
       [&] {
         MPI_Comm made = MPI_COMM_NULL;
         MPI_Comm_split(MPI_COMM_WORLD, 0, me, &made);
         MPI_Comm_free(&made);
       }},
      {"Cart_create",
       [&] {
         Pattern made = grid_of(1);
         MPI_Comm_free(&made.comm);
       }},
      {"Win_fence", [&] { MPI_Win_fence(0, window); }},
  };
  for (const auto& [name, call] : calls)
    for (const Pattern* const pattern : {&everybody, &row, &graph}) {
      if (me == 0 && std::getenv("TELLS") != nullptr) std::fprintf(stderr, "%s\n", name.c_str());
      Exchange one(*pattern, Exchange::Form::v, 2, 60'000);
      Exchange two(*pattern, Exchange::Form::w, 3, 30'000);
      MPI_Request requests[2];
      one.begin(&requests[0]);
      two.begin(&requests[1]);
      if (me == 0) call();
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      if (me != 0) call();
      one.check();
      two.check();
    }
  MPI_Win_free(&window);
}

/// Requests that nobody waits for: the others have what is sent, and MPI_Finalize brings the rest. Open MPI's own may not be freed.
void freed() {
  static const Pattern graph = graph_of(MPI_COMM_WORLD);
  static Exchange& one = *new Exchange(graph, Exchange::Form::v, 2, 60'000);
  static Exchange& two = *new Exchange(graph, Exchange::Form::v, 4, 60'000);
  static Exchange& three = *new Exchange(graph, Exchange::Form::v, 4, 100);
  MPI_Request requests[3];
  one.begin(&requests[0]);
  two.init(&requests[1]);
  two.fill();
  MPI_Start(&requests[1]);
  three.begin(&requests[2]);
  if (rank_in(MPI_COMM_WORLD) == 0) {
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  if (rank_in(MPI_COMM_WORLD) != 0) MPI_Request_free(&requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) != 0) {
    one.check();
    two.check();
  }
  three.check();
}

/// MPI allows it for no collective.
void cancelled() {
  const Pattern graph = graph_of(MPI_COMM_WORLD);
  Exchange one(graph, Exchange::Form::v, 2, 60'000);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  one.begin(&request);
  require(MPI_Cancel(&request) != MPI_SUCCESS, "an error");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  one.check();
}

/// Rank 0 does, when mpiexec has had time to pass on what it says.
void end_all(int me) {
  std::fflush(stdout);
  if (me != 0) sleep(30);
  usleep(200'000);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/// Both ends of one message have other counts: MPI_Waitall says so.
void mismatch() {
  const Pattern row = grid_of(1);
  const int me = rank_in(row.comm);
  const std::vector<int> at(4);
  std::vector<int> out(4), in(4);
  std::vector<char> data(100'000), came(100'000);
  if (me == 0) out[1] = 90'000;
  if (me == 1) in[0] = 70'000;
  MPI_Comm_set_errhandler(row.comm, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Ineighbor_alltoallv(data.data(), out.data(), at.data(), MPI_CHAR, came.data(), in.data(), at.data(),
                          MPI_CHAR, row.comm, &request);
  const int code = MPI_Waitall(1, &request, &status);
  if (me == 0) std::printf("code %d %d\n", code == MPI_ERR_IN_STATUS, status.MPI_ERROR == MPI_ERR_TRUNCATE);
  end_all(me);
}

/// The last rank never comes, to an exchange that others wait for, or in whose communicator's end or MPI's they are.
void late(const std::string& where) {
  Pattern row = grid_of(1);
  Exchange one(row, Exchange::Form::v, 2, 60'000);
  MPI_Request request = MPI_REQUEST_NULL;
  for (const MPI_Comm comm : {MPI_COMM_WORLD, row.comm}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int me = rank_in(row.comm);
  if (me + 1 == size_of(row.comm)) sleep(where == "finalize" ? 3 : 30);
  one.begin(&request);
  if (where == "free") MPI_Comm_free(&row.comm);
  const int code = where == "finalize" ? MPI_Finalize() : MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (me == 0) std::printf("code %d\n", code == MPI_SUCCESS ? 0 : 1);
  if (where != "finalize") end_all(me);
  std::exit(0);
}

/// Another thread is in MPI_Recv before this one begins and waits for it.
void threads() {
  const Pattern row = grid_of(1);
  const int me = rank_in(row.comm);
  for (int round = 0; round < 20; ++round) {
    Exchange one(row, Exchange::Form::v, 2, 60'000);
    MPI_Request request = MPI_REQUEST_NULL;
    int number = 0;
    std::thread other([&] {
      if (me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    if (round % 2 == 0) usleep(1000);
    one.begin(&request);
    if (me == 0) other.join();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    if (me != 0) other.join();
    one.check();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, mode == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  const int me = rank_in(MPI_COMM_WORLD);
  if (mode == "soak") {
    Soak soak(argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1U);
    for (int round = 0; round < std::atoi(argv[2]) && !is_wrong; ++round)
      soak.act(static_cast<unsigned>(round));
  }
  if (mode == "asked" || mode == "init") asked(std::atoi(argv[2]), std::atoi(argv[3]), mode == "init");
  if (mode == "progress") progress();
  if (mode == "free") freed();
  if (mode == "cancel") cancelled();
  if (mode == "mismatch") mismatch();
  if (mode == "late") late(argv[2]);
  if (mode == "threads" && provided == MPI_THREAD_MULTIPLE) threads();
  int any_wrong = is_wrong ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any_wrong == 0 && me == 0) std::puts("all right");
  MPI_Finalize();
  return any_wrong;
}
