// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that nobody has planned: every rank knows its own messages, and both ends of a message know its bytes. That is
// enough for a pace set by the receivers, from the first exchange on, with nothing agreed upon.
//
//   sender     sends the first unasked_bytes of every message at once (unasked_bytes_of), and the rest when it is granted.
//   receiver   grants chunks of the others, me - 1 first, then me - 2, ..., as long as what it granted and has not got stays within a
//              window; and of one sender's within its share of that, a window_senders-th. Those whose first bytes are here come
//              first: a sender that has not begun would hold up the window.
//   both       as the executor credit (credit.hpp) in everything else: notices tell what has come and what is still missing, a
//              sender has a window of its own, ranks of the same host send everything at once.
//
// Several exchanges may be under way at once, and ranks may be several apart: messages of one pair are numbered, each number has its two tags
// (data, notices), and all share the windows, as they share the port. A rank need not take part in exchanges in which it has no
// message. A notice tells the receiver's bytes, so ends that do not agree end with an error that names the pair.
//
// Why no rank waits for ever: grants wait for nothing but the arrival of what was granted before, and one grant to those that have begun is always
// allowed, whatever was granted to others: these may begin only when something that has begun is through. What
// was granted is sent once notices of chunks before it have come, and one chunk may always be under way. Whoever is inside an exchange answers. So each
// message needs, besides its two ends, only ranks that one of them sends to, and these to be inside their exchange. (tests/model has
// the protocol as a model that SPIN checks.)
//
// Why chunks land where they belong: those of one message are granted, received and sent in one order with one tag, and MPI keeps it.
// A tag comes again after `numbers` messages of the pair; earlier ones are sent and received before later ones in any case.
//
// An exchange that may be left: its messages are cut into chunks that both ends know from the bytes alone (chunk_bytes_of), so that a grant
// only says "up to here" and chunks match whether they were granted or not. A rank that is about to wait for something else, and so answers no
// grants, opens it: as receiver it posts and grants all that is still to come, as sender it sends all that is left unasked. From then on MPI alone
// brings it to its end, as its own nonblocking collectives; only the pace is lost. Nobody else has to know: a receiver that paces itself finds
// there what it grants, and its notices, 64 bytes each, find receives sooner or later.
//
// Cost beside the payload: 64 bytes for every notice. A look costs MPI_Testsome of what is under way. Memory: O(partners + chunks in
// the window); vectors are kept from exchange to exchange.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/planless/port_window.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

struct PlanlessSettings {
  Bytes unasked_bytes = 0;  ///< Equal on all ranks, at least 1.
  int window_senders = 1;
  exchange::WindowBounds window = {};
  double send_share = 1;        ///< Of its host's window, when it sends.
  std::vector<Rank> near = {};  ///< This host's ranks, ascending.
};

/// One message: bytes one behind the other, at least one. They stay where they are until the exchange is complete.
/// tag: its own, and the next one for notices, of those behind the channel's and the same at both ends; below 0: by its number.
struct PlanlessSend {
  Rank rank;
  const std::byte* at;
  Bytes bytes;
  int tag = -1;
};
struct PlanlessReceive {
  Rank rank;
  std::byte* at;
  Bytes bytes;
  int tag = -1;
};

/// Of one exchange, the same on all ranks.
struct PlanlessTerms {
  Bytes unasked_bytes = 0;  ///< Of each message; 0: as in the settings.
  Bytes whole_bytes = 0;    ///< Messages up to here go unasked in any case.
  bool may_be_left = false;
};

/// Is told when a message is here, by its place among the receives.
class PlanlessListener {
 public:
  virtual ~PlanlessListener() = default;
  virtual void land(std::size_t receive) = 0;
};

/// Bytes of a message that go unasked where the user has not said: what any network bears from one sender (10 segments, RFC 6928)
/// twice over, shared by all that may send to a rank, a segment each at least. The same on all ranks.
Bytes default_unasked_bytes(Rank num_senders);

/// Of a message, the same at both ends: unasked_bytes, and with them a rest that is no longer and fits a TCP segment, which is not worth the packet that
/// asks for it.
/// Messages up to whole_bytes go whole in any case.
Bytes unasked_bytes_of(Bytes message, Bytes unasked_bytes, Bytes whole_bytes = 0);

/// Into which the rest of such a message is cut where its exchange may be left, the same at both ends: all alike, and about a quarter of the least
/// window each. Those of a long message are longer, as all of them may have to be posted at once.
Bytes chunk_bytes_of(Bytes message, Bytes unasked);

/// Where messages travel: a communicator that outlives the engine, and of its tags the first 2 * numbers from first_tag on.
struct PlanlessChannel {
  MPI_Comm comm;
  Rank rank;
  Rank num_ranks;
  int first_tag;
  int numbers;
};

class PlanlessEngine {
 public:
  class Ongoing;

  PlanlessEngine(const PlanlessChannel& channel, PlanlessSettings settings);
  PlanlessEngine(const PlanlessEngine&) = delete;
  PlanlessEngine& operator=(const PlanlessEngine&) = delete;
  ~PlanlessEngine();

  /// Begins an exchange. Messages to or from one rank are matched in their order. Both ends of every message must come here,
  /// in the same order for the messages of one pair.
  Ongoing* begin(std::span<const PlanlessSend> sends, std::span<const PlanlessReceive> receives,
                 PlanlessListener& listener, const PlanlessTerms& terms = {});
  /// This rank is about to wait for something else. Of an exchange that may be left.
  void open(Ongoing& ongoing);
  /// Looks once at what has come, for all exchanges. Whether anything has. Throws Error mpi, and mismatch where a pair's sizes differ.
  bool look();
  bool is_done(const Ongoing& ongoing) const;
  /// Of one that is done: it is gone.
  void end(Ongoing* ongoing);
  /// Nothing that comes from now on is written into its memory.
  void cancel(Ongoing* ongoing) noexcept;
  /// After that: nothing more can be begun.
  bool is_broken() const { return is_broken_; }
  std::vector<Rank> waits_for(const Ongoing& ongoing) const;
  /// What has come to an end, ever.
  std::int64_t num_events() const { return num_events_; }
  const PortWindow& window() const { return window_; }

 private:
  struct Notice {
    std::int64_t granted = 0;  ///< Bytes of the message, in all.
    std::int64_t landed = 0;   ///< Since the notice before.
    std::int64_t missing = 0;  ///< That the receiver still expects, from everybody.
    std::int64_t chunk = 0;    ///< What was granted since the notice before is cut into so many bytes.
    std::int64_t bytes = 0;    ///< Of the message, as the receiver knows it.
    PortKnowledge known = {};
  };
  enum class Kind : std::uint8_t { data_in, data_out, notice_in, notice_out };
  /// What a request is about.
  struct Use {
    Kind kind;
    Ongoing* ongoing;
    std::size_t index;  // of the source or destination
    Bytes bytes;
    double asked_at_s;  // data_in; below 0: it was not
  };
  struct Completed {
    Use use;
    MPI_Status status;
  };
  struct Source;
  struct Destination;

  int next_tag(std::vector<std::int64_t>& numbers, Rank rank);
  bool is_near(Rank rank) const;
  MPI_Request* add_request(const Use& use);
  void receive_chunk(Ongoing& ongoing, std::size_t index, Bytes bytes, double asked_at_s);
  void send_chunk(Ongoing& ongoing, std::size_t index, Bytes bytes);
  void begin_receives(Ongoing& ongoing, std::span<const PlanlessReceive> receives,
                      const PlanlessTerms& terms);
  void grant_all(Ongoing& ongoing);
  void send_all(Ongoing& ongoing);
  void begin_sends(Ongoing& ongoing, std::span<const PlanlessSend> sends, const PlanlessTerms& terms);
  void listen(Ongoing& ongoing, std::size_t index);

  void take_out(int found);
  [[noreturn]] void fail_by_status(int code, int found) const;
  void take(const Completed& completed);
  void take_data(const Use& use, const MPI_Status& status);
  void take_notice(const Use& use);
  void grant();
  void grant_those(bool are_here, Bytes window);
  bool grant_source(Ongoing& ongoing, std::size_t index, Bytes window);
  bool is_any_granted(bool are_here) const;
  void will_notify(Ongoing& ongoing, std::size_t index);
  void notify_all();
  void notify(Ongoing& ongoing, std::size_t index);
  void send_notice(Ongoing& ongoing, std::size_t index, Notice& notice);
  void send_granted();
  std::optional<std::size_t> next_ready() const;
  static Bytes next_chunk(const Destination& destination);
  void forget_done();
  bool may_send(const Destination& destination) const;
  Bytes in_flight() const;
  Bytes share_of(Bytes window, std::size_t partners_left) const;

  PlanlessChannel channel_;
  PlanlessSettings settings_;
  PortWindow window_;
  std::vector<std::int64_t> sent_numbers_;      // by rank: messages so far
  std::vector<std::int64_t> received_numbers_;  // likewise

  std::vector<std::unique_ptr<Ongoing>> all_;
  std::vector<Ongoing*> active_;  // the oldest first
  std::vector<Ongoing*> idle_;
  std::vector<MPI_Request> requests_;
  std::vector<Use> uses_;             // by request
  std::vector<Completed> completed_;  // of this look
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  struct Place {
    Ongoing* ongoing;
    std::size_t index;
  };
  std::vector<Place> ready_;      // destinations with grants that are not used up
  std::vector<Place> to_notify_;  // sources

  Bytes granted_in_flight_ = 0;        // asked for, from other hosts, and not here
  Bytes unasked_in_flight_ = 0;        // likewise, of what comes unasked
  Bytes missing_ = 0;                  // from other hosts
  Bytes unreported_ = 0;               // sent, and to be reported yet
  std::size_t sources_left_ = 0;       // that are not granted everything
  std::size_t destinations_left_ = 0;  // on other hosts, that are not sent everything
  std::int64_t num_events_ = 0;
  bool is_broken_ = false;
  double now_s_ = 0;
};

}  // namespace nuice::mpi
