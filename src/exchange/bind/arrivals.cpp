// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/arrivals.hpp"

#include <algorithm>

namespace nuice::mpi {

void Arrivals::set_sources(std::span<const Partner> partners, std::span<const std::span<std::byte>> data) {
  for (std::size_t i = 0; i < partners.size(); ++i)
    sources_.push_back({.partner = partners[i], .index = i, .data = data[i]});
  std::ranges::stable_sort(sources_, {}, [](const Source& source) { return source.partner.rank; });
  landed_.reserve(sources_.size());
}

void Arrivals::number_sources(std::span<const std::size_t> indices) {
  for (Source& source : sources_) source.index = indices[source.index];
}

Arrivals Arrivals::for_same_sources() const {
  Arrivals others;
  others.sources_ = sources_;
  for (Source& source : others.sources_) source.pieces = 0;
  others.landed_.reserve(sources_.size());
  return others;
}

std::size_t Arrivals::index_of(Rank source) const {
  const auto rank_of = [](const Source& s) { return s.partner.rank; };
  return static_cast<std::size_t>(std::ranges::lower_bound(sources_, source, {}, rank_of) - sources_.begin());
}

void Arrivals::add_receive(Rank from, std::span<const Rank> sources, std::span<const Segment> lies_at) {
  receive_from_.push_back(from);
  for (const Rank source : sources) {
    brings_.push_back(static_cast<std::uint32_t>(index_of(source)));
    ++sources_[brings_.back()].pieces;
  }
  receive_ends_.push_back(brings_.size());
  landed_receives_.push_back(0);
  if (copies_ == nullptr) return;
  for (const Segment& segment : lies_at)
    lie_at_.push_back({segment.at, segment.count * size_of(segment.type)});
  lie_at_ends_.push_back(lie_at_.size());
}

void Arrivals::expect_pieces(Rank source, std::int64_t count) { sources_[index_of(source)].pieces += count; }

void Arrivals::start() {
  for (Source& source : sources_) source.missing = source.pieces;
  std::ranges::fill(landed_receives_, char{0});
  landed_.clear();
  taken_ = 0;
}

void Arrivals::land_copied(Rank rank) {
  const std::size_t index = index_of(rank);
  if (index < sources_.size() && sources_[index].partner.rank == rank) hand_over(index);
}

void Arrivals::hand_over(std::size_t source) {
  const Rank rank = sources_[source].partner.rank;
  trace_.note(Trace::Kind::message, rank, sources_[source].partner.bytes);
  for (; source < sources_.size() && sources_[source].partner.rank == rank; ++source)
    if (sources_[source].partner.bytes > 0) landed_.push_back(static_cast<std::uint32_t>(source));
}

void Arrivals::land_receive(std::size_t receive) {
  if (landed_receives_[receive] != 0) return;
  landed_receives_[receive] = 1;
  trace_.note(Trace::Kind::landed, receive_from_[receive]);
  if (copies_ != nullptr)
    for (std::size_t i = receive == 0 ? 0 : lie_at_ends_[receive - 1]; i < lie_at_ends_[receive]; ++i)
      copies_->land(lie_at_[i]);
  const std::size_t begin = receive == 0 ? 0 : receive_ends_[receive - 1];
  for (std::size_t i = begin; i < receive_ends_[receive]; ++i) land_piece(brings_[i]);
}

void Arrivals::land_piece(std::size_t source) {
  if (--sources_[source].missing == 0) hand_over(source);
}

std::optional<Arrival> Arrivals::take() {
  if (!any()) return std::nullopt;
  const Source& source = sources_[landed_[taken_++]];
  return Arrival{.source = source.partner, .index = source.index, .data = source.data};
}

}  // namespace nuice::mpi
