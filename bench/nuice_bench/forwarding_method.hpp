// SPDX-License-Identifier: BSD-3-Clause
// Two-phase Bruck and TuNA as published, in bare MPI: all-to-all of unequal sizes that forwards by the digits
// of distances, and sends the sizes of every round before its bytes (Fan et al., Optimizing the Bruck
// algorithm for non-uniform all-to-all communication, HPDC '22; Fan, Domke, Ba and Kumar, Configurable
// non-uniform all-to-all algorithms, HPDC '25).
//
// Ranks have places on a ring or, with hosts, pairs (place in its host, host). At first slot i of a rank
// holds its message to the rank i places ahead. A round (leg, digit) forwards all slots with that digit. At
// the end slot i holds the message from the rank i places behind. A linear leg has one digit, and all its
// rounds run at once (the coalesced form of TuNA_l^g).
//
// As published, every slot has room for the largest message of all ranks. Finding that size is not timed,
// which favours these methods.
#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

#include "kit/timing.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {

/// One coordinate of a place: place / stride % length.
struct Leg {
  int length;
  int stride;
  int radix;  ///< Equal to length: linear.
};

/// The ranks by place, and this rank's place.
struct Places {
  std::vector<int> rank_at;
  int own = 0;
  int per_host = 1;
};

inline Places places_on_hosts() {
  const int rank = mpi::world_rank();
  const int size = mpi::world_size();
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  std::array<int, 3> mine = {rank, 0, 0};  // the host's lowest rank, place in it, its number of ranks
  MPI_Bcast(mine.data(), 1, MPI_INT, 0, host);
  MPI_Comm_rank(host, &mine[1]);
  MPI_Comm_size(host, &mine[2]);
  MPI_Comm_free(&host);
  std::vector<std::array<int, 3>> all(static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), 3, MPI_INT, all.data(), 3, MPI_INT, MPI_COMM_WORLD);
  for (const auto& other : all)
    if (other[2] != all[0][2])
      throw Error(ErrorCode::not_applicable, "hosts have different numbers of ranks");
  Places places{{}, 0, all[0][2]};
  for (int r = 0; r < size; ++r) places.rank_at.push_back(r);
  std::ranges::sort(places.rank_at, {}, [&](int r) { return all[static_cast<std::size_t>(r)]; });
  places.own = static_cast<int>(std::ranges::find(places.rank_at, rank) - places.rank_at.begin());
  return places;
}

inline Places places_on_a_ring() {
  Places places;
  for (int r = 0; r < mpi::world_size(); ++r) places.rank_at.push_back(r);
  places.own = mpi::world_rank();
  return places;
}

inline int root_up(int n) {
  int root = 1;
  while (root * root < n) ++root;
  return std::max(2, root);
}

class ForwardingMethod : public Method {
 public:
  ForwardingMethod(Payload& payload, Places places, std::vector<Leg> legs)
      : payload_(payload), places_(std::move(places)), legs_(std::move(legs)) {
    const auto num_slots = places_.rank_at.size();
    Bytes largest = 0;
    for (const Messages* side : {&payload.send, &payload.receive})
      for (const Partner& partner : side->partners) largest = std::max(largest, partner.bytes);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    room_ = static_cast<std::size_t>(largest);
    mpi::all_or_none(MPI_COMM_WORLD, [&] {
      if (room_ > static_cast<std::size_t>(INT_MAX) / num_slots)
        throw Error(ErrorCode::limit, "more bytes for all ranks than MPI's int counts");
      slots_.resize(room_ * num_slots);
      bytes_.resize(num_slots);
      out_.resize(room_ * num_slots);
      in_.resize(room_ * num_slots);
      in_bytes_.resize(num_slots);
      out_bytes_.resize(num_slots);
    });
    by_place_.assign(num_slots, -1);
    for (std::size_t i = 0; i < payload.receive.partners.size(); ++i)
      by_place_[slot_behind(payload.receive.partners[i].rank)] = static_cast<int>(i);
    for (const Leg& leg : legs_) add_rounds(leg);
  }

  void run() override {
    std::ranges::fill(bytes_, 0);
    for (std::size_t i = 0; i < payload_.send.partners.size(); ++i)
      put(slot_ahead(payload_.send.partners[i].rank), payload_.send.message(i));
    for (const std::vector<Shift>& round : rounds_) pass_on(round);
    for (std::size_t slot = 0; slot < by_place_.size(); ++slot) {
      if (by_place_[slot] < 0) continue;
      const auto into = payload_.receive.message(static_cast<std::size_t>(by_place_[slot]));
      if (!into.empty()) std::memcpy(into.data(), slots_.data() + slot * room_, into.size());
    }
  }

 private:
  /// All slots with one digit, and the distance of the rank to which they are sent.
  struct Shift {
    int to;
    int from;
    std::vector<std::size_t> slots;
  };

  int place_of(int rank) const {
    return static_cast<int>(std::ranges::find(places_.rank_at, rank) - places_.rank_at.begin());
  }
  static int coordinate(int place, const Leg& leg) { return place / leg.stride % leg.length; }
  /// Returns the distance from one place to another, coordinate by coordinate.
  int distance(int from, int to) const {
    int total = 0;
    for (const Leg& leg : legs_)
      total += (coordinate(to, leg) - coordinate(from, leg) + leg.length) % leg.length * leg.stride;
    return total;
  }
  std::size_t slot_ahead(int rank) const {
    return static_cast<std::size_t>(distance(places_.own, place_of(rank)));
  }
  std::size_t slot_behind(int rank) const {
    return static_cast<std::size_t>(distance(place_of(rank), places_.own));
  }
  int rank_at(const Leg& leg, int shift) const {
    const int at = coordinate(places_.own, leg);
    const int there = ((at + shift) % leg.length + leg.length) % leg.length;
    const int place = places_.own + (there - at) * leg.stride;
    return places_.rank_at[static_cast<std::size_t>(place)];
  }

  void add_rounds(const Leg& leg) {
    const bool is_linear = leg.radix >= leg.length;
    if (is_linear) rounds_.emplace_back();
    for (int weight = 1; weight < leg.length; weight *= leg.radix) {
      for (int digit = 1; digit < leg.radix && digit * weight < leg.length; ++digit) {
        Shift shift{rank_at(leg, digit * weight), rank_at(leg, -digit * weight), {}};
        for (std::size_t slot = 0; slot < bytes_.size(); ++slot)
          if (coordinate(static_cast<int>(slot), leg) / weight % leg.radix == digit)
            shift.slots.push_back(slot);
        if (!is_linear) rounds_.emplace_back();
        rounds_.back().push_back(std::move(shift));
      }
    }
  }

  void put(std::size_t slot, std::span<const std::byte> message) {
    bytes_[slot] = static_cast<int>(message.size());
    if (!message.empty()) std::memcpy(slots_.data() + slot * room_, message.data(), message.size());
  }

  /// Sends the sizes of a round first, and then its bytes.
  void pass_on(const std::vector<Shift>& round) {
    requests_.clear();
    std::size_t at = 0;
    for (const Shift& shift : round) {
      const int count = static_cast<int>(shift.slots.size());
      receive(in_bytes_.data() + at, count, MPI_INT, shift.from);
      std::ranges::transform(shift.slots, out_bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                             [&](std::size_t slot) { return bytes_[slot]; });
      send(out_bytes_.data() + at, count, MPI_INT, shift.to);
      at += shift.slots.size();
    }
    wait();
    at = 0;
    std::size_t in_at = 0;
    std::size_t out_at = 0;
    for (const Shift& shift : round) {
      const std::size_t in_begin = in_at;
      const std::size_t out_begin = out_at;
      for (const std::size_t slot : shift.slots) {
        in_at += static_cast<std::size_t>(in_bytes_[at++]);
        const auto bytes = static_cast<std::size_t>(bytes_[slot]);
        std::memcpy(out_.data() + out_at, slots_.data() + slot * room_, bytes);
        out_at += bytes;
      }
      receive(in_.data() + in_begin, static_cast<int>(in_at - in_begin), MPI_BYTE, shift.from);
      send(out_.data() + out_begin, static_cast<int>(out_at - out_begin), MPI_BYTE, shift.to);
    }
    wait();
    at = in_at = 0;
    for (const Shift& shift : round)
      for (const std::size_t slot : shift.slots) {
        const auto bytes = static_cast<std::size_t>(in_bytes_[at++]);
        put(slot, std::span(in_).subspan(in_at, bytes));
        in_at += bytes;
      }
  }
  void receive(void* data, int count, MPI_Datatype type, int from) {
    MPI_Irecv(data, count, type, from, 0, MPI_COMM_WORLD, &requests_.emplace_back(MPI_REQUEST_NULL));
  }
  void send(const void* data, int count, MPI_Datatype type, int to) {
    MPI_Isend(data, count, type, to, 0, MPI_COMM_WORLD, &requests_.emplace_back(MPI_REQUEST_NULL));
  }
  void wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

  Payload& payload_;
  Places places_;
  std::vector<Leg> legs_;
  std::size_t room_ = 0;                    // bytes per slot
  std::vector<std::byte> slots_;            // by slot
  std::vector<int> bytes_;                  // by slot
  std::vector<int> by_place_;               // by slot: the received message that ends there; -1: none
  std::vector<std::vector<Shift>> rounds_;  // the shifts of a round run at once
  std::vector<std::byte> out_, in_;         // data of a round
  std::vector<int> out_bytes_, in_bytes_;   // sizes of a round
  std::vector<MPI_Request> requests_;
};

inline std::unique_ptr<Method> make_two_phase_bruck(Payload& payload) {
  const int size = mpi::world_size();
  return std::make_unique<ForwardingMethod>(payload, places_on_a_ring(), std::vector<Leg>{{size, 1, 2}});
}

inline std::unique_ptr<Method> make_tuna_flat(Payload& payload) {
  const int size = mpi::world_size();
  return std::make_unique<ForwardingMethod>(payload, places_on_a_ring(),
                                            std::vector<Leg>{{size, 1, root_up(size)}});
}

inline std::unique_ptr<Method> make_tuna_on_hosts(Payload& payload) {
  Places places = places_on_hosts();
  const int inside = places.per_host;
  const int hosts = mpi::world_size() / inside;
  const std::vector<Leg> legs = {{inside, 1, root_up(inside)}, {hosts, inside, std::max(2, hosts)}};
  return std::make_unique<ForwardingMethod>(payload, std::move(places), legs);
}

}  // namespace nuice::bench
