// SPDX-License-Identifier: BSD-3-Clause
// An advice as bytes: its fields in one order, numbers as they lie in memory (all ranks run the same program), texts and
// lists with their length before them.
#include "exchange/plan/share_advice.hpp"

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "mpi/agree.hpp"

namespace nuice::mpi {
namespace {

struct Writer {
  std::string bytes;

  template <typename T>
  void operator()(const T& number) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes += text;
  }
  void operator()(const std::vector<Candidate>& candidates);
};

struct Reader {
  const std::string& bytes;
  std::size_t at = 0;

  template <typename T>
  void operator()(T& number) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    std::memcpy(&number, bytes.data() + at, sizeof number);
    at += sizeof number;
  }
  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    text = bytes.substr(at, size);
    at += size;
  }
  void operator()(std::vector<Candidate>& candidates);
};

void visit(auto& candidate, auto& with)
  requires(std::is_same_v<std::remove_cvref_t<decltype(candidate)>, Candidate>)
{
  with(candidate.scheduler);
  with(candidate.executor);
  with(candidate.applicable);
  with(candidate.predicted_by);
  with(candidate.phases);
  with(candidate.phase_bytes);
  with(candidate.planning_s);
  with(candidate.exchange_s);
  with(candidate.total_s);
  with(candidate.to_bound);
  with(candidate.uncertainty);
  with(candidate.why_not);
}

void visit(auto& advice, auto& with)
  requires(std::is_same_v<std::remove_cvref_t<decltype(advice)>, Advice>)
{
  with(advice.machine);
  with(advice.topology);
  with(advice.num_ranks);
  with(advice.num_messages);
  with(advice.total_bytes);
  with(advice.reuse);
  with(advice.seed);
  with(advice.port_bound_s);
  with(advice.link_bound_s);
  with(advice.bound_s);
  with(advice.phase_cost_bytes);
  with(advice.prefer_pairs);
  with(advice.candidates);
  with(advice.decided_by);
  with(advice.deciding_s);
  with(advice.budget_s);
  with(advice.sentence);
}

void Writer::operator()(const std::vector<Candidate>& candidates) {
  (*this)(candidates.size());
  for (const Candidate& candidate : candidates) visit(candidate, *this);
}

void Reader::operator()(std::vector<Candidate>& candidates) {
  std::size_t size = 0;
  (*this)(size);
  candidates.resize(size);
  for (Candidate& candidate : candidates) visit(candidate, *this);
}

}  // namespace

void share_advice(const Communicator& comm, Advice& advice) {
  Writer writer;
  all_or_none(comm, [&] {
    if (comm.rank() == 0) visit(std::as_const(advice), writer);
  });
  const std::string bytes = text_of_rank_0(comm, std::move(writer.bytes));
  all_or_none(comm, [&] {
    Reader reader{bytes};
    if (comm.rank() != 0) visit(advice, reader);
  });
}

}  // namespace nuice::mpi
