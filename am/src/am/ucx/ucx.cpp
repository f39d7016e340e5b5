// SPDX-License-Identifier: BSD-3-Clause
#include "am/ucx/ucx.hpp"

#include <ucp/api/ucp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>

#include "am/endpoint_core.hpp"
#include "am/transport/lull.hpp"
#include "am/transport/record.hpp"
#include "nuice/am/transport.hpp"

namespace nuice::am::ucx {
namespace {

constexpr unsigned am_id = 0;
constexpr std::size_t small_bytes = 64;  // messages up to this size have slots of their own, which stay in
                                         // the cache
/// The maximum number of messages, to all ranks, that UCX still holds. If UCX has no room it keeps messages
/// in a queue, which costs more than waiting here.
constexpr std::size_t max_under_way = 8;
constexpr std::size_t bulk_min = 16384;

void must(ucs_status_t status, const char* call) {
  if (status != UCS_OK)
    throw TransportError(ErrorCode::mpi, std::string(call) + ": " + ucs_status_string(status));
}

bool done(void* request) {
  if (request == nullptr) return true;
  const ucs_status_t status = ucp_request_check_status(request);
  if (status == UCS_INPROGRESS) return false;
  ucp_request_free(request);
  must(status, "UCX transfer");
  return true;
}

/// A message in pieces. UCX packs them directly into what it sends, so most messages are copied once, and not
/// first into a slot.
struct Parcel {
  std::array<std::span<const std::byte>, 3> pieces;

  std::size_t bytes() const { return pieces[0].size() + pieces[1].size() + pieces[2].size(); }
  std::size_t pack(std::size_t offset, std::byte* out, std::size_t room) const {
    std::size_t packed = 0;
    for (const std::span<const std::byte> piece : pieces) {
      const std::size_t skipped = std::min(offset, piece.size());
      const std::size_t taken = std::min(piece.size() - skipped, room - packed);
      if (taken != 0) std::memcpy(out + packed, piece.data() + skipped, taken);
      offset -= skipped;
      packed += taken;
    }
    return packed;
  }
};

/// The functions by which UCX packs parcels. The buffer of a send is a parcel.
const ucp_generic_dt_ops_t parcel_operations = {
    .start_pack = [](void*, const void* parcel, std::size_t) { return const_cast<void*>(parcel); },
    .start_unpack = [](void*, void*, std::size_t) -> void* { return nullptr; },
    .packed_size = [](void* parcel) { return static_cast<const Parcel*>(parcel)->bytes(); },
    .pack =
        [](void* parcel, std::size_t offset, void* out, std::size_t room) {
          return static_cast<const Parcel*>(parcel)->pack(offset, static_cast<std::byte*>(out), room);
        },
    .unpack = [](void*, std::size_t, const void*, std::size_t) { return UCS_ERR_UNSUPPORTED; },
    .finish = [](void*) {},
};

struct Slot {
  void* request = nullptr;
  Parcel parcel;
  std::vector<std::byte> bytes;

  /// Copies the parcel into the slot's memory, because UCX has not packed all of it yet.
  void keep_parcel() {
    parcel.pack(0, bytes.data(), bytes.size());
    parcel.pieces = {std::span<const std::byte>(bytes).first(parcel.bytes())};
  }
};

/// Buffers of messages that UCX may still read, used cyclically.
class Slots {
 public:
  explicit Slots(std::size_t slot_bytes) : slot_bytes_(slot_bytes), slots_(max_under_way) {}
  /// Returns a free slot; null while the oldest slot is in use.
  Slot* free() {
    if (slots_[next_].request != nullptr) {
      // Slots are used in turn and UCX has not finished the last one, so the slot after it is the oldest.
      const std::size_t oldest = (next_ + 1) % slots_.size();
      if (!done(slots_[oldest].request)) return nullptr;
      slots_[oldest].request = nullptr;
      next_ = oldest;
    }
    Slot& slot = slots_[next_];
    if (slot.bytes.empty()) slot.bytes.resize(slot_bytes_);
    return &slot;
  }
  /// Returns the requests to UCX, which frees active ones when they complete.
  void forget() noexcept {
    for (Slot& slot : slots_)
      if (slot.request != nullptr) ucp_request_free(std::exchange(slot.request, nullptr));
  }

 private:
  std::size_t slot_bytes_;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
};

class UcxTransport : public Transport {
 public:
  UcxTransport(std::unique_ptr<Rendezvous> rendezvous, std::size_t max_message_bytes)
      : rendezvous_(std::move(rendezvous)),
        rank_(static_cast<std::uint32_t>(rendezvous_->rank())),
        max_message_bytes_(max_message_bytes),
        short_slots_(small_bytes),
        slots_(sizeof(Header) + max_message_bytes) {
    std::string trouble;
    std::string address;
    try {
      open();
      address = own_address();
    } catch (const Error& error) {
      trouble = error.what();
    }
    if (!rendezvous_->all_agree(trouble.empty())) {
      close();
      throw Error(ErrorCode::mpi, trouble.empty() ? "UCX failed on another rank" : trouble);
    }
    const std::vector<std::string> addresses = rendezvous_->all_gather(address);
    try {
      for (const std::string& theirs : addresses) connect_to(theirs);
    } catch (const Error& error) {
      trouble = error.what();
    }
    if (!rendezvous_->all_agree(trouble.empty())) {
      close();
      throw Error(ErrorCode::mpi, trouble.empty() ? "UCX failed on another rank" : trouble);
    }
  }

  ~UcxTransport() override { close(); }

  std::string name() const override { return "ucx"; }
  Rank rank() const override { return static_cast<Rank>(rank_); }
  Rank num_ranks() const override { return rendezvous_->num_ranks(); }
  std::size_t max_message_bytes() const override { return max_message_bytes_; }
  bool oversubscribed() const override { return rendezvous_->oversubscribed(); }
  bool allows_threads() const override { return rendezvous_->allows_threads(); }

  bool try_send(Rank dst, Header header, std::span<const std::byte> a,
                std::span<const std::byte> b) override {
    lull_.sent();
    header.bytes = rank_;
    const std::size_t bytes = sizeof header + a.size() + b.size();
    if (bytes > small_bytes) return try_send_parcel(dst, header, a, b);
    Slot* const slot = short_slots_.free();
    if (slot == nullptr) return false;
    write_record(slot->bytes.data(), header, a, b);
    slot->request = started(ucp_am_send_nbx(endpoints_[static_cast<std::size_t>(dst)], am_id, nullptr, 0,
                                            slot->bytes.data(), bytes, &as_bytes_));
    return true;
  }

  // An error of a handler is thrown here, because it cannot pass through UCX, which is written in C.
  int poll(Inbox& inbox, int limit) override {
    inbox_ = &inbox;
    handled_ = 0;
    if (!kept_.empty()) deliver_kept();
    // After a single message its sender probably waits for this rank's answer, so poll() returns.
    while (!error_ && ucp_worker_progress(worker_) != 0 && handled_ > 1 && handled_ < limit) {
    }
    if (!bulk_receives_.empty()) finish_bulk(inbox);
    inbox_ = nullptr;
    lull_.polled(handled_);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return handled_;
  }

  std::size_t bulk_min_bytes() const override { return bulk_min; }
  std::uint64_t start_bulk_send(Rank dst, std::span<const std::byte> data) override {
    const std::uint64_t key = (static_cast<std::uint64_t>(rank()) << 32) | next_key_++;
    const ucp_request_param_t param = {};
    void* const request =
        ucp_tag_send_nbx(endpoints_[static_cast<std::size_t>(dst)], data.data(), data.size(), key, &param);
    if (UCS_PTR_IS_ERR(request)) must(UCS_PTR_STATUS(request), "ucp_tag_send_nbx");
    bulk_sends_[key] = request;
    return key;
  }
  bool bulk_sent(std::uint64_t key) override {
    const auto found = bulk_sends_.find(key);
    if (!done(found->second)) {
      ucp_worker_progress(worker_);
      return false;
    }
    bulk_sends_.erase(found);
    return true;
  }
  void start_bulk_receive(Rank /*src*/, std::uint64_t key, std::span<std::byte> data,
                          std::uint64_t cookie) override {
    const ucp_request_param_t param = {};
    void* const request = ucp_tag_recv_nbx(worker_, data.data(), data.size(), key, ~ucp_tag_t{0}, &param);
    if (UCS_PTR_IS_ERR(request)) must(UCS_PTR_STATUS(request), "ucp_tag_recv_nbx");
    bulk_receives_.push_back({cookie, request});
  }
  bool bulk_pending() const override { return !bulk_receives_.empty(); }

  // UCX makes progress only when it is called, and other ranks may wait for messages that this rank has sent.
  void start_reduce(ReduceOp op, std::span<const std::int64_t> values) override {
    rendezvous_->start_reduce(op, values);
  }
  bool test_reduce(std::span<std::int64_t> result) override {
    if (rendezvous_->test_reduce(result)) return true;
    if (inbox_ == nullptr) ucp_worker_progress(worker_);
    return false;
  }
  std::vector<Rank> dead_ranks() override { return rendezvous_->dead_ranks(); }
  bool is_orphan() const override { return rendezvous_->is_orphan(); }

 private:
  // Takes the header by value. If its address were taken, the header would be stored in two halves, and a
  // load of both together would wait until they have reached the cache (see write_record()).
  [[gnu::noinline]] bool try_send_parcel(Rank dst, Header header, std::span<const std::byte> a,
                                         std::span<const std::byte> b) {
    Slot* const slot = slots_.free();
    if (slot == nullptr) return false;
    slot->parcel.pieces = {std::as_bytes(std::span(&header, 1)), a, b};
    slot->request = started(ucp_am_send_nbx(endpoints_[static_cast<std::size_t>(dst)], am_id, nullptr, 0,
                                            &slot->parcel, 1, &as_parcel_));
    if (slot->request != nullptr) slot->keep_parcel();
    return true;
  }

  /// Returns null if UCX no longer needs the buffer.
  static void* started(void* request) {
    if (UCS_PTR_IS_ERR(request)) must(UCS_PTR_STATUS(request), "ucp_am_send_nbx");
    return request;
  }

  struct BulkReceive {
    std::uint64_t cookie;
    void* request;
  };
  struct Kept {
    Rank src;
    Header header;
    std::vector<std::byte> payload;
  };

  void open() {
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_TAG;
    params.estimated_num_eps = static_cast<std::size_t>(num_ranks());
    ucp_config_t* config = nullptr;
    must(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    const ucs_status_t status = ucp_init(&params, config, &context_);
    ucp_config_release(config);
    must(status, "ucp_init");
    must(ucp_dt_create_generic(&parcel_operations, nullptr, &as_parcel_.datatype), "ucp_dt_create_generic");
    has_parcel_type_ = true;
    as_bytes_.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    as_parcel_.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE;
    as_bytes_.flags = as_parcel_.flags = UCP_AM_SEND_FLAG_EAGER;
    ucp_worker_params_t worker = {};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = allows_threads() ? UCS_THREAD_MODE_SERIALIZED : UCS_THREAD_MODE_SINGLE;
    must(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
    ucp_am_handler_param_t handler = {};
    handler.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = am_id;
    handler.cb = &UcxTransport::arrived;
    handler.arg = this;
    must(ucp_worker_set_am_recv_handler(worker_, &handler), "ucp_worker_set_am_recv_handler");
  }

  std::string own_address() {
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    must(ucp_worker_get_address(worker_, &address, &length), "ucp_worker_get_address");
    std::string bytes(reinterpret_cast<const char*>(address), length);
    ucp_worker_release_address(worker_, address);
    return bytes;
  }

  void connect_to(const std::string& address) {
    ucp_ep_params_t params = {};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    ucp_ep_h endpoint = nullptr;
    must(ucp_ep_create(worker_, &params, &endpoint), "ucp_ep_create");
    endpoints_.push_back(endpoint);
  }

  // Destroying the worker closes its connections. To close them one by one would mean to wait for ranks that
  // may have failed.
  void close() noexcept {
    endpoints_.clear();
    short_slots_.forget();
    slots_.forget();
    if (worker_ != nullptr) ucp_worker_destroy(std::exchange(worker_, nullptr));
    if (std::exchange(has_parcel_type_, false)) ucp_dt_destroy(as_parcel_.datatype);
    if (context_ != nullptr) ucp_cleanup(std::exchange(context_, nullptr));
  }

  static ucs_status_t arrived(void* self, const void* /*header*/, std::size_t /*header_bytes*/, void* data,
                              std::size_t bytes, const ucp_am_recv_param_t* /*param*/) {
    static_cast<UcxTransport*>(self)->take(static_cast<const std::byte*>(data), bytes);
    return UCS_OK;
  }

  void take(const std::byte* data, std::size_t bytes) noexcept {
    Header header;
    if (bytes < sizeof header) return;
    std::memcpy(&header, data, sizeof header);
    const Rank src = static_cast<Rank>(header.bytes);
    header.bytes = static_cast<std::uint32_t>(bytes - sizeof header);
    const std::byte* const payload = data + sizeof header;
    // No handler may run outside of poll(), for example when a send or a reduction lets UCX progress, nor
    // after a handler that threw.
    if (inbox_ == nullptr || error_ || !kept_.empty()) {
      kept_.push_back({src, header, std::vector<std::byte>(payload, payload + header.bytes)});
      return;
    }
    deliver(src, header, payload);
  }

  void deliver(Rank src, const Header& header, const std::byte* payload) noexcept {
    ++handled_;
    lull_.arrived(true);
    try {
      inbox_->core().deliver(src, header, payload);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  void deliver_kept() {
    std::size_t next = 0;
    for (; next < kept_.size() && !error_; ++next) {
      const Kept message = std::move(kept_[next]);
      deliver(message.src, message.header, message.payload.data());
    }
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(next));
  }

  void finish_bulk(Inbox& inbox) {
    for (std::size_t i = 0; i < bulk_receives_.size(); ++i) {
      if (!done(bulk_receives_[i].request)) continue;
      const std::uint64_t cookie = bulk_receives_[i].cookie;
      bulk_receives_.erase(bulk_receives_.begin() + static_cast<std::ptrdiff_t>(i));
      try {
        inbox.bulk_arrived(cookie);
      } catch (...) {
        if (!error_) error_ = std::current_exception();
      }
      return;
    }
  }

  std::unique_ptr<Rendezvous> rendezvous_;
  std::uint32_t rank_;
  std::size_t max_message_bytes_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_request_param_t as_bytes_ = {};  // of a send
  ucp_request_param_t as_parcel_ = {};
  bool has_parcel_type_ = false;
  std::vector<ucp_ep_h> endpoints_;
  Inbox* inbox_ = nullptr;  // while poll() runs
  int handled_ = 0;
  Lull lull_{64};
  std::exception_ptr error_;
  std::vector<Kept> kept_;
  Slots short_slots_;
  Slots slots_;
  std::uint32_t next_key_ = 0;
  std::map<std::uint64_t, void*> bulk_sends_;
  std::vector<BulkReceive> bulk_receives_;
};

}  // namespace

std::unique_ptr<Transport> connect(std::unique_ptr<Rendezvous> rendezvous, std::size_t max_message_bytes) {
  return std::make_unique<UcxTransport>(std::move(rendezvous), max_message_bytes);
}

}  // namespace nuice::am::ucx
