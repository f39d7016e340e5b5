// SPDX-License-Identifier: BSD-3-Clause
// Inside a host, each rank writes a letter to each rank for which it has messages, into shared memory
// (host_mail.hpp). It publishes when it has written all letters, so no sum over the ranks is needed. Between
// hosts, a sum over all ranks tells each rank how many messages will come. So no message needs a
// confirmation, unlike in nonblocking consensus. All messages are sent at once. Messages that have arrived
// are first only matched. They are received in their final place once all are known.
#include "nuice/mpi/sparse_alltoallv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "core/support/round_up.hpp"
#include "core/text/names.hpp"
#include "exchange/calls/host_mail.hpp"
#include "exchange/calls/staged_messages.hpp"
#include "mpi/agree.hpp"
#include "mpi/attribute.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/communicator.hpp"
#include "mpi/host/looking.hpp"
#include "mpi/requests.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Tags. Letters, and long messages inside a host, have their own. All messages that were sent are received,
/// even in a call that fails. So MPI's message order keeps the messages of different calls apart.
enum SparseTag : int { data_tag, idle_tag, letters_tag, long_tag };
/// Messages are aligned for any type.
constexpr auto alignment = static_cast<Bytes>(alignof(std::max_align_t));
/// A rank with wrong arguments adds this number to the sums that all ranks compute. It is larger than the
/// number of messages that any rank can receive, and 2^22 ranks can add it without overflow.
constexpr std::int64_t wrong = std::int64_t{1} << 40;

/// The place of a letter whose writer has wrong arguments.
constexpr std::int64_t refusal = by_mpi - 1;

constexpr Bytes aligned(Bytes bytes) { return round_up(bytes, alignment); }

/// The state that is kept with a communicator.
struct SparseState {
  explicit SparseState(MPI_Comm parent) : comm(parent, 0), mail(comm) {}
  Communicator comm;
  HostMail mail;
  Number calls = 0;
};

/// A message from another rank, which is received when its size is known.
struct Announced {
  Rank from;
  Bytes bytes;
  const std::byte* letter;  // null if MPI carries the message
  MPI_Message message;      // null if the message comes from this host
};

/// What a rank writes for another rank of its host: a table with the number of messages and their sizes, and
/// then the messages that are not too long. It is written once, and its reader copies the messages from
/// there.
struct SparseLetter {
  std::size_t to;  // index of the receiver on the host
  std::vector<std::int64_t> table = {0};
  std::vector<SharedCopy> copies = {};  // offsets from the end of the table
  Bytes end = 0;

  Bytes table_bytes() const { return aligned(std::ssize(table) * static_cast<Bytes>(sizeof(std::int64_t))); }
  Bytes bytes() const { return table_bytes() + end; }
  void write(std::byte* at, MPI_Comm comm) const {
    std::memcpy(at, table.data(), table.size() * sizeof(std::int64_t));
    for (const SharedCopy& copy : copies) copy.to_memory(at + table_bytes(), comm);
  }
};

/// One call.
class SparseCall {
 public:
  SparseCall(SparseState& state, std::span<const Outgoing> sends)
      : comm_(state.comm),
        mail_(state.mail),
        call_(++state.calls),
        wrong_(attempt(comm_.rank(), [&] { take(sends); })) {}

  Received run() {
    sort_out();
    write_letters();
    if (std::ssize(mail_.near()) < comm_.num_ranks() || !mail_.has_memory()) num_incoming_ = count();
    if (!is_refused_)
      for (const Outgoing& message : sends_)
        start(Requests::Mode::send, segment_of(message), message.to, data_tag);
    receive_all();
    std::ranges::stable_sort(announced_, {}, &Announced::from);
    Received received = make_room();
    receive(received);
    if (mail_.has_memory()) mail_.say_finished(call_);
    for (Watch watch(comm_, "sparse_alltoallv()"); !direct_.test(0, direct_.size());) watch.found_nothing();
    wait_all(comm_, requests_, "MPI_Imrecv");
    if (is_refused_) agree(comm_, wrong_);
    return received;
  }

 private:
  void take(std::span<const Outgoing> sends) {
    const std::string who = rank_name(comm_.rank()) + ": a message to ";
    for (const Outgoing& message : sends) {
      const std::string to = who + rank_name(message.to);
      if (message.to < 0 || message.to >= comm_.num_ranks())
        throw Error(ErrorCode::invalid_argument, to + " of " + std::to_string(comm_.num_ranks()));
      if (message.count < 0)
        throw Error(ErrorCode::invalid_argument, to + " has " + std::to_string(message.count) + " elements");
      if (message.count > 0 && message.type == MPI_DATATYPE_NULL)
        throw Error(ErrorCode::invalid_argument, to + " is of MPI_DATATYPE_NULL");
      if (message.count == 0 || size_of(message.type) == 0) continue;
      if (message.count > max_bytes / size_of(message.type))
        throw Error(ErrorCode::limit, to + " has more than 2^62 bytes");
      sends_.push_back(message);
    }
    staged_ = StagedMessages::of(sends_, {}, comm_.rank());
    if (staged_) {
      staged_->fetch();
      sends_ = staged_->sends();
    }
  }

  /// Puts messages inside the host into letters, or starts them if they are long. Messages to other hosts
  /// stay in sends_, the next rank's first, so that not all ranks begin with the same receiver.
  void sort_out() {
    if (wrong_) sends_.clear();
    if (mail_.has_memory()) {
      for (const Outgoing& message : sends_)
        if (mail_.is_near(message.to)) put(message);
      std::erase_if(sends_, [this](const Outgoing& each) { return mail_.is_near(each.to); });
    }
    const Rank n = comm_.num_ranks();
    std::ranges::stable_sort(sends_, {},
                             [&](const Outgoing& each) { return (each.to - comm_.rank() - 1 + n) % n; });
  }

  static Segment segment_of(const Outgoing& message) {
    return {static_cast<std::byte*>(const_cast<void*>(message.data)), message.count, message.type};
  }

  void start(Requests::Mode mode, const Segment& segment, Rank partner, int tag) {
    direct_.add(mode, segment, partner, tag, comm_.get());
    direct_.start(direct_.size() - 1, direct_.size());
  }

  void put(const Outgoing& message) {
    const std::size_t to = mail_.index_of(message.to);
    auto letter = std::ranges::find(letters_, to, &SparseLetter::to);
    if (letter == letters_.end()) letter = letters_.insert(letter, {.to = to});
    const Bytes bytes = message.count * size_of(message.type);
    ++letter->table[0];
    letter->table.push_back(bytes);
    const Segment segment = segment_of(message);
    if (!mail_.carries(message.to, bytes)) {
      start(Requests::Mode::send, segment, message.to, long_tag);
      return;
    }
    if (message.type != last_type_) are_plain_ = are_plain_bytes(last_type_ = message.type);
    letter->copies.push_back({segment, letter->end, bytes, are_plain_});
    letter->end += aligned(bytes);
  }

  void write_letters() {
    if (!mail_.has_memory()) return;
    MailPlaces places(mail_);
    if (wrong_)
      for (std::size_t to = 0; to < mail_.near().size(); ++to) say(to, 0, refusal);
    for (const SparseLetter& letter : letters_) {
      const std::int64_t place = places.next(letter.bytes());
      say(letter.to, letter.bytes(), place);
      if (place != by_mpi) {
        letter.write(mail_.message_to(letter.to, call_), comm_.get());
      } else {
        auto& packed = packed_.emplace_back(static_cast<std::size_t>(letter.bytes()));
        letter.write(packed.data(), comm_.get());
        must(MPI_Isend(packed.data(), static_cast<int>(packed.size()), MPI_BYTE, mail_.near()[letter.to],
                       letters_tag, comm_.get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
             "MPI_Isend");
      }
      mail_.slot_to(letter.to, call_).call.store(call_, std::memory_order_release);
    }
    mail_.say_written(call_);
  }

  void await_room(std::size_t to) {
    Watch watch(comm_, "sparse_alltoallv()");
    for (unsigned looks = 1; !mail_.has_room(to, call_); ++looks) look_again(looks, watch);
  }

  void say(std::size_t to, Bytes bytes, std::int64_t place) {
    if (!mail_.has_room(to, call_)) await_room(to);
    HostMail::Slot& slot = mail_.slot_to(to, call_);
    slot.bytes = bytes;
    slot.place = place;
    if (place == refusal) slot.call.store(call_, std::memory_order_release);
  }

  void look_again(unsigned looks, Watch& watch) const {
    if (looks % looks_per_progress == 0) let_mpi_go_on(comm_, idle_tag);
    wait_for_a_look(looks, mail_.is_oversubscribed(), false);
    if (comm_.watches()) watch.found_nothing();
  }

  /// Collective. Returns how many messages this rank receives from other hosts; 0 if any rank has wrong
  /// arguments.
  std::int64_t count() {
    std::vector<std::int64_t> ones(static_cast<std::size_t>(comm_.num_ranks()), wrong_ ? wrong : 0);
    for (const Outgoing& message : sends_) ++ones[static_cast<std::size_t>(message.to)];
    std::int64_t incoming = 0;
    reduce_scatter(comm_, ones.data(), &incoming, MPI_INT64_T, MPI_SUM);
    is_refused_ = incoming >= wrong;
    return is_refused_ ? 0 : incoming;
  }

  /// Returns when all messages are announced.
  void receive_all() {
    Watch watch(comm_, "sparse_alltoallv()");
    std::vector<std::size_t> unread(mail_.has_memory() ? mail_.near().size() : 0);
    std::iota(unread.begin(), unread.end(), std::size_t{0});
    for (unsigned looks = 1;; ++looks) {
      const bool is_read = std::erase_if(unread, [this](std::size_t from) { return read(from); }) > 0;
      const bool is_announced = num_announced_ < num_incoming_ && announce();
      if (unread.empty() && num_announced_ == num_incoming_) break;
      if (is_read || is_announced)
        watch.found_something();
      else if (num_announced_ < num_incoming_)
        watch.found_nothing();
      else
        look_again(looks, watch);
    }
  }

  /// Reads the letter of a rank of this host. Returns false if that rank has not written all its letters yet.
  bool read(std::size_t from) {
    if (!mail_.has_written(from, call_)) return false;
    const HostMail::Slot& slot = mail_.slot_from(from, call_);
    if (slot.call.load(std::memory_order_acquire) != call_) return true;
    if (slot.place == refusal) {
      is_refused_ = true;
      return true;
    }
    const std::byte* letter = nullptr;
    if (slot.place == by_mpi) {
      auto& packed = packed_.emplace_back(static_cast<std::size_t>(slot.bytes));
      MPI_Request request = MPI_REQUEST_NULL;
      must(MPI_Irecv(packed.data(), static_cast<int>(packed.size()), MPI_BYTE, mail_.near()[from],
                     letters_tag, comm_.get(), &request),
           "MPI_Irecv");
      wait(comm_, request, "MPI_Irecv");
      letter = packed.data();
    } else {
      letter = mail_.message_from(from, call_);
    }
    take_apart(mail_.near()[from], letter);
    return true;
  }

  void take_apart(Rank from, const std::byte* letter) {
    const auto* const table = reinterpret_cast<const std::int64_t*>(letter);
    letter += aligned((1 + table[0]) * static_cast<Bytes>(sizeof(std::int64_t)));
    for (std::int64_t i = 1; i <= table[0]; ++i) {
      const bool is_carried = mail_.carries(from, table[i]);
      announced_.push_back({from, table[i], is_carried ? letter : nullptr, MPI_MESSAGE_NULL});
      if (is_carried) letter += aligned(table[i]);
    }
  }

  /// Matches a message from another host. Returns false if none has arrived.
  bool announce() {
    int is_here = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    must(MPI_Improbe(MPI_ANY_SOURCE, data_tag, comm_.get(), &is_here, &message, &status), "MPI_Improbe");
    if (is_here == 0) return false;
    ++num_announced_;
    MPI_Count bytes = 0;
    must(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
    announced_.push_back({status.MPI_SOURCE, bytes, nullptr, message});
    return true;
  }

  Received make_room() const {
    Received received;
    Bytes end = 0;
    for (const Announced& each : announced_) {
      received.sources.push_back({each.from, each.bytes});
      received.offsets.push_back(end);
      end += aligned(each.bytes);
    }
    received.data = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end));
    return received;
  }

  void receive(const Received& received) {
    for (std::size_t i = 0; i < announced_.size(); ++i) {
      auto& [from, bytes, letter, message] = announced_[i];
      std::byte* const at = received.data.get() + received.offsets[i];
      if (letter != nullptr) {
        std::memcpy(at, letter, static_cast<std::size_t>(bytes));
      } else if (message == MPI_MESSAGE_NULL) {
        start(Requests::Mode::receive, {at, bytes, MPI_BYTE}, from, long_tag);
      } else {
        const Extent extent = Extent::of(bytes);
        must(MPI_Imrecv(at, extent.count, extent.type.get(), &message,
                        &requests_.emplace_back(MPI_REQUEST_NULL)),
             "MPI_Imrecv");
      }
    }
  }

  const Communicator& comm_;
  const HostMail& mail_;
  Number call_;
  std::vector<Outgoing> sends_;  // messages that are in no letter
  MPI_Datatype last_type_ = MPI_DATATYPE_NULL;
  bool are_plain_ = false;
  std::vector<SparseLetter> letters_;
  std::deque<std::vector<std::byte>> packed_;  // letters for which the shared memory has no room
  std::unique_ptr<StagedMessages> staged_;     // if messages lie on a device
  std::vector<MPI_Request> requests_;
  std::int64_t num_incoming_ = 0;
  std::int64_t num_announced_ = 0;
  std::vector<Announced> announced_;
  Requests direct_;  // messages that MPI carries, except receives from other hosts
  Outcome wrong_;
  bool is_refused_ = false;  // whether any rank has wrong arguments; the same on all ranks
};

}  // namespace

Received sparse_alltoallv(MPI_Comm comm, std::span<const Outgoing> sends) {
  auto& state = attribute_of<SparseState>(comm, [&] { return std::make_unique<SparseState>(comm); });
  return SparseCall(state, sends).run();
}

}  // namespace nuice::mpi
