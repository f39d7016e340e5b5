// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/exchange.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "nuice/mpi/observer.hpp"

namespace nuice::capi {
namespace {

using mpi::Exchange;

/// Returns the exchange of a plan. Throws Error `not_applicable` for the exchange of a halo.
auto& by_message(nuice_exchange& exchange) {
  auto* const bound = std::get_if<Exchange>(&exchange.bound);
  if (bound == nullptr)
    throw Error(ErrorCode::not_applicable,
                "the exchange of a halo delivers all its ghosts at once: call wait()");
  return *bound;
}

int index_of(const std::optional<mpi::Arrival>& arrival) {
  return arrival ? static_cast<int>(arrival->index) : -1;
}

/// Returns "coloring:async 0.136 s, bruck_kport:phased 0.345 s (out)".
std::string words(const std::vector<mpi::MethodTrial>& methods) {
  std::string all;
  for (const mpi::MethodTrial& method : methods) {
    std::array<char, 40> seconds{};
    if (method.blocks > 0) std::snprintf(seconds.data(), seconds.size(), " %.3g s", method.mean_s);
    all += (all.empty() ? "" : ", ") + method.name + seconds.data() + (method.is_in ? "" : " (out)");
  }
  return all;
}

/// Updates the strings of the exchange. If the exchange was given up, the strings stay as they were.
const nuice_exchange& looked_at(const nuice_exchange& exchange) {
  const auto* const bound = std::get_if<Exchange>(&exchange.bound);
  if (bound == nullptr) return exchange;
  try {
    const mpi::ExchangeInfo& info = bound->info();
    exchange.executor = info.executor;
    exchange.shared_memory = info.shared_memory;
    exchange.methods = words(info.methods);
    exchange.device = info.device;
  } catch (const Error&) {
  }
  return exchange;
}

/// Runs a step with the exchange to which a handle refers.
template <typename Handle, typename Step>
int with(Handle* exchange, Step&& step) noexcept {
  return guarded_mpi([&] {
    Handle& held = at(exchange, "exchange");
    const Call call(held);
    step(held);
  });
}

constexpr auto exchange_texts = std::to_array<Property<std::string nuice_exchange::*>>({
    {"executor", &nuice_exchange::executor},
    {"shared_memory", &nuice_exchange::shared_memory},
    {"device", &nuice_exchange::device},
    {"methods", &nuice_exchange::methods},
});

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

int nuice_exchange_start(nuice_exchange* exchange) {
  return with(exchange,
              [](nuice_exchange& held) { std::visit([](auto& bound) { bound.start(); }, held.bound); });
}

int nuice_exchange_test(nuice_exchange* exchange, int* done) {
  return with(exchange, [&](nuice_exchange& held) {
    at(done, "done") = std::visit([](auto& bound) { return bound.test() ? 1 : 0; }, held.bound);
  });
}

int nuice_exchange_wait(nuice_exchange* exchange) {
  return with(exchange,
              [](nuice_exchange& held) { std::visit([](auto& bound) { bound.wait(); }, held.bound); });
}

int nuice_exchange_start_on(nuice_exchange* exchange, void* stream) {
  return with(exchange, [&](nuice_exchange& held) {
    std::visit([&](auto& bound) { bound.start(stream); }, held.bound);
  });
}

int nuice_exchange_wait_on(nuice_exchange* exchange, void* stream) {
  return with(exchange, [&](nuice_exchange& held) {
    std::visit([&](auto& bound) { bound.wait(stream); }, held.bound);
  });
}

int nuice_exchange_next(nuice_exchange* exchange, int* partner) {
  return with(exchange,
              [&](nuice_exchange& held) { at(partner, "partner") = index_of(by_message(held).next()); });
}

int nuice_exchange_poll(nuice_exchange* exchange, int* partner) {
  return with(exchange,
              [&](nuice_exchange& held) { at(partner, "partner") = index_of(by_message(held).poll()); });
}

int nuice_exchange_is_under_way(const nuice_exchange* exchange, int* under_way) {
  return with(exchange, [&](const nuice_exchange& held) {
    at(under_way, "under_way") =
        std::visit([](const auto& bound) { return bound.is_under_way() ? 1 : 0; }, held.bound);
  });
}

int nuice_exchange_text(const nuice_exchange* exchange, const char* name, const char** text) {
  return with(exchange, [&](const nuice_exchange& held) {
    at(text, "text") = (looked_at(held).*find_property(exchange_texts, name)).c_str();
  });
}

int nuice_exchange_free(nuice_exchange** exchange) {
  if (exchange == nullptr || *exchange == nullptr) return NUICE_OK;
  const int status = with(
      *exchange, [](nuice_exchange& held) { std::visit([](auto& bound) { bound.free(); }, held.bound); });
  return status == NUICE_OK ? free_handle(exchange) : status;
}

namespace {

nuice_observer observer_of_c = {nullptr, nullptr, nullptr};

}  // namespace

int nuice_observe(const nuice_observer* observer) {
  return guarded([&] {
    using nuice::mpi::Region;
    nuice::mpi::set_observer({});
    observer_of_c = observer == nullptr ? nuice_observer{nullptr, nullptr, nullptr} : *observer;
    if (observer == nullptr) return;
    nuice::mpi::set_observer({.begin =
                                  [](void* data, Region region, std::int64_t which) {
                                    if (observer_of_c.begin != nullptr)
                                      observer_of_c.begin(data, static_cast<nuice_region>(region), which);
                                  },
                              .end =
                                  [](void* data, Region region, std::int64_t which) {
                                    if (observer_of_c.end != nullptr)
                                      observer_of_c.end(data, static_cast<nuice_region>(region), which);
                                  },
                              .data = observer->data});
  });
}

// May be called from any thread, also while another call with the exchange is active.

int nuice_ready(nuice_request request, int i) {
  return guarded_mpi([&] {
    if (i < 0) refuse("there is no message " + std::to_string(i));
    by_message(at(request, "request")).ready(static_cast<std::size_t>(i));
  });
}

int nuice_arrived(nuice_request request, int i, int* arrived) {
  return guarded_mpi([&] {
    if (i < 0) refuse("there is no message " + std::to_string(i));
    at(arrived, "arrived") = by_message(at(request, "request")).arrived(static_cast<std::size_t>(i)) ? 1 : 0;
  });
}
