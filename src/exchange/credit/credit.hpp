// SPDX-License-Identifier: BSD-3-Clause
// The executor `credit`: the receiver says who may send, chunk by chunk, so that its port is never asked for more than
// the network in front of it can hold.
//
//   receiver   goes through its receives in the order of the table, cut into chunks. It grants the next chunk as long
//              as what was granted and has not arrived stays within a window, whoever sends it; and of one
//              sender's within its share of that, a window_senders-th, or more when fewer are left. Window and
//              chunk it finds from how bytes arrive (window_control.hpp), unless it is told not to.
//              Of a sender that has its share nothing is granted, of those behind it in the table is.
//   sender     sends what it was granted, first to whom has most left to receive, as long as what it sent and was not told
//              of as received stays within a window of its own; and of what it sent one receiver within a share of that,
//              as above. With every grant a receiver tells what has come and how much it still misses from all; where it
//              grants nothing it tells what has come alone.
//   first      what fits a receiver's window at the start is granted beforehand, by bind() and then by the last notice of
//              the exchange before, together with the chunk: those chunks leave in start() without a notice. So an
//              exchange of small messages is sent as by the executor async, and so is one whose window has grown to all.
//   confirming exchanges   (1 to 32, then every 16th): a source that was granted everything beforehand gets a notice too,
//              so that a receiver can take back what it grants beforehand. In others it does not change.
//
// A sender may be busy with what others have granted it. With its share alone it cannot hold up the receiver, whose port
// the other senders keep busy meanwhile. (What Homa calls overcommitment; here within one window.) Nor can a receiver that
// begins late or does not look hold up a sender: what it was sent takes its share of the sender's window.
//
// While one message ends the next one's first chunks are under way: the port stays busy over the change of phase, which
// is what executors with phases lose. And of one exchange at most a window is on its way to a rank: a
// switch queue of that length holds it, but for headers.
// (Receiver-driven credits are how transports such as NDP and Homa avoid incast; here the schedule gives the order.)
//
// Over several exchanges: a sender that is through may begin the next one before its receiver is, and send what is granted
// at the start. So at most another window of the next exchange comes on top, all of which may arrive before its receives
// are posted; and no more, as no sender is through before its receivers have begun: it needs a notice of this exchange, or
// a message of the receiver; where it needs neither, its last chunk is a synchronous send. What comes from ranks of the
// same host counts for nothing in this.
//
// A sender's window keeps short what waits in its own port: grants wait there too, behind the data, and a receiver whose
// grants are late runs dry. Where all send to whom they receive from, that cost a sixth of the time (docs/adr/0013).
//
// Why no rank waits forever: a receiver's grants wait for nothing but arrivals of what it granted before. A sender that has
// a grant waits, if at all, until it is told of chunks that are under way. Those land, as their receives are posted, and
// whoever got one tells unless it has told that sender its last; what is sent after the last notice counts for nothing.
// So every chunk is granted and sent after finitely many others have arrived. A synchronous send waits for its receiver to
// begin, which waits for nothing but the end of its exchange before.
//
// Why chunks land where they belong: a pair's chunks are granted, received and sent in the order of the table, with one
// tag, and MPI keeps that order. A grant for the next exchange stays unreceived until that one is started.
//
// Waiting gives up the core after every look that found nothing: a grant is answered by a rank that may need it, and not
// every MPI does so by itself (MPICH; docs/explanation/results.md).
//
// What ranks learn from each other about windows they learn by a reduction that no exchange waits for: it goes on inside the
// calls of later exchanges, and start() looks whether it is there.
//
// Cost beside the payload: one message of 20 bytes for every grant; grants to one sender are merged while the message
// before is still leaving. For every chunk sent a look at the destinations with grants, for every chunk granted at the
// sources that have their share; when a piece is granted, O(sources with a share) to find the next one's place.
// Memory: O(partners + pieces), and what stretch.hpp packs, all of it from bind().
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exchange/bind/table_requests.hpp"
#include "exchange/credit/port_budget.hpp"
#include "exchange/credit/slots.hpp"
#include "exchange/credit/stretch.hpp"
#include "exchange/exec/reports.hpp"
#include "exchange/exec/run.hpp"
#include "exchange/window_control.hpp"
#include "mpi/host/tcp_losses.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

class CreditRun : public Run {
 public:
  /// Does not communicate. A chunk larger than a window is granted when nothing else is under
  /// way. What ranks of this host send passes no port, so it is granted at once, beside the window, in large chunks.
  CreditRun(TableElements elements, const Binding& binding);
  ~CreditRun() override;

  /// Tells the senders what they may send without asking.
  void agree() override;
  void start() override;
  bool advance(bool block) override { return advance(block, false); }
  /// Every chunk that lands is noted anyway.
  void follow() override {}
  bool always_follows() const override { return true; }
  bool awaits_copies() const override { return copies_ != nullptr; }
  bool next(bool block) override { return advance(block, block); }
  std::int64_t num_events() const override { return num_events_; }
  std::string waits_for() const override;
  void cancel() noexcept override;
  void describe(ExchangeInfo& info) const override;

 private:
  /// A walk through the chunks of some stretches, in order.
  struct Cursor {
    std::size_t stretch = 0;
    Bytes offset = 0;
  };
  /// What a receiver tells a sender: how many chunks more, the bytes that have come since the last notice, how much
  /// the receiver still misses from everybody, in KiB; and of the next exchange the chunk and how many are granted beforehand.
  static constexpr int notice_size = 5;
  using Notice = std::array<int, notice_size>;
  enum NoticePart { granted_chunks, landed_bytes, missing_kib, next_granted_chunks, next_chunk };
  /// What both ends of a pair know of an exchange before it begins.
  struct Terms {
    Bytes chunk_bytes;
    std::int64_t granted = 0;  // chunks
  };
  /// What is exchanged with one partner, in one direction.
  struct Peer {
    Rank rank;
    bool is_near;
    Terms terms;
    Terms next_terms;                // of the next exchange, as far as is known
    std::vector<Stretch> stretches;  // senders' side only: of this partner
    bool is_source = false;          // senders' side only: this rank receives from it too
    std::size_t first_stretch = 0;   // receivers' side only: of this partner in receives_, and the last
    std::size_t last_stretch = 0;
    std::size_t arrival = 0;  // receivers' side only: its place among the arrivals
    Bytes bytes = 0;          // receivers' side only: of all stretches
    std::int64_t chunks = 0;  // of all stretches, as they are cut
    Bytes outstanding = 0;    // receivers: granted and not here; senders: sent and not reported
    // of the running exchange
    Cursor next{};              // senders: the chunk to send next
    std::int64_t granted = 0;   // chunks, in all
    std::int64_t sent = 0;      // senders: chunks started
    Notice notice{};            // under way, or the last that came
    int waiting = 0;            // receivers: chunks to be granted by the next notice
    Bytes landed = 0;           // receivers: bytes to be reported by the next notice
    int missing = 0;            // senders: what the receiver still misses, in KiB
    Bytes bytes_left = 0;       // receivers
    int all_kib = 0;            // senders: what the receiver misses at the start, from everybody
    bool awaits_last = false;   // a last notice is to come, or to be sent
    bool is_confirmed = false;  // senders: the receiver says something that shows that it has begun
    bool is_queued = false;     // stands in ready_ or to_notify_
  };
  /// What a request slot is used for.
  struct Slots {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  using Elements = std::vector<TableElements::Elements>;
  static Peer new_peer(Rank rank, const RunSettings& settings);
  std::int64_t list_receives(const Elements& receives, const RunSettings& settings);
  std::int64_t list_sends(const Elements& sends, const RunSettings& settings);
  static void step(std::span<const Stretch> stretches, Cursor& cursor);
  static int in_kib(Bytes bytes);
  struct Grant {
    Stretch::Chunk chunk;
    std::size_t stretch;  // in receives_
    std::size_t slot;     // among the receives
  };
  Bytes share_of(Bytes window, std::size_t partners_left) const;
  bool is_open(std::size_t place);
  void step_open(std::size_t place);
  std::optional<Grant> next_near_grant();
  std::optional<Grant> next_far_grant();
  std::optional<Grant> next_grant();
  void reset_grants();

  // Between two exchanges.
  void cut_receives(Bytes chunk_bytes);
  void cut_sends(Peer& destination);
  void plan_next_terms();
  void begin_next_terms();
  void learn();
  void finish_exchange();
  double lost_share();
  void look_at_others_losses();
  void grant_what_fits();
  void post_receive(const Grant& grant);
  static bool must_be_notified(const Peer& source);
  static bool is_last_notice(const Peer& source);
  void notify(std::size_t source);
  void will_notify(std::size_t source);
  void notify_all();
  void take_notice(std::size_t destination);
  void look_at_window();
  void begin_destination(std::size_t index);
  void take_grant(std::size_t destination, std::int64_t chunks);
  void start_send(const Stretch::Chunk& chunk, const Peer& to, MPI_Request& request);
  void listen(std::size_t destination);
  bool may_send(const Peer& destination) const;
  static bool ends_unconfirmed(const Peer& destination);
  std::optional<std::size_t> next_ready() const;
  void send_what_is_granted();
  bool advance(bool block, bool until_arrival);
  void finish(std::size_t slot);
  bool is_done() const;

  MPI_Request& at(const Slots& slots, std::size_t i) { return requests_[slots.begin + i]; }

  std::shared_ptr<const Communicator> comm_;
  std::vector<Datatype> types_;  // of the stretches
  Arrivals& arrivals_;
  Copies* copies_;
  std::vector<Stretch> receives_;
  std::vector<std::size_t> source_of_;     // by receive stretch: index in sources_
  std::vector<std::size_t> next_of_same_;  // by receive stretch: the same source's next one, or no_stretch
  std::vector<Peer> sources_;
  std::vector<Peer> destinations_;
  int data_tag_;
  int grant_tag_;
  exchange::WindowControl control_;
  std::unique_ptr<Reports> reports_;  // none if nothing is to be learnt
  TcpLosses losses_;
  std::int64_t sent_again_ = 0;  // in exchanges that were looked at since the last report
  int exchanges_with_losses_ = 0;
  double send_share_;  // of a host's window that is this rank's when it sends
  std::shared_ptr<SharedSegment> budgets_;
  PortBudget receive_budget_;
  PortBudget send_budget_;
  int window_senders_;
  Bytes window_bytes_ = 0;
  Bytes send_window_bytes_ = 0;
  // With these windows the terms were made.
  Bytes first_window_bytes_ = 0;
  Bytes next_first_window_bytes_ = 0;
  Bytes next_chunk_bytes_ = 0;
  Bytes cut_bytes_ = 0;  // the chunks into which receives from other hosts are cut now
  Bytes far_receive_bytes_ = 0;
  Bytes far_send_bytes_ = 0;
  std::size_t num_near_receives_ = 0;  // the first of receives_ are those from this host,
  std::size_t num_near_sources_ = 0;   // and of sources_
  std::size_t num_far_destinations_ = 0;
  std::int64_t num_receive_chunks_ = 0;
  std::int64_t num_send_chunks_ = 0;

  std::vector<MPI_Request> requests_;  // all slots, so that one call waits for whatever comes first
  std::vector<int> indices_;
  Slots receive_slots_;
  Slots incoming_slots_;  // by destination: its next grant
  Slots send_slots_;
  Slots outgoing_slots_;  // by source: the grant that is leaving

  // of the running exchange
  std::vector<Bytes> receive_bytes_;     // by receive slot
  std::vector<std::byte*> receive_at_;   // likewise
  std::vector<std::size_t> receive_of_;  // by receive slot: index in receives_
  std::vector<double> asked_at_s_;       // by receive slot; below 0: granted beforehand
  std::vector<std::size_t> send_to_;     // by send slot: index in destinations_
  SlotPool free_receives_;
  SlotPool free_sends_;
  std::vector<std::size_t>
      ready_;  // destinations with grants that are not used up, the longest waiting first
  std::vector<std::size_t> to_notify_;  // sources that get a notice when what has come is accounted for
  Cursor next_near_;                    // in receives_: what is granted next to this host's ranks
  std::vector<Cursor>
      open_;  // likewise to others, one for each source that has begun, as the table orders them
  std::size_t next_source_ = 0;        // the first that has not begun
  std::size_t destinations_left_ = 0;  // on other hosts, that are not sent everything yet
  Bytes outstanding_ = 0;
  Bytes unreported_ = 0;  // sent, and to be reported yet
  Bytes missing_ = 0;     // of what other hosts are to send
  std::int64_t receives_left_ = 0;
  std::int64_t sends_left_ = 0;
  std::size_t notices_running_ = 0;
  std::size_t last_notices_left_ = 0;  // that are to come
  double now_s_ = 0;
  bool is_confirming_ = false;
  bool is_over_ = true;
  std::int64_t exchange_ = 0;  // its number, from 1 on
  std::int64_t reported_after_ =
      0;  // the exchange that the reduction under way, or waiting to be learnt from, is about
  std::int64_t num_events_ = 0;
  unsigned empty_tests_ = 0;
};

}  // namespace nuice::mpi
