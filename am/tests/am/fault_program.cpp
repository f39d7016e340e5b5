// SPDX-License-Identifier: BSD-3-Clause
// What happens to active messages and DRS_N when a rank dies or stops. fault_test.py runs it.
//
//   am_fault_program FATE/WORK/TRANSPORT/WATCHDOG_S ...    each case runs on four ranks of its own
//
//   FATE     kill     rank 1 dies (SIGKILL)
//            freeze   rank 1 is stopped (SIGSTOP) for good
//   WORK     seal     the victim ends while the others call seal()
//            quiesce  rounds of messages to all and quiesce()
//            future   calls to all, and their results
//            put      blocks to all
//            small    puts inside messages to all, far more than fit
//            level    LevelSync on a ring
//            wait     poll_until() for a message that the victim would send
//            refuse, list, rma    DRS_N
//            learn    drs receive lists
//            connect  connect() again and again
//            midway   the victim ends in connect(), before the others have left it
//
// Prints a line per surviving rank: "case C rank R SECONDS code: text", with the seconds since the victim's
// end.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "am/mpi/host.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "nuice/am/level_sync.hpp"
#include "nuice/am/port.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/am.hpp"
#include "nuice/mpi/drs.hpp"
#include "support/faults.hpp"

namespace {

using namespace nuice;

constexpr int ranks_per_case = 4;
constexpr int victim = 1;
constexpr int fatal_round = 20;
constexpr int num_rounds = 2000;
constexpr double most_between_cases_s = 8;  // below the time after which stopped processes are ended
constexpr std::size_t block_bytes = 1 << 20;

struct Case {
  int number;
  std::string fate, work, transport;
  double watchdog_s;
};

Case parse_case(int number, const std::string& text) {
  const auto words = test::four_words(text);
  return {number, words[0], words[1], words[2], std::stod(words[3])};
}

/// Returns a time that is the same for all processes of the host.
double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Word {
  std::uint64_t value;
};

/// Data in memory that all ranks share.
struct Shared {
  std::array<double, 64> death_s;  // by case: when its victim ended
  std::atomic<int> num_heard;      // ranks that have reported how their case ended
};

class Ranks {
 public:
  Ranks(const Case& what, MPI_Comm comm, Shared& shared, int num_cases)
      : what_(what), comm_(comm), shared_(shared), num_cases_(num_cases) {
    MPI_Comm_rank(comm, &rank_);
  }

  void run() {
    const std::map<std::string, void (Ranks::*)()> works = {
        {"seal", &Ranks::seal},    {"quiesce", &Ranks::quiesce}, {"future", &Ranks::future},
        {"put", &Ranks::put},      {"small", &Ranks::small},     {"level", &Ranks::level},
        {"wait", &Ranks::wait},    {"refuse", &Ranks::drs},      {"list", &Ranks::drs},
        {"rma", &Ranks::drs},      {"learn", &Ranks::learn},     {"connect", &Ranks::connect},
        {"midway", &Ranks::midway}};
    try {
      (this->*works.at(what_.work))();
      say("done");
    } catch (const Error& error) {
      say(std::string(error_code_name(error.code())) + ": " + error.what());
    }
    // Waits until the ranks of all cases have reported, because mpiexec ends all ranks when one has ended.
    shared_.num_heard += 1;
    const double end_s = now_s() + most_between_cases_s;
    while (shared_.num_heard < num_cases_ * (ranks_per_case - 1) && now_s() < end_s) usleep(10000);
    usleep(200000);  // their output is still on its way
    _exit(0);        // MPI_Finalize would wait for the dead rank
  }

 private:
  am::mpi::Options transport() const {
    return {.transport = what_.transport, .watchdog_s = what_.watchdog_s};
  }
  am::EndpointOptions options() const { return {.watchdog_s = what_.watchdog_s}; }

  double& death_s() const { return shared_.death_s[static_cast<std::size_t>(what_.number)]; }

  void say(const std::string& text) const {
    std::printf("case %d rank %d %.4f %s\n", what_.number, rank_, now_s() - death_s(), text.c_str());
    std::fflush(stdout);
  }

  /// Runs the rounds of the work; the victim ends in the middle.
  void rounds(const std::function<void(int)>& round) const {
    for (int i = 0; i < num_rounds; ++i) {
      if (i == fatal_round && rank_ == victim) end();
      round(i);
    }
  }

  void end() const {
    usleep(20000);  // the other ranks are waiting then
    death_s() = now_s();
    what_.fate == "kill" ? (void)raise(SIGKILL) : test::freeze();
  }

  void to_others(const std::function<void(Rank)>& act) const {
    for (Rank other = 0; other < ranks_per_case; ++other)
      if (other != rank_) act(other);
  }

  void seal() {
    am::Endpoint ep(am::mpi::connect(comm_, transport()), options());
    if (rank_ == victim) end();
    ep.seal();
  }

  void quiesce() {
    am::Endpoint ep(am::mpi::connect(comm_, transport()), options());
    const auto tell = ep.on<Word>("tell", [](am::Context&, const Word&) {});
    ep.seal();
    rounds([&](int i) {
      to_others([&](Rank r) { ep.send(r, tell, Word{static_cast<std::uint64_t>(i)}); });
      ep.quiesce();
    });
  }

  void future() {
    am::Endpoint ep(am::mpi::connect(comm_, transport()), options());
    const auto twice =
        ep.on_call<Word, Word>("twice", [](am::Context&, const Word& w) { return Word{2 * w.value}; });
    ep.seal();
    rounds([&](int) { to_others([&](Rank r) { (void)ep.call(r, twice, Word{1}).get(); }); });
  }

  void put() { put_blocks(block_bytes); }
  void small() { put_blocks(1000); }

  void put_blocks(std::size_t bytes) const {
    std::vector<std::byte> from(bytes);
    std::vector<std::byte> to(ranks_per_case * bytes);
    am::Endpoint ep(am::mpi::connect(comm_, transport()), options());
    std::map<Rank, am::PortRef> ports;
    const auto here =
        ep.on<am::PortRef>("here", [&](am::Context&, const am::PortRef& p) { ports[p.rank] = p; });
    ep.seal();
    am::Port port = ep.open_port(to, static_cast<Bytes>((ranks_per_case - 1) * bytes));
    to_others([&](Rank r) { ep.send(r, here, port.ref()); });
    ep.quiesce();
    rounds([&](int i) {
      to_others([&](Rank r) {
        ep.put(ports[r], static_cast<Bytes>(static_cast<std::size_t>(rank_) * bytes), from);
        ports[r] = ports[r].next();
      });
      ep.poll_until([&] { return port.complete(); });
      port.rearm();
      if (i % 2 == 0 || bytes >= block_bytes)
        ep.barrier();  // no rank puts into a generation that is not armed yet
      else
        ep.quiesce();
    });
  }

  void level() {
    am::Endpoint ep(am::mpi::connect(comm_, transport()), options());
    ep.seal();
    am::LevelSync levels(ep, {(rank_ + 1) % ranks_per_case, (rank_ + ranks_per_case - 1) % ranks_per_case});
    rounds([&](int) { levels.finish_level(); });
  }

  void wait() {
    am::Endpoint ep(am::mpi::connect(comm_, transport()), options());
    int heard = 0;
    const auto tell = ep.on<Word>("tell", [&](am::Context&, const Word&) { ++heard; });
    ep.seal();
    rounds([&](int i) {
      if (rank_ == victim) to_others([&](Rank r) { ep.send(r, tell, Word{0}); });
      if (rank_ != victim) ep.poll_until([&] { return heard > i; });
    });
  }

  void drs() {
    test::FaultMemory all(rank_, false);
    drs::mpi::World world(comm_, transport(), options());
    const drs::Options how = {
        .lock = what_.work == "rma" ? drs::Lock::rma : drs::Lock::message,
        .when_busy = what_.work == "list" ? drs::WhenBusy::list : drs::WhenBusy::refuse};
    drs::Exchange exchange = world.bind(all.to, all.from, all.send, all.receive, how);
    rounds([&](int) {
      exchange.start();
      exchange.wait();
    });
  }

  void connect() {
    rounds([&](int) { am::mpi::connect(comm_, transport()); });
  }

  /// The victim does the first steps of connect(); MPI has only blocking forms of the rest.
  void midway() {
    if (rank_ == victim) {
      const auto comm = mpi::duplicate(comm_, what_.watchdog_s);
      mpi::all_or_none(*comm, [] {});
      std::int64_t numbers[6];
      mpi::broadcast(*comm, numbers, 6, MPI_INT64_T, 0);
      mpi::all_or_none(*comm, [] {});
      const am::mpi::Host host(*comm);  // all ranks know each other's processes now
      death_s() = now_s();
      what_.fate == "kill" ? (void)raise(SIGKILL) : test::freeze();
    }
    am::mpi::connect(comm_, transport());
  }

  void learn() {
    const test::FaultMemory all(rank_, false);
    drs::mpi::World world(comm_, transport(), options());
    const std::string_view ways[] = {"am_count", "am_quiesce"};
    rounds([&](int i) { (void)world.sources(all.to, ways[i % 2]); });
  }

  Case what_;
  MPI_Comm comm_;
  Shared& shared_;
  int num_cases_;
  int rank_ = 0;
};

/// Returns memory shared by all ranks of MPI_COMM_WORLD, which are on one host. No window is used, because
/// some of MPI's one-sided components cannot share one.
Shared& shared_memory() {
  int starter = getppid();
  MPI_Bcast(&starter, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string name = "/nuice-fault-" + std::to_string(starter);
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  constexpr std::size_t bytes = sizeof(Shared);
  if (file < 0 || ftruncate(file, bytes) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
  close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  shm_unlink(name.c_str());
  return *static_cast<Shared*>(memory);  // zeros
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  if (num_ranks != ranks_per_case * (argc - 1)) return 2;
  const int number = rank / ranks_per_case;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, number, rank, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  Ranks(parse_case(number, argv[number + 1]), comm, shared_memory(), argc - 1).run();
}
