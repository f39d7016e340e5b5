// SPDX-License-Identifier: BSD-3-Clause
#include "drs/message_run.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "nuice/am/progress.hpp"
#include "nuice/core/error.hpp"

namespace nuice::drs {

MessageRun::MessageRun(const std::shared_ptr<void>& keeps_alive, Exchanger::State& exchanger,
                       std::uint32_t number, Messages messages, const Options& options)
    : Run(keeps_alive, exchanger.active, std::move(messages), options),
      exchanger_(exchanger),
      number_(number),
      listed_(messages_.in.size()),
      listed_for_next_(messages_.in.size()),
      to_send_(messages_.out.size()),
      is_sent_(messages_.out.size(), 0) {
  ports_.reserve(messages_.in.size());
  granted_.reserve(messages_.in.size());
  for (std::uint32_t i = 0; i < messages_.in.size(); ++i)
    ports_.push_back(exchanger_.endpoint.open_port(messages_.in[i].data,
                                                   static_cast<Bytes>(messages_.in[i].data.size()),
                                                   [this, i](am::Context&) { arrived(i); }));
  if (exchanger_.runs.size() <= number_) exchanger_.runs.resize(number_ + 1, nullptr);
  exchanger_.runs[number_] = this;
  if (options_.when_busy == WhenBusy::refuse) options_.early_bytes = 0;
}

// Closing a port may make progress. Data may still arrive for an exchange that was given up.
MessageRun::~MessageRun() {
  const am::Mask mask(exchanger_.endpoint);
  exchanger_.runs[number_] = nullptr;
  listed_.clear();
  ports_.clear();
}

void MessageRun::begin() {
  if (round_ > 1)
    for (am::Port& port : ports_) port.rearm();
  locked_ = false;
  to_arrive_ = messages_.in.size();
  unsent_ = messages_.out.size();
  std::ranges::fill(is_sent_, 0);
  std::swap(listed_, listed_for_next_);
}

bool MessageRun::step(am::FirstError& held) {
  held.of([this] { grant_listed(); });
  if (!to_send_.empty()) {
    send_granted(held);
  } else if (!asking_) {
    held.of([this] { ask_next(); });
  }
  return unsent_ == 0 && to_arrive_ == 0;
}

void MessageRun::ask_next() {
  const int message = next_to_ask();
  if (message < 0) return;
  const Messages::Outgoing& out = messages_.out[static_cast<std::size_t>(message)];
  asking_ = true;
  ++counters_.inquiries;
  exchanger_.endpoint.send(
      out.dst, exchanger_.inquiry_handler,
      Inquiry{number_, static_cast<std::uint32_t>(message), round_, static_cast<Bytes>(out.data.size())});
}

void MessageRun::take_answer(const Answer& answer) {
  if (answer.round != round_ || answer.slot >= messages_.out.size())
    throw Error(ErrorCode::mismatch,
                "rank " + std::to_string(exchanger_.endpoint.rank()) + " got an answer without an inquiry");
  if (answer.reply != Reply::granted_later) asking_ = false;
  if (answer.reply != Reply::refused) {
    to_send_.push({answer.slot, answer.port});
    return;
  }
  ++counters_.refusals;
  if (options_.when_busy == WhenBusy::refuse) ask_again_later(answer.slot);
}

// Carries out all steps, even if handlers throw in between, because the receiver waits for them.
void MessageRun::send_granted(am::FirstError& held) {
  const Granted granted = to_send_.pop();
  const Messages::Outgoing& out = messages_.out[granted.message];
  am::Endpoint& endpoint = exchanger_.endpoint;
  --unsent_;
  // The data is put in two parts, so that the receiver sees when it may grant the next message.
  const std::size_t last = std::min(static_cast<std::size_t>(options_.early_bytes), out.data.size());
  const std::size_t first = out.data.size() - last;
  if (first > 0) held.of([&] { endpoint.put(granted.port, 0, out.data.first(first)); });
  if (last > 0) held.of([&] { endpoint.put(granted.port, static_cast<Bytes>(first), out.data.last(last)); });
  is_sent_[granted.message] = 1;
  ++num_moved_;
  if (options_.when_busy == WhenBusy::refuse)
    held.of([&] { endpoint.send(out.dst, exchanger_.release_handler, Release{round_, number_}); });
}

void MessageRun::append_waited_for(std::vector<Rank>& ranks) const {
  for (std::size_t i = 0; i < messages_.out.size(); ++i)
    if (is_sent_[i] == 0) ranks.push_back(messages_.out[i].dst);
  for (std::size_t i = 0; i < messages_.in.size(); ++i)
    if (!ports_[i].complete()) ranks.push_back(messages_.in[i].src);
}

std::uint32_t MessageRun::source_index(Rank src, Bytes bytes) const {
  const auto found = std::ranges::lower_bound(messages_.in, src, {}, &Messages::Incoming::src);
  if (found != messages_.in.end() && found->src == src && std::cmp_equal(found->data.size(), bytes))
    return static_cast<std::uint32_t>(found - messages_.in.begin());
  throw Error(ErrorCode::mismatch, "rank " + std::to_string(src) + " -> rank " +
                                       std::to_string(exchanger_.endpoint.rank()) + ": " +
                                       std::to_string(bytes) + " bytes are not expected");
}

Answer MessageRun::answer(std::uint32_t slot, Reply reply) const {
  return {number_, slot, round_, {}, reply};
}

Answer MessageRun::grant(const Asked& asked, Reply reply) {
  Answer yes = answer(asked.slot, reply);
  yes.port = ports_[asked.source].ref();
  if (options_.when_busy == WhenBusy::refuse) {
    locked_ = true;
  } else {
    granted_.push_back(asked.source);
  }
  return yes;
}

bool MessageRun::is_free() const {
  if (options_.when_busy == WhenBusy::refuse) return !locked_;
  if (granted_.empty()) return true;
  if (options_.early_bytes == 0) return false;
  Bytes to_come = 0;
  for (const std::uint32_t source : granted_) to_come += ports_[source].missing();
  return to_come <= options_.early_bytes;
}

void MessageRun::take_inquiry(am::Context& from, const Inquiry& inquiry) {
  const Asked asked{source_index(from.source(), inquiry.bytes), inquiry.slot};
  const bool begun = is_started() && inquiry.round == round_;
  if (inquiry.round != round_ + (begun ? 0 : 1))
    throw Error(ErrorCode::mismatch, "rank " + std::to_string(from.source()) + " asks for round " +
                                         std::to_string(inquiry.round) + " of an exchange that is in round " +
                                         std::to_string(round_));
  if (begun && is_free()) {
    from.reply(exchanger_.answer_handler, grant(asked, Reply::granted));
    return;
  }
  if (options_.when_busy == WhenBusy::list) (begun ? listed_ : listed_for_next_).push(asked);
  Answer no = answer(inquiry.slot, Reply::refused);
  no.round = inquiry.round;
  from.reply(exchanger_.answer_handler, no);
}

void MessageRun::grant_listed() {
  while (!listed_.empty() && is_free()) {
    const Asked asked = listed_.pop();
    exchanger_.endpoint.send(messages_.in[asked.source].src, exchanger_.answer_handler,
                             grant(asked, Reply::granted_later));
  }
}

void MessageRun::arrived(std::uint32_t source) {
  --to_arrive_;
  ++num_moved_;
  std::erase(granted_, source);
  grant_listed();
}

void MessageRun::take_release(const Release& release) {
  if (release.round == round_) locked_ = false;
}

}  // namespace nuice::drs
