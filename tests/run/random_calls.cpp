// SPDX-License-Identifier: BSD-3-Clause
// A program that knows nothing of NUICE: random calls of MPI, alike on
// all ranks by their seed, for suites.py.
//
//   random_calls ROUNDS SEED
//
// Every byte that arrives is compared with what was sent. Rank 0 prints at the end "sum X of N
// calls": a sum of all that has arrived on all ranks, and how many calls that move data all ranks
// have made. Exit code 3 if a byte was wrong.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr int most_messages = 4;  // between two ranks in one round
constexpr int most_bits = 18;     // of a message's bytes

class Calls {
 public:
  explicit Calls(std::uint64_t seed) : draw_(seed) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~Calls() { MPI_Comm_free(&comm_); }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void round() {
    switch (below(8)) {
      case 0:
        return ring();
      case 1:
        return alltoallv();
      case 2:
        return broadcast();
      case 3:
        return reduce();
      case 4:
        return gather();
      case 5:
        return change_communicator();
      default:
        return messages();
    }
  }

  void tell() {
    std::array<std::uint64_t, 2> mine = {sum_, calls_};
    std::array<std::uint64_t, 2> all{};
    MPI_Allreduce(mine.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, comm_);
    if (rank_ == 0)
      std::printf("sum %llx of %llu calls\n", static_cast<unsigned long long>(all[0]),
                  static_cast<unsigned long long>(all[1]));
  }

 private:
  struct Message {
    int src, dst, tag, bytes;
    unsigned char seed;
  };

  std::uint64_t below(std::uint64_t end) { return draw_() % end; }
  /// As many small ones as large ones.
  int draw_bytes() { return static_cast<int>(below(std::uint64_t{1} << below(most_bits + 1))); }
  Message draw_message(int src, int dst, int tag) {
    return {src, dst, tag, draw_bytes(), static_cast<unsigned char>(below(256))};
  }

  static unsigned char byte_of(const Message& message, std::size_t at) {
    return static_cast<unsigned char>(message.seed + at * 31 + (at >> 8));
  }
  static std::vector<unsigned char> made(const Message& message) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(message.bytes));
    for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = byte_of(message, at);
    return bytes;
  }
  void compare(const Message& message, const unsigned char* bytes) {
    for (std::size_t at = 0; at < static_cast<std::size_t>(message.bytes); ++at) {
      if (bytes[at] != byte_of(message, at)) {
        std::printf("rank %d: byte %zu of %d from rank %d is wrong\n", rank_, at, message.bytes, message.src);
        std::fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
      }
      sum_ = sum_ * 1099511628211U + bytes[at];
    }
  }

  /// Any number between any two ranks, received in another order, in each of MPI's modes.
  void messages() {
    std::vector<Message> all;
    for (int src = 0; src < size_; ++src)
      for (int dst = 0; dst < size_; ++dst) {
        const int number = below(2) == 0 ? 0 : static_cast<int>(below(most_messages));
        for (int tag = 0; tag < number; ++tag) all.push_back(draw_message(src, dst, tag));
      }
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
    const bool are_expected = below(2) == 0;
    const bool is_synchronous = below(4) == 0;
    std::vector<std::vector<unsigned char>> buffers;
    std::vector<MPI_Request> requests;
    std::vector<Message> mine;
    const auto receive = [&] {
      for (auto one = all.rbegin(); one != all.rend(); ++one)
        if (one->dst == rank_) {
          buffers.emplace_back(static_cast<std::size_t>(one->bytes));
          mine.push_back(*one);
          MPI_Irecv(buffers.back().data(), one->bytes, MPI_BYTE, one->src, one->tag, comm_,
                    &requests.emplace_back());
        }
    };
    std::vector<std::vector<unsigned char>> sent;
    const auto send = [&] {
      for (const Message& one : all)
        if (one.src == rank_) {
          sent.push_back(made(one));
          (is_synchronous ? MPI_Issend : MPI_Isend)(sent.back().data(), one.bytes, MPI_BYTE, one.dst, one.tag,
                                                    comm_, &requests.emplace_back());
        }
    };
    if (are_expected) receive();
    send();
    if (!are_expected) receive();
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    calls_ += requests.size();
    for (std::size_t i = 0; i < mine.size(); ++i) compare(mine[i], buffers[i].data());
  }

  void ring() {
    const int distance = static_cast<int>(below(static_cast<std::uint64_t>(size_)));
    std::vector<Message> all;
    for (int src = 0; src < size_; ++src) all.push_back(draw_message(src, (src + distance) % size_, 9));
    const Message& to = all[static_cast<std::size_t>(rank_)];
    const Message& from = all[static_cast<std::size_t>((rank_ + size_ - distance) % size_)];
    const auto out = made(to);
    std::vector<unsigned char> in(static_cast<std::size_t>(from.bytes));
    MPI_Sendrecv(out.data(), to.bytes, MPI_BYTE, to.dst, 9, in.data(), from.bytes, MPI_BYTE, from.src, 9,
                 comm_, MPI_STATUS_IGNORE);
    ++calls_;
    compare(from, in.data());
  }

  void alltoallv() {
    std::vector<Message> to, from;
    for (int src = 0; src < size_; ++src)
      for (int dst = 0; dst < size_; ++dst) {
        const Message one = draw_message(src, dst, 0);
        if (src == rank_) to.push_back(one);
        if (dst == rank_) from.push_back(one);
      }
    std::vector<unsigned char> out;
    std::vector<int> send, receive, send_at, receive_at;
    int in_bytes = 0;
    for (const Message& one : to) {
      send.push_back(one.bytes);
      send_at.push_back(static_cast<int>(out.size()));
      const auto bytes = made(one);
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
    for (const Message& one : from) {
      receive.push_back(one.bytes);
      receive_at.push_back(in_bytes);
      in_bytes += one.bytes;
    }
    std::vector<unsigned char> in(static_cast<std::size_t>(in_bytes));
    MPI_Request request = MPI_REQUEST_NULL;
    if (below(2) == 0)
      MPI_Alltoallv(out.data(), send.data(), send_at.data(), MPI_BYTE, in.data(), receive.data(),
                    receive_at.data(), MPI_BYTE, comm_);
    else
      MPI_Ialltoallv(out.data(), send.data(), send_at.data(), MPI_BYTE, in.data(), receive.data(),
                     receive_at.data(), MPI_BYTE, comm_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ++calls_;
    for (std::size_t i = 0; i < from.size(); ++i) compare(from[i], in.data() + receive_at[i]);
  }

  void broadcast() {
    const int root = static_cast<int>(below(static_cast<std::uint64_t>(size_)));
    const Message one = draw_message(root, rank_, 0);
    std::vector<unsigned char> bytes =
        root == rank_ ? made(one) : std::vector<unsigned char>(static_cast<std::size_t>(one.bytes));
    MPI_Bcast(bytes.data(), one.bytes, MPI_BYTE, root, comm_);
    ++calls_;
    compare(one, bytes.data());
  }

  /// The sum of values that differ by rank.
  void reduce() {
    const int count = draw_bytes() / 8;
    std::vector<std::int64_t> out(static_cast<std::size_t>(count)), in(out);
    std::iota(out.begin(), out.end(), rank_);
    MPI_Allreduce(out.data(), in.data(), count, MPI_INT64_T, MPI_SUM, comm_);
    ++calls_;
    const std::int64_t ranks = size_;
    for (std::int64_t at = 0; at < count; ++at) {
      if (in[static_cast<std::size_t>(at)] != ranks * at + ranks * (ranks - 1) / 2) MPI_Abort(comm_, 3);
      sum_ = sum_ * 31 + static_cast<std::uint64_t>(in[static_cast<std::size_t>(at)]);
    }
  }

  /// To all, or to one.
  void gather() {
    const int root = static_cast<int>(below(static_cast<std::uint64_t>(size_)));
    Message one = draw_message(0, root, 0);
    const bool is_for_all = below(2) == 0;
    const unsigned char seed = one.seed;
    one.seed = static_cast<unsigned char>(seed + rank_);
    const auto out = made(one);
    std::vector<unsigned char> in(static_cast<std::size_t>(one.bytes) * static_cast<std::size_t>(size_));
    if (is_for_all)
      MPI_Allgather(out.data(), one.bytes, MPI_BYTE, in.data(), one.bytes, MPI_BYTE, comm_);
    else
      MPI_Gather(out.data(), one.bytes, MPI_BYTE, in.data(), one.bytes, MPI_BYTE, root, comm_);
    ++calls_;
    if (!is_for_all && rank_ != root) return;
    for (int src = 0; src < size_; ++src) {
      one.src = src;
      one.seed = static_cast<unsigned char>(seed + src);
      compare(one, in.data() + static_cast<std::ptrdiff_t>(src) * one.bytes);
    }
  }

  /// The same ranks in another order.
  void change_communicator() {
    const int turned = static_cast<int>(below(static_cast<std::uint64_t>(size_)));
    MPI_Comm next = MPI_COMM_NULL;
    MPI_Comm_split(comm_, 0, (rank_ + turned) % size_, &next);
    MPI_Comm_free(&comm_);
    comm_ = next;
    MPI_Comm_rank(comm_, &rank_);
    ++calls_;
  }

  std::mt19937_64 draw_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  {
    Calls calls(std::strtoull(argv[2], nullptr, 10));
    for (long round = std::atol(argv[1]); round > 0; --round) calls.round();
    calls.tell();
  }
  MPI_Finalize();
  return 0;
}
