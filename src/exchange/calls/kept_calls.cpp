// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallv and its relatives without init. What a call needs is kept with the communicator, and found
// again by the call's arguments.
//
// A rank cannot know whether other ranks have changed their counts. Only the two ends of a message see that
// its size has changed, so nothing may depend on the arguments of a third rank. Short messages inside a host
// go through shared memory (host_mail.hpp). All others are exchanged without a plan (direct_run.hpp). Both
// ways only require, as MPI does, that the two ends of a message call with the same size. Each rank finds
// what it has kept, or makes it again, without communication. Other ranks cannot tell the difference.
//
// Errors: the first call on a communicator compares the sizes of all messages, and fails on all ranks or on
// none. Later, a rank that finds an error sends the error to all other ranks, which check for errors while
// they wait. They fail in this call or, if they have completed it, in the next call. No rank knows which
// calls other ranks have completed, so all later calls on the communicator fail, too.
//
// A program that catches the error may free its buffers, but MPI reads a long message from the send buffer
// only when its receiver has begun the call. So a rank that has failed waits for its sends to ranks that are
// in the call and do not know of the error. A rank that begins the call late checks for errors before it
// receives.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/names.hpp"
#include "exchange/calls/call_side.hpp"
#include "exchange/calls/host_mail.hpp"
#include "exchange/calls/kept_calls.hpp"
#include "exchange/calls/staged_messages.hpp"
#include "exchange/exec/direct_run.hpp"
#include "mpi/agree.hpp"
#include "mpi/attribute.hpp"
#include "mpi/call.hpp"
#include "mpi/communicator.hpp"
#include "mpi/discover/neighbours.hpp"
#include "mpi/faults.hpp"
#include "mpi/host/looking.hpp"
#include "mpi/observing.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/outcome.hpp"
#include "nuice/mpi/alltoallv.hpp"

namespace nuice::mpi {
namespace {

/// The maximum number of different calls that are kept with their memory. Beyond it, the least recently used
/// call is dropped. A call compares its arguments with each kept call. With 16 kept calls this takes less
/// than the 157 ns that a message of 8 bytes takes through shared memory (docs/adr/0043).
constexpr std::size_t most_kept = 16;
enum CallTag : int { fault_tag = DirectRun::tag + 1, letter_tag };
/// If a rank has made no call for this time, other ranks may have failed and stopped waiting, because a rank
/// that fails waits time_to_end_s for its sends. A rank that makes calls more often still has three quarters
/// of this time to begin its receives.
constexpr double late_s = time_to_end_s / 4;
/// The time for which a rank that comes late checks for errors: 0.04 % of late_s, a thousand checks if it has
/// a core (0.05 to 0.08 us each). MPI takes in only a few messages per check. If ranks outnumber cores, a
/// check may take a time slice. With fewer checks, mpi_kept_calls_test crashed on 3, 4 and 8 ranks.
constexpr double listen_s = late_s / 2500;
constexpr int fewest_looks = 32;

/// Returns a number that identifies a datatype. A handle does not identify it, because another datatype may
/// get the same handle later.
std::int64_t number_of(MPI_Datatype type) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    must(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr),
         "MPI_Type_create_keyval");
    return made;
  }();
  static std::atomic<std::intptr_t> last = 0;
  if (type == MPI_DATATYPE_NULL) return 0;
  void* value = nullptr;
  int found = 0;
  must(MPI_Type_get_attr(type, key, static_cast<void*>(&value), &found), "MPI_Type_get_attr");
  if (found == 0) {
    value = reinterpret_cast<void*>(++last);  // NOLINT(performance-no-int-to-ptr): a number that MPI keeps
    must(MPI_Type_set_attr(type, key, value), "MPI_Type_set_attr");
  }
  return reinterpret_cast<std::intptr_t>(value);
}

bool are_same(const std::vector<std::byte>& kept, const Integers& values, std::size_t count) {
  if (values.is_null() || values.size() < count) return kept.empty();
  const auto bytes = values.bytes(count);
  return bytes.size() == kept.size() && std::memcmp(bytes.data(), kept.data(), bytes.size()) == 0;
}

std::vector<std::byte> copy_of(const Integers& values, std::size_t count) {
  const auto bytes = values.bytes(count);
  return {bytes.begin(), bytes.end()};
}

template <typename Message>
std::vector<std::int64_t> bytes_by_rank(std::span<const Message> messages, Rank num_ranks) {
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(num_ranks), 0);
  for (const auto& [rank, size] : sizes_in(messages)) bytes[static_cast<std::size_t>(rank)] += size;
  return bytes;
}

/// Returns the messages that the mail does not carry.
template <typename Message>
std::vector<DirectMessage> direct_of(const HostMail& mail, const std::vector<Message>& messages,
                                     Rank num_ranks) {
  const auto bytes = bytes_by_rank(std::span<const Message>(messages), num_ranks);
  std::vector<DirectMessage> direct;
  for (const auto& [partner, data, count, type] : messages)
    if (count > 0 && !mail.carries(partner, bytes[static_cast<std::size_t>(partner)]))
      direct.push_back({partner, {const_cast<std::byte*>(static_cast<const std::byte*>(data)), count, type}});
  return direct;
}

class KeptCalls {
 public:
  explicit KeptCalls(MPI_Comm parent)
      : comm_(std::make_shared<Communicator>(parent, 0)),
        faults_(comm_, fault_tag),
        mail_(*comm_),
        all_(Neighbours::all_ranks(parent)) {}

  KeptCalls(const KeptCalls&) = delete;
  KeptCalls& operator=(const KeptCalls&) = delete;
  void run(MPI_Comm parent, const CallArguments& call) {
    if (failed_) throw Error(*failed_);
    const Neighbours& partners = partners_of(parent, call);
    agree_on_first(partners, call);
    const Outcome wrong = attempt(comm_->rank(), [&] {
      Kept* const kept = call.fault ? nullptr : find(partners, call);
      carry_out(kept != nullptr ? *kept : add(partners, call));
    });
    if (!wrong) return;
    for (const auto& kept : kept_) kept->direct.cancel(), kept->near.cancel();
    faults_.tell(*wrong);
    failed_ = wrong;
    for (auto& kept : kept_) {
      kept->direct.await_sends(faults_.heard_from());
      kept->near.await_sends(faults_.heard_from());
      leave_to_mpi(std::move(kept));
    }
    kept_.clear();
    throw Error(*failed_);
  }

 private:
  /// The arguments of one side of a call, for comparison with later calls.
  struct SideKey {
    const void* data = nullptr;
    device::Location place = {};  // memory on another device may get the address of freed memory
    Bytes element_bytes = 0;
    Bytes room = 0;
    bool each_has_a_type = false;
    std::vector<std::byte> counts;  // their bytes in the program's memory
    std::vector<std::byte> displs;
    std::vector<std::int64_t> types;
  };
  struct Kept {
    bool is_neighbor;
    bool is_in_place;
    SideKey send;
    SideKey receive;
    std::vector<SharedCopy> copies;  // in-place calls: from the buffer to `memory`
    std::unique_ptr<std::byte[]> memory;
    std::unique_ptr<StagedMessages> staged;  // if buffers lie on a device
    SelfCopy self;
    NearCall near;
    DirectRun direct;
  };
  struct Messages {
    std::vector<Outgoing> sends;
    std::vector<Incoming> receives;
  };

  template <typename Data>
  static SideKey key_of(const Blocks<Data>& blocks, std::size_t count) {
    SideKey key = {.data = blocks.data,
                   .place = device::locate(blocks.data),
                   .element_bytes = blocks.element_bytes,
                   .room = blocks.room,
                   .each_has_a_type = blocks.each_has_a_type,
                   .counts = copy_of(blocks.counts, count),
                   .displs = copy_of(blocks.displs, count),
                   .types = {}};
    const std::size_t num_types =
        blocks.each_has_a_type ? count : std::min<std::size_t>(blocks.types.size(), 1);
    for (std::size_t i = 0; i < num_types; ++i) key.types.push_back(number_of(blocks.types[i]));
    return key;
  }

  template <typename Data>
  static bool is_same(const SideKey& key, const Blocks<Data>& blocks, std::size_t count) {
    if (key.data != blocks.data || key.element_bytes != blocks.element_bytes || key.room != blocks.room ||
        key.each_has_a_type != blocks.each_has_a_type || key.place != device::locate(blocks.data) ||
        blocks.types.size() < key.types.size() || (key.types.empty() && count > 0 && !blocks.types.empty()))
      return false;
    if (!are_same(key.counts, blocks.counts, count) || !are_same(key.displs, blocks.displs, count))
      return false;
    for (std::size_t i = 0; i < key.types.size(); ++i) {
      const bool is_as_before = i > 0 && blocks.types[i] == blocks.types[i - 1];
      if (key.types[i] != (is_as_before ? key.types[i - 1] : number_of(blocks.types[i]))) return false;
    }
    return true;
  }

  const Neighbours& partners_of(MPI_Comm parent, const CallArguments& call) {
    if (!call.is_neighbor) return all_;
    if (!neighbours_) neighbours_ = Neighbours::of(parent);
    return *neighbours_;
  }

  Messages messages_of(const Neighbours& partners, const CallArguments& call) const {
    Messages messages;
    try {
      if (call.fault) throw Error(*call.fault);
      messages.receives = CallSide(call.receive, partners.sources).messages();
      if (!call.is_in_place) messages.sends = CallSide(call.send, partners.destinations).messages();
    } catch (const Error& error) {
      throw Error(error.code(), rank_name(comm_->rank()) + ": " + error.what());
    }
    for (std::size_t i = 1; partners.are_opposite && i < messages.sends.size(); i += 2)
      std::swap(messages.sends[i - 1], messages.sends[i]);
    if (call.is_in_place) {
      std::erase_if(messages.receives, [this](const Incoming& each) { return each.from == comm_->rank(); });
      for (const auto& [from, data, count, type] : messages.receives)
        messages.sends.push_back({from, data, count, type});
    }
    return messages;
  }

  /// Collective. If the two ends of a message have different sizes, throws Error `mismatch` with these two
  /// ranks on all ranks.
  void compare_sizes(const Messages& messages) const {
    const auto sent = bytes_by_rank(std::span<const Outgoing>(messages.sends), comm_->num_ranks());
    const auto expected = bytes_by_rank(std::span<const Incoming>(messages.receives), comm_->num_ranks());
    std::vector<std::int64_t> coming(sent.size());
    MPI_Request request = MPI_REQUEST_NULL;
    must(MPI_Ialltoall(sent.data(), 1, MPI_INT64_T, coming.data(), 1, MPI_INT64_T, comm_->get(), &request),
         "MPI_Ialltoall");
    wait(*comm_, request, "MPI_Ialltoall");
    all_or_none(*comm_, [&] {
      for (std::size_t from = 0; from < coming.size(); ++from)
        if (coming[from] != expected[from])
          throw Error(ErrorCode::mismatch, pair_name(static_cast<Rank>(from), comm_->rank()) + ": " +
                                               std::to_string(coming[from]) + " bytes are sent, " +
                                               std::to_string(expected[from]) + " are expected");
    });
  }

  /// Collective. Waits until all ranks have made this call. A rank that failed in a call of the other kind
  /// does not take part, but has told the others.
  void meet() {
    MPI_Request request = MPI_REQUEST_NULL;
    must(MPI_Ibarrier(comm_->get(), &request), "MPI_Ibarrier");
    for (Watch watch(*comm_, "alltoallv()");; watch.found_nothing()) {
      int is_done = 0;
      must(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
      if (is_done != 0) return;
      failed_ = attempt(comm_->rank(), [this] { faults_.hear(); });
      if (failed_) throw Error(*failed_);
    }
  }

  void agree_on_first(const Neighbours& partners, const CallArguments& call) {
    if (is_compared_[call.is_neighbor]) return;
    if (is_compared_[!call.is_neighbor]) meet();
    Messages messages;
    all_or_none(*comm_, [&] { messages = messages_of(partners, call); });
    compare_sizes(messages);
    is_compared_[call.is_neighbor] = true;
  }

  Kept* find(const Neighbours& partners, const CallArguments& call) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Kept& kept = *kept_[i];
      if (kept.is_neighbor != call.is_neighbor || kept.is_in_place != call.is_in_place ||
          !is_same(kept.receive, call.receive, partners.sources.size()) ||
          (!call.is_in_place && !is_same(kept.send, call.send, partners.destinations.size())))
        continue;
      std::rotate(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(i),
                  kept_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return kept_.front().get();
    }
    return nullptr;
  }

  Kept& add(const Neighbours& partners, const CallArguments& call) {
    Messages messages = messages_of(partners, call);
    std::unique_ptr<StagedMessages> staged =
        StagedMessages::of(messages.sends, messages.receives, comm_->rank());
    if (staged) messages = {staged->sends(), staged->receives()};
    std::vector<SharedCopy> copies;
    std::unique_ptr<std::byte[]> memory;
    if (call.is_in_place && !staged) {
      Bytes end = 0;
      for (const auto& [to, data, count, type] : messages.sends) {
        const Segment segment = {const_cast<std::byte*>(static_cast<const std::byte*>(data)), count, type};
        copies.push_back({segment, end, count * size_of(type), are_plain_bytes(type)});
        end += copies.back().bytes;
      }
      memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end));
      for (std::size_t i = 0; i < copies.size(); ++i)
        messages.sends[i] = {messages.sends[i].to, memory.get() + copies[i].begin, copies[i].bytes};
    }
    SelfCopy self;
    const auto is_own = [this](Rank rank) { return rank == comm_->rank(); };
    const auto from = std::ranges::find_if(messages.sends, is_own, &Outgoing::to);
    const auto to = std::ranges::find_if(messages.receives, is_own, &Incoming::from);
    if (!call.is_neighbor && from != messages.sends.end() && to != messages.receives.end() &&
        are_plain_bytes(from->type) && are_plain_bytes(to->type) &&
        from->count * size_of(from->type) == to->count * size_of(to->type)) {
      self = {from->data, to->data, static_cast<std::size_t>(from->count * size_of(from->type))};
      from->count = to->count = 0;
    }
    std::unique_ptr<Kept> made(
        new Kept{.is_neighbor = call.is_neighbor,
                 .is_in_place = call.is_in_place,
                 .send = call.is_in_place ? SideKey() : key_of(call.send, partners.destinations.size()),
                 .receive = key_of(call.receive, partners.sources.size()),
                 .copies = std::move(copies),
                 .memory = std::move(memory),
                 .staged = std::move(staged),
                 .self = self,
                 .near = NearCall(mail_, *comm_, letter_tag, messages.sends, messages.receives),
                 .direct = DirectRun(comm_, is_broken_, direct_of(mail_, messages.sends, comm_->num_ranks()),
                                     direct_of(mail_, messages.receives, comm_->num_ranks()), nullptr)});
    if (kept_.size() == most_kept) kept_.pop_back();
    return **kept_.insert(kept_.begin(), std::move(made));
  }

  void carry_out(Kept& kept) {
    const bool tests_mpi = !kept.direct.is_empty() || kept.near.may_need_mpi();
    if (tests_mpi) listen_if_late();
    const Number number = ++number_;
    const Observed observed(Region::exchange,
                            static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&kept)));
    if (kept.staged) kept.staged->fetch();
    for (const SharedCopy& copy : kept.copies) copy.to_memory(kept.memory.get(), comm_->get());
    kept.direct.start();
    kept.near.start();
    if (kept.self.bytes > 0) std::memcpy(kept.self.to, kept.self.from, kept.self.bytes);
    std::optional<Watch> watch;
    bool is_near_done = false;
    for (unsigned looks = 1;; ++looks) {
      if (!is_near_done) is_near_done = kept.near.advance(number);
      if (kept.direct.advance(false) && is_near_done) break;
      if (looks % looks_per_progress == 0) {
        faults_.hear();
        kept.near.look_for_shorter(number);
      }
      if (!is_near_done || looks % looks_before_yield == 0)
        wait_for_a_look(looks, mail_.is_oversubscribed(), tests_mpi);
      if (!comm_->watches()) continue;
      if (!watch) watch.emplace(*comm_, "alltoallv()");
      watch->found_nothing();
    }
    if (kept.staged) kept.staged->deliver();
  }

  void listen_if_late() {
    const double now_s = MPI_Wtime();
    if (now_s - std::exchange(last_s_, now_s) < late_s) return;
    for (int looks = 0; looks < fewest_looks || MPI_Wtime() - now_s < listen_s; ++looks) faults_.hear();
  }

  std::shared_ptr<const Communicator> comm_;
  Faults faults_;
  HostMail mail_;
  std::shared_ptr<bool> is_broken_ = std::make_shared<bool>(false);
  Neighbours all_;
  std::optional<Neighbours> neighbours_;
  bool is_compared_[2] = {false, false};     // by is_neighbor
  std::vector<std::unique_ptr<Kept>> kept_;  // the most recently used first
  Number number_ = 0;                        // of the last call
  double last_s_ = 0;                        // when the last call that used MPI began
  Outcome failed_;
};

}  // namespace

void run_kept(MPI_Comm comm, const CallArguments& call) {
  attribute_of<KeptCalls>(comm, [&] { return std::make_unique<KeptCalls>(comm); }).run(comm, call);
}

void alltoallv(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive) {
  run_kept(comm, {.is_neighbor = false, .is_in_place = false, .send = send, .receive = receive});
}

void alltoallv(MPI_Comm comm, InPlace, const ReceiveBlocks& blocks) {
  run_kept(comm, {.is_neighbor = false, .is_in_place = true, .send = {}, .receive = blocks});
}

void neighbor_alltoallv(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive) {
  run_kept(comm, {.is_neighbor = true, .is_in_place = false, .send = send, .receive = receive});
}

}  // namespace nuice::mpi
