// SPDX-License-Identifier: BSD-3-Clause
#include "bench/ucx_peer.hpp"

#include <mpi.h>
#include <ucp/api/ucp.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::am_bench {
namespace {

constexpr unsigned am_id = 0;
constexpr std::size_t inline_bytes = 32;

void must(ucs_status_t status, const char* call) {
  if (status != UCS_OK) throw Error(ErrorCode::mpi, std::string(call) + ": " + ucs_status_string(status));
}

class BareUcx : public UcxPeer {
 public:
  explicit BareUcx(Blocks& blocks) : out_(blocks.out), in_(blocks.in), payload_(1 << 20) {
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_TAG;
    ucp_config_t* config = nullptr;
    must(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    const ucs_status_t status = ucp_init(&params, config, &context_);
    ucp_config_release(config);
    must(status, "ucp_init");
    const ucp_worker_params_t worker = {};
    must(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
    ucp_am_handler_param_t handler = {};
    handler.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = am_id;
    handler.cb = [](void* count, const void*, std::size_t, void*, std::size_t, const ucp_am_recv_param_t*) {
      ++*static_cast<std::uint64_t*>(count);
      return UCS_OK;
    };
    handler.arg = &received_;
    must(ucp_worker_set_am_recv_handler(worker_, &handler), "ucp_worker_set_am_recv_handler");
    connect();
  }
  BareUcx(const BareUcx&) = delete;
  BareUcx& operator=(const BareUcx&) = delete;
  ~BareUcx() override {
    MPI_Barrier(MPI_COMM_WORLD);
    ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
  }

  double ping_pong(std::size_t bytes, int times) override {
    return time(times, [&] {
      for (int i = 1; mpi::world_rank() < 2 && i <= times; ++i) {
        if (mpi::world_rank() == 1) wait_for(static_cast<std::uint64_t>(i));
        send(bytes);
        if (mpi::world_rank() == 0) wait_for(static_cast<std::uint64_t>(i));
      }
    });
  }

  double flood(std::size_t bytes, int messages) override {
    return time(messages, [&] {
      for (int i = 0; mpi::world_rank() == 0 && i < messages; ++i) send(bytes);
      if (mpi::world_rank() == 0) wait_for(1);
      if (mpi::world_rank() != 1) return;
      wait_for(static_cast<std::uint64_t>(messages));
      send(8);
    });
  }

  double block(std::size_t bytes, int times) override {
    const ucp_request_param_t param = {};
    return time(2 * times, [&] {
      for (int i = 0; mpi::world_rank() < 2 && i < times; ++i) {
        const auto receive = [&] {
          wait(ucp_tag_recv_nbx(worker_, in_.data(), bytes, 0, ~ucp_tag_t{0}, &param));
        };
        if (mpi::world_rank() == 1) receive();
        wait(ucp_tag_send_nbx(endpoint_, out_.data(), bytes, 0, &param));
        if (mpi::world_rank() == 0) receive();
      }
    });
  }

 private:
  double time(int operations, const std::function<void()>& work) {
    received_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = time_work(mpi::world_rank() == 0, operations, work);
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds;
  }

  void connect() {
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    must(ucp_worker_get_address(worker_, &address, &length), "ucp_worker_get_address");
    int mine = static_cast<int>(length);
    int theirs = 0;
    std::vector<char> other;
    if (mpi::world_rank() < 2) {
      const int partner = 1 - mpi::world_rank();
      MPI_Sendrecv(&mine, 1, MPI_INT, partner, 9, &theirs, 1, MPI_INT, partner, 9, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      other.resize(static_cast<std::size_t>(theirs));
      MPI_Sendrecv(address, mine, MPI_BYTE, partner, 9, other.data(), theirs, MPI_BYTE, partner, 9,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ucp_ep_params_t params = {};
      params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
      params.address = reinterpret_cast<const ucp_address_t*>(other.data());
      must(ucp_ep_create(worker_, &params, &endpoint_), "ucp_ep_create");
    }
    ucp_worker_release_address(worker_, address);
  }

  void wait_for(std::uint64_t target) {
    while (received_ < target) ucp_worker_progress(worker_);
  }
  void wait(void* request) {
    if (request == nullptr) return;
    if (UCS_PTR_IS_ERR(request)) must(UCS_PTR_STATUS(request), "UCX transfer");
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
    ucp_request_free(request);
  }
  /// Sends small payloads in the header argument, which is UCX's fastest path.
  void send(std::size_t bytes) {
    ucp_request_param_t param = {};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    const bool is_inline = bytes <= inline_bytes;
    wait(ucp_am_send_nbx(endpoint_, am_id, payload_.data(), is_inline ? bytes : 8, payload_.data() + 8,
                         is_inline ? 0 : bytes, &param));
  }

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  std::uint64_t received_ = 0;
  Memory& out_;
  Memory& in_;
  std::vector<char> payload_;
};

}  // namespace

std::unique_ptr<UcxPeer> make_ucx_peer(Blocks& blocks) { return std::make_unique<BareUcx>(blocks); }

std::string ucx_description() {
  const char* const tls = std::getenv("UCX_TLS");
  return std::string("UCX ") + ucp_get_version_string() + ", UCX_TLS=" + (tls != nullptr ? tls : "(default)");
}

}  // namespace nuice::am_bench
