// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/trace.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mpi/call.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
namespace {

/// The answer of rank 0.
struct ClockReply {
  double at_s;
  std::int64_t key;
};

std::string entries_text(const PhaseTable& table) {
  std::ostringstream text;
  text << '[';
  for (std::size_t i = 0; i < table.entries.size(); ++i) {
    const PhaseEntry& entry = table.entries[i];
    text << (i == 0 ? "[" : ",[") << entry.phase << ',' << entry.send_partner << ',' << entry.send_bytes
         << ',' << entry.recv_partner << ',' << entry.recv_bytes << ']';
  }
  text << ']';
  return text.str();
}

}  // namespace

double Trace::now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Trace::open(const std::string& folder, const std::string& executor, const std::string& scheduler,
                 const PhaseTable& table, const Communicator& comm, int tag) {
  ring_.resize(capacity);
  folder_ = folder;
  rank_ = comm.rank();
  std::ostringstream about;
  about << "\"ranks\":" << comm.num_ranks() << R"(,"scheduler":")" << scheduler << R"(","executor":")"
        << executor << R"(","phases":)" << table.num_phases << ",\"entries\":" << entries_text(table);
  about_ = about.str();
  synchronize(comm, tag);
}

/// Measures the difference between this rank's clock and rank 0's clock. This rank asks several times and
/// uses the quickest answer. Rank 0 read its clock about in the middle between question and answer.
void Trace::synchronize(const Communicator& comm, int tag) {
  constexpr int questions = 8;  // if each is disturbed with probability 1/2, all are in 1 of 256 runs
  key_ = std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
             .count();
  const auto receive = [&](void* at, int bytes, Rank from) {
    MPI_Request request = MPI_REQUEST_NULL;
    must(MPI_Irecv(at, bytes, MPI_BYTE, from, tag, comm.get(), &request), "MPI_Irecv");
    mpi::wait(comm, request, "MPI_Irecv");
  };
  const auto send = [&](const void* at, int bytes, Rank to) {
    MPI_Request request = MPI_REQUEST_NULL;
    must(MPI_Isend(at, bytes, MPI_BYTE, to, tag, comm.get(), &request), "MPI_Isend");
    mpi::wait(comm, request, "MPI_Isend");
  };
  if (comm.rank() == 0) {
    for (Rank rank = 1; rank < comm.num_ranks(); ++rank) {
      for (int i = 0; i < questions; ++i) {
        receive(nullptr, 0, rank);
        const ClockReply reply{now_s(), key_};
        send(&reply, sizeof reply, rank);
      }
    }
    return;
  }
  error_s_ = 1e9;
  for (int i = 0; i < questions; ++i) {
    const double before_s = now_s();
    ClockReply reply{};
    send(nullptr, 0, 0);
    receive(&reply, sizeof reply, 0);
    const double after_s = now_s();
    key_ = reply.key;
    if ((after_s - before_s) / 2 >= error_s_) continue;
    error_s_ = (after_s - before_s) / 2;
    offset_s_ = reply.at_s - (before_s + after_s) / 2;
  }
}

void Trace::write() noexcept {
  if (num_notes_ == 0) return;
  try {
    std::filesystem::create_directories(folder_);
    const std::size_t kept = std::min(num_notes_, capacity);
    const std::string name =
        folder_ + "/" + std::to_string(key_) + "-rank-" + std::to_string(rank_) + ".trace";
    std::ofstream file(name, std::ios::binary);
    file.precision(17);
    file << R"({"nuice_trace":2,"key":)" << key_ << ",\"rank\":" << rank_ << ',' << about_
         << ",\"offset_s\":" << offset_s_ << ",\"clock_error_s\":" << error_s_ << ",\"notes\":" << num_notes_
         << ",\"kept\":" << kept << "}\n";
    for (std::size_t i = num_notes_ - kept; i < num_notes_; ++i)
      file.write(reinterpret_cast<const char*>(&ring_[i % capacity]), sizeof(Note));
    file.close();
    if (!file) std::fprintf(stderr, "nuice: rank %d: %s cannot be written\n", rank_, name.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nuice: rank %d: the trace cannot be written: %s\n", rank_, error.what());
  }
  num_notes_ = 0;
}

}  // namespace nuice::mpi
