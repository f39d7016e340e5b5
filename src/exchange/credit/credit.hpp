// SPDX-License-Identifier: BSD-3-Clause
// The executor `credit`: the receiver says who may send, chunk by chunk, so that its port is never asked for more than
// the network in front of it can hold.
//
//   receiver   goes through its receives in the order of the table, cut into chunks of chunk_bytes. It grants the next
//              chunk as long as what was granted and has not arrived stays within window_bytes, whoever sends it; and
//              of one sender's within its share of that, window_bytes / window_senders, or more when fewer are left.
//              Of a sender that has its share nothing is granted, of those behind it in the table is.
//   sender     sends what it was granted, first to whom has most left to receive, as long as what it sent and was not told
//              of as received stays within a window of its own; and of what it sent one receiver within a share of that,
//              as above. With every grant a receiver tells what has come and how much it still misses from all; where it
//              grants nothing it tells what has come alone.
//   first      what fits a receiver's window at the start is granted once and for all by bind(): those chunks leave in
//              start() without a word. So an exchange of small messages is sent as by the executor async.
//
// A sender may be busy with what others have granted it. With its share alone it cannot hold up the receiver, whose port
// the other senders keep busy meanwhile. (What Homa calls overcommitment; here within one window.) Nor can a receiver that
// begins late or does not look hold up a sender: what it was sent takes its share of the sender's window.
//
// While one message ends the next one's first chunks are under way: the port stays busy over the change of phase, which
// is what the executors phased and barrier lose. And of one exchange at most window_bytes are on their way to a rank: a
// switch queue of that length holds them, but for headers.
// (Receiver-driven credits are how transports such as NDP and Homa avoid incast; here the schedule gives the order.)
//
// Over several exchanges: a sender that is through may begin the next one before its receiver is, and send what is granted
// at the start. So at most another window of the next exchange comes on top, all of which may arrive before its receives
// are posted; and no more, as no sender is through before its receivers have begun: it needs a word of this exchange, or
// a message of the receiver; where it needs neither, its last chunk is a synchronous send. What comes from ranks of the
// same host counts for nothing in this.
//
// A sender's window keeps short what waits in its own port: grants wait there too, behind the data, and a receiver whose
// grants are late runs dry. Where all send to whom they receive from, that cost a sixth of the time (docs/adr/0013).
//
// Why no rank waits forever: a receiver's grants wait for nothing but arrivals of what it granted before. A sender that has
// a grant waits, if at all, until it is told of chunks that are under way. Those land, as their receives are posted, and
// whoever got one tells unless it has told that sender its last; what is sent after the last word counts for nothing.
// So every chunk is granted and sent after finitely many others have arrived. A synchronous send waits for its receiver to
// begin, which waits for nothing but the end of its exchange before.
//
// Why chunks land where they belong: a pair's chunks are granted, received and sent in the order of the table, with one
// tag, and MPI keeps that order. A grant for the next exchange stays unreceived until that one is started.
//
// Waiting gives up the core after every look that found nothing: a grant is answered by a rank that may need it, and not
// every MPI does so by itself (MPICH; docs/measurements.md).
//
// Cost beside the payload: one message of 12 bytes for every grant; grants to one sender are merged while the message
// before is still leaving. For every chunk sent a look at the destinations with grants, for every chunk granted at the
// sources that have their share; when a piece is granted, O(sources with a share) to find the next one's place.
// Memory: O(partners + pieces + window_bytes / chunk_bytes), and what stretch.hpp packs, all of it from bind().
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exchange/credit/slots.hpp"
#include "exchange/credit/stretch.hpp"
#include "exchange/exec/arrivals.hpp"
#include "mpi/communicator.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

class CreditRun {
 public:
  /// A piece of a message: elements of at least a byte, of a type that outlives this.
  struct Elements {
    Rank partner;
    Segment segment;
  };
  struct Settings {
    int data_tag;
    int grant_tag;
    Bytes chunk_bytes;   ///< 1 .. INT_MAX.
    Bytes window_bytes;  ///< At least 1. A chunk larger than that is granted when nothing else is under way.
    Bytes
        send_window_bytes;  ///< At least 1: of what this rank has under way to others, as far as they will report.
    int window_senders;  ///< At least 1.
    /// Ranks of this host, ascending: what they send passes no port, so it is granted at once, beside the window, in
    /// large chunks.
    std::span<const Rank> near = {};
  };

  /// Both lists in the order of the table. Does not communicate.
  CreditRun(std::shared_ptr<const Communicator> comm, std::span<const Elements> sends,
            std::span<const Elements> receives, const Settings& settings);
  CreditRun(const CreditRun&) = delete;
  CreditRun& operator=(const CreditRun&) = delete;
  ~CreditRun();

  /// Collective, once, before the first start(): tells the senders what they may send without asking.
  void agree_on_first_grants();

  void start();
  /// True when this rank's part is complete; block: not before, or (until_arrival) when a message can be handed over.
  /// Tells `arrivals` of every chunk; bind() has told it what to expect.
  bool advance(bool block, Arrivals& arrivals, bool until_arrival = false);
  /// bind(): how many chunks make each source's message.
  void expect_chunks(Arrivals& arrivals);
  /// Chunks and grants that came or left, since bind().
  std::int64_t num_events() const { return num_events_; }

  /// Ranks for which something is still here.
  void append_unsent(std::vector<Rank>& ranks) const;
  /// Before an exchange that failed is destroyed.
  void cancel_receives() noexcept;

 private:
  /// A walk through the chunks of some stretches, in order.
  struct Cursor {
    std::size_t stretch = 0;
    Bytes offset = 0;
  };
  /// What a receiver tells a sender: how many chunks more, the bytes that have come since the last word, and how much
  /// the receiver still misses from everybody, in chunks.
  static constexpr int word_size = 3;
  using Word = std::array<int, word_size>;
  enum WordPart { granted_chunks, landed_bytes, missing_chunks };
  /// What is exchanged with one partner, in one direction.
  struct Peer {
    Rank rank;
    bool is_near;
    Bytes chunk_bytes;
    std::vector<Stretch> stretches;  // senders' side only: of this partner
    bool is_source = false;          // senders' side only: this rank receives from it too
    std::size_t first_stretch = 0;   // receivers' side only: of this partner in receives_, and the last
    std::size_t last_stretch = 0;
    std::size_t arrival = 0;  // receivers' side only: its place among the arrivals
    std::int64_t chunks = 0;  // of all stretches
    Word first_word{};        // chunks granted by bind()
    Bytes outstanding = 0;    // receivers: granted and not here; senders: sent and not reported
    // of the running exchange
    Cursor next{};             // senders: the chunk to send next
    std::int64_t granted = 0;  // chunks, in all
    std::int64_t sent = 0;     // senders: chunks started
    Word word{};               // under way, or the last that came
    int waiting = 0;           // receivers: chunks to be granted by the next word
    Bytes landed = 0;          // receivers: bytes to be reported by the next word
    int missing = 0;           // senders: what the receiver still misses, in chunks
    bool is_queued = false;    // stands in ready_ or to_tell_
  };
  /// What a request slot is used for.
  struct Slots {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  static Peer new_peer(Rank rank, const Settings& settings);
  std::int64_t list_receives(std::span<const Elements> receives, const Settings& settings);
  std::int64_t list_sends(std::span<const Elements> sends, const Settings& settings);
  static void step(std::span<const Stretch> stretches, Cursor& cursor);
  static int in_chunks(Bytes bytes, const Peer& peer);
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

  void plan_first_grants();
  void grant_what_fits();
  void post_receive(const Grant& grant);
  static bool must_hear_more(const Peer& source);
  void tell(std::size_t source);
  void will_tell(std::size_t source);
  void tell_all();
  void hear(std::size_t destination);
  bool may_send(const Peer& destination) const;
  static bool ends_unheard(const Peer& destination);
  std::optional<std::size_t> next_ready() const;
  void send_what_is_granted();
  void finish(std::size_t slot, Arrivals& arrivals);
  bool is_done() const;

  MPI_Request& at(const Slots& slots, std::size_t i) { return requests_[slots.begin + i]; }

  std::shared_ptr<const Communicator> comm_;
  std::vector<Stretch> receives_;
  std::vector<std::size_t> source_of_;     // by receive stretch: index in sources_
  std::vector<std::size_t> next_of_same_;  // by receive stretch: the same source's next one, or no_stretch
  std::vector<Peer> sources_;
  std::vector<Peer> destinations_;
  int data_tag_;
  int grant_tag_;
  Bytes window_bytes_;
  Bytes send_window_bytes_;
  int window_senders_;
  Bytes far_receive_bytes_ = 0;
  std::size_t num_near_receives_ = 0;  // the first of receives_ are those from this host,
  std::size_t num_near_sources_ = 0;   // and of sources_
  std::size_t num_far_destinations_ = 0;
  std::int64_t num_receive_chunks_ = 0;
  std::int64_t num_send_chunks_ = 0;

  std::vector<MPI_Request> requests_;  // all slots, so that one call waits for whatever comes first
  std::vector<int> indices_;
  Slots receive_slots_;
  Slots hear_slots_;  // by destination: its next grant
  Slots send_slots_;
  Slots tell_slots_;  // by source: the grant that is leaving

  // of the running exchange
  std::vector<Bytes> receive_bytes_;     // by receive slot
  std::vector<std::size_t> receive_of_;  // by receive slot: index in receives_
  std::vector<std::size_t> send_to_;     // by send slot: index in destinations_
  SlotPool free_receives_;
  SlotPool free_sends_;
  std::vector<std::size_t>
      ready_;  // destinations with grants that are not used up, the longest waiting first
  std::vector<std::size_t> to_tell_;  // sources that get a word when what has come is accounted for
  Cursor next_near_;                  // in receives_: what is granted next to this host's ranks
  std::vector<Cursor>
      open_;  // likewise to others, one for each source that has begun, as the table orders them
  std::size_t next_source_ = 0;        // the first that has not begun
  std::size_t destinations_left_ = 0;  // on other hosts, that are not sent everything yet
  Bytes outstanding_ = 0;
  Bytes unreported_ = 0;  // sent, and to be reported yet
  Bytes missing_ = 0;     // of what other hosts are to send
  std::int64_t receives_left_ = 0;
  std::int64_t sends_left_ = 0;
  std::size_t tells_running_ = 0;
  std::int64_t num_events_ = 0;
};

}  // namespace nuice::mpi
