// SPDX-License-Identifier: BSD-3-Clause
// DRS_N with active messages (004 fig. 5).
//
// Sender: has one inquiry in flight at a time, to the receiver of one message. If the receiver grants the
// message, the sender puts the data and, with `refuse`, releases the receiver's lock. If the receiver
// refuses, the sender inquires about another message. With `refuse` it repeats the refused inquiry after the
// others. With `list` it does not repeat it: the receiver has noted the inquiry, and sends the grant later.
//
// Receiver: with `refuse` it has a lock that an inquiry sets and a release frees. With `list` it grants the
// next inquiry when all but early_bytes of the data granted before has arrived. Inquiries that must wait are
// listed, including inquiries for a round that has not begun yet.
//
// Why no rank waits forever: a granted sender needs only the receiver, which takes data whenever it makes
// progress. So every grant ends, and the receiver is free again for the next inquiry in the list, or for the
// next rank that asks. Until then refused senders repeat their inquiries. With `refuse` a rank may be refused
// many times, but each time another message has been granted, and the number of messages is limited.
//
// Cost in addition to the payload: an inquiry and an answer for every try, and with `refuse` a release for
// every message.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "drs/exchanger_state.hpp"
#include "drs/run.hpp"
#include "nuice/am/port.hpp"

namespace nuice::drs {

/// A first-in, first-out queue with a capacity that is known from the beginning.
template <typename T>
class Queue {
 public:
  explicit Queue(std::size_t room) : places_(room) {}
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void push(const T& item) { places_[(first_ + size_++) % places_.size()] = item; }
  T pop() {
    const T item = places_[first_];
    first_ = (first_ + 1) % places_.size();
    --size_;
    return item;
  }

 private:
  std::vector<T> places_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

class MessageRun : public Run {
 public:
  MessageRun(const std::shared_ptr<void>& keeps_alive, Exchanger::State& exchanger, std::uint32_t number,
             Messages messages, const Options& options);
  ~MessageRun() override;

  bool step(am::FirstError& held) override;
  void append_waited_for(std::vector<Rank>& ranks) const override;

  // Handlers:
  void take_inquiry(am::Context& from, const Inquiry& inquiry);
  void take_answer(const Answer& answer);
  void take_release(const Release& release);

 protected:
  void begin() override;

 private:
  /// A waiting inquiry.
  struct Asked {
    std::uint32_t source;  // index in messages_.in
    std::uint32_t slot;    // of the sender
  };
  struct Granted {
    std::uint32_t message;  // index in messages_.out
    am::PortRef port;
  };

  std::uint32_t source_index(Rank src, Bytes bytes) const;
  Answer answer(std::uint32_t slot, Reply reply) const;
  Answer grant(const Asked& asked, Reply reply);
  bool is_free() const;
  void grant_listed();
  void arrived(std::uint32_t source);
  void ask_next();
  void send_granted(am::FirstError& held);

  Exchanger::State& exchanger_;
  std::uint32_t number_;
  std::vector<am::Port> ports_;  // by index in messages_.in

  // As a receiver, in this round:
  bool locked_ = false;                 // refuse
  std::vector<std::uint32_t> granted_;  // list: sources whose data is not complete
  Queue<Asked> listed_;
  Queue<Asked> listed_for_next_;  // inquiries of ranks that are one round ahead; no rank can be two rounds
                                  // ahead of a receiver
  std::size_t to_arrive_ = 0;

  // As a sender:
  Queue<Granted> to_send_;
  bool asking_ = false;
  std::size_t unsent_ = 0;
  std::vector<char> is_sent_;  // by index in messages_.out; in this round
};

}  // namespace nuice::drs
