// SPDX-License-Identifier: BSD-3-Clause
// Exchanges and active messages mixed, for as long as they are let: what fault_soak.py torments.
//
//   fault_soak_program SECONDS SEED WATCHDOG_S FOLDER
//
// Every round draws, on all ranks alike, a matrix and one of: a plan with some executor; messages,
// calls and quiesce(); blocks put into ports; DRS_N; a halo. Every byte that arrives is compared. What
// rank R writes to FOLDER/R, as the launcher's own way to the terminal goes over the network that fails
// (FOLDER "-": to stdout all the same):
//   "rank R pid P"              at the beginning
//   "begun N KIND [S:E]"        rank 0, before a round; scheduler and executor of a plan
//   "round N KIND"              rank 0, when it is over
//   "rank R T code: text"       when it gives up; T in seconds of the host's clock
//   "rank R WRONG ..."          bytes that are not what was sent
//   "rank R done N rounds"
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nuice/am/port.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/am.hpp"
#include "nuice/mpi/drs.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/mpi/plan.hpp"

namespace {

using namespace nuice;

constexpr Bytes most_bytes = 60'000;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::byte expected(Rank src, Rank dst, std::uint64_t round, Bytes at) {
  return static_cast<std::byte>(mix64(round * 4096 + static_cast<std::uint64_t>(src * 64 + dst)) +
                                static_cast<std::uint64_t>(at));
}

class Soak {
 public:
  Soak(std::uint64_t seed, double watchdog_s) : random_(seed), watchdog_s_(watchdog_s) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }

  int rank() const { return rank_; }
  std::uint64_t rounds() const { return round_; }

  void run(double seconds) {
    world_ = std::make_unique<drs::mpi::World>(MPI_COMM_WORLD, am::mpi::Options{}, options());
    endpoint_ = std::make_unique<am::Endpoint>(am::mpi::connect(MPI_COMM_WORLD), options());
    tell_ = endpoint_->on<std::uint64_t>("tell",
                                         [this](am::Context&, const std::uint64_t& value) { sum_ += value; });
    twice_ = endpoint_->on_call<std::uint64_t, std::uint64_t>(
        "twice", [](am::Context&, const std::uint64_t& value) { return 2 * value; });
    here_ = endpoint_->on<am::PortRef>("here", [this](am::Context& from, const am::PortRef& port) {
      ports_[static_cast<std::size_t>(from.source())] = port;
    });
    ports_.resize(static_cast<std::size_t>(num_ranks_));
    endpoint_->seal();
    const double end_s = now_s() + seconds;
    for (bool more = true; more; ++round_) {
      static constexpr std::array kinds = {"plan", "messages", "puts", "drs", "halo"};
      const std::size_t kind = random_.below(kinds.size());
      draw_matrix();
      tell("begun", kinds[kind]);
      if (kind == 0) exchange_by_plan();
      if (kind == 1) exchange_messages();
      if (kind == 2) put_blocks();
      if (kind == 3) exchange_by_drs();
      if (kind == 4) gather_ghosts();
      tell("round", kinds[kind]);
      const std::array<std::int64_t, 1> mine = {now_s() < end_s ? 1 : 0};
      more = endpoint_->reduce(am::ReduceOp::sum, mine)[0] == num_ranks_;
    }
    endpoint_->quiesce();
    endpoint_.reset();
    world_.reset();
  }

 private:
  am::EndpointOptions options() const { return {.watchdog_s = watchdog_s_}; }
  Bytes& bytes(Rank src, Rank dst) { return matrix_[static_cast<std::size_t>(src * num_ranks_ + dst)]; }

  void tell(const char* what, const std::string& kind) const {
    if (rank_ == 0) std::printf("%s %llu %s\n", what, static_cast<unsigned long long>(round_), kind.c_str());
    std::fflush(stdout);
  }

  /// The same on all ranks.
  void draw_matrix() {
    matrix_.assign(static_cast<std::size_t>(num_ranks_ * num_ranks_), 0);
    for (Rank src = 0; src < num_ranks_; ++src)
      for (Rank dst = 0; dst < num_ranks_; ++dst)
        if (src != dst && random_.below(3) != 0)
          bytes(src, dst) = 1 + static_cast<Bytes>(random_.below(most_bytes));
    to_.clear();
    from_.clear();
    out_.clear();
    in_.clear();
    send_.clear();
    receive_.clear();
    for (Rank other = 0; other < num_ranks_; ++other) {
      if (const Bytes there = bytes(rank_, other); there > 0) {
        to_.push_back({other, there});
        std::vector<std::byte>& block = out_.emplace_back(static_cast<std::size_t>(there));
        for (Bytes i = 0; i < there; ++i)
          block[static_cast<std::size_t>(i)] = expected(rank_, other, round_, i);
      }
      if (const Bytes here = bytes(other, rank_); here > 0) {
        from_.push_back({other, here});
        in_.emplace_back(static_cast<std::size_t>(here));
      }
    }
    for (auto& block : out_) send_.push_back({block.data(), static_cast<Bytes>(block.size())});
    for (auto& block : in_) receive_.push_back({block.data(), static_cast<Bytes>(block.size())});
  }

  void compare(std::size_t i, std::span<const std::byte> block) const {
    for (std::size_t at = 0; at < block.size(); ++at)
      if (block[at] != expected(from_[i].rank, rank_, round_, static_cast<Bytes>(at))) {
        std::printf("rank %d WRONG byte %zu from rank %d in round %llu\n", rank_, at, from_[i].rank,
                    static_cast<unsigned long long>(round_));
        std::fflush(stdout);
        std::_Exit(3);
      }
  }
  void compare_all() const {
    for (std::size_t i = 0; i < from_.size(); ++i) compare(i, in_[i]);
  }

  void exchange_by_plan() {
    static constexpr std::array schedulers = {"coloring", "rs_n", "ac", "lp"};
    static constexpr std::array executors = {"async", "phased", "pairwise", "depend"};
    const mpi::PlanOptions how = {.scheduler = schedulers[random_.below(schedulers.size())],
                                  .executor = executors[random_.below(executors.size())],
                                  .watchdog_s = watchdog_s_};
    tell("begun", how.scheduler + ":" + how.executor);
    mpi::Plan plan(MPI_COMM_WORLD, to_, how);
    mpi::Exchange exchange = plan.bind(send_, receive_);
    for (std::uint64_t again = random_.below(3) + 1; again > 0; --again) {
      for (auto& block : in_) std::ranges::fill(block, std::byte{0});
      exchange.start();
      exchange.wait();
      compare_all();
    }
  }

  void exchange_messages() {
    std::uint64_t expected_sum = 0;
    for (Rank other = 0; other < num_ranks_; ++other)
      expected_sum += static_cast<std::uint64_t>(bytes(other, rank_) % 500);
    for (const auto& [dst, size] : to_)
      for (Bytes i = 0; i < size % 500; ++i) endpoint_->send(dst, tell_, std::uint64_t{1});
    bool results_are_right = true;
    for (const auto& [dst, size] : to_)
      results_are_right = endpoint_->call(dst, twice_, round_).get() == 2 * round_ && results_are_right;
    endpoint_->quiesce();
    if (std::exchange(sum_, 0) == expected_sum && results_are_right)
      return;  // before the others can be in the next round
    std::printf("rank %d WRONG sum or result in round %llu\n", rank_,
                static_cast<unsigned long long>(round_));
    std::fflush(stdout);
    std::_Exit(3);
  }

  void put_blocks() {
    std::vector<am::Port> open;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      open.push_back(endpoint_->open_port(in_[i], from_[i].bytes));
      endpoint_->send(from_[i].rank, here_, open.back().ref());
    }
    endpoint_->quiesce();
    for (std::size_t i = 0; i < to_.size(); ++i)
      endpoint_->put(ports_[static_cast<std::size_t>(to_[i].rank)], 0, out_[i]);
    endpoint_->poll_until([&] { return std::ranges::all_of(open, &am::Port::complete); });
    compare_all();
    endpoint_->quiesce();
  }

  void exchange_by_drs() {
    const drs::Options how = {.when_busy =
                                  random_.below(2) == 0 ? drs::WhenBusy::refuse : drs::WhenBusy::list};
    const std::vector<Partner> sources = world_->sources(to_);
    drs::Exchange exchange = world_->bind(to_, sources, send_, receive_, how);
    exchange.start();
    exchange.wait();
    compare_all();
    exchange.free();
  }

  /// Of entries that each rank draws for itself; an entry's value is its index and the round.
  void gather_ghosts() const {
    constexpr mpi::GlobalIndex owned = 400;
    std::vector<mpi::GlobalIndex> begins;
    for (Rank rank = 0; rank <= num_ranks_; ++rank) begins.push_back(rank * owned);
    Random draw(round_ * 64 + static_cast<std::uint64_t>(rank_));
    std::vector<mpi::GlobalIndex> needed(draw.below(2 * owned));
    for (auto& index : needed)
      index = static_cast<mpi::GlobalIndex>(draw.below(static_cast<std::uint64_t>(num_ranks_ * owned)));
    mpi::Halo halo(MPI_COMM_WORLD, mpi::Ownership::ranges(begins), needed, {.watchdog_s = watchdog_s_});
    const auto value = [this](mpi::GlobalIndex index) {
      return static_cast<double>(index) + static_cast<double>(round_);
    };
    std::vector<double> x(halo.num_entries(), -1);
    for (mpi::GlobalIndex i = 0; i < owned; ++i) x[static_cast<std::size_t>(i)] = value(rank_ * owned + i);
    mpi::HaloExchange gather = halo.bind_gather(x);
    gather.start();
    gather.wait();
    for (const mpi::GlobalIndex index : needed)
      if (x[static_cast<std::size_t>(halo.local_index(index))] != value(index)) {
        std::printf("rank %d WRONG ghost in round %llu\n", rank_, static_cast<unsigned long long>(round_));
        std::fflush(stdout);
        std::_Exit(3);
      }
  }

  Random random_;
  double watchdog_s_;
  int rank_ = 0;
  int num_ranks_ = 0;
  std::uint64_t round_ = 0;
  std::vector<Bytes> matrix_;
  std::vector<Partner> to_, from_;
  std::vector<std::vector<std::byte>> out_, in_;
  std::vector<SendBuffer> send_;
  std::vector<ReceiveBuffer> receive_;
  std::uint64_t sum_ = 0;
  std::vector<am::PortRef> ports_;
  std::unique_ptr<drs::mpi::World> world_;
  std::unique_ptr<am::Endpoint> endpoint_;
  am::Handler<std::uint64_t> tell_{};
  am::Rpc<std::uint64_t, std::uint64_t> twice_{};
  am::Handler<am::PortRef> here_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  MPI_Init(&argc, &argv);
  Soak soak(std::strtoull(argv[2], nullptr, 10), std::atof(argv[3]));
  const std::string file = std::string(argv[4]) + "/" + std::to_string(soak.rank());
  if (argv[4] != std::string("-") && std::freopen(file.c_str(), "w", stdout) == nullptr) return 2;
  std::printf("rank %d pid %d\n", soak.rank(), static_cast<int>(getpid()));
  std::fflush(stdout);
  try {
    soak.run(std::atof(argv[1]));
    std::printf("rank %d done %llu rounds\n", soak.rank(), static_cast<unsigned long long>(soak.rounds()));
  } catch (const Error& error) {
    std::printf("rank %d %.3f %s: %s\n", soak.rank(), now_s(),
                std::string(error_code_name(error.code())).c_str(), error.what());
    std::fflush(stdout);
    usleep(500'000);  // what it has told the others may still have to leave
    std::_Exit(0);    // MPI_Finalize would wait for the dead
  }
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
