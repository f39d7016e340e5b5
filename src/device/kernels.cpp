// SPDX-License-Identifier: BSD-3-Clause
#include "device/kernels.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace nuice::device {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// A thread handles every n-th entry, where n is the number of threads, so a grid of any size is correct.
constexpr const char* ptx_head = ".version 6.0\n.target sm_52\n.address_size 64\n";
constexpr const char* ptx_kernel = R"(
.visible .entry nuice_KIND_UNIT(.param .u64 from, .param .u64 to, .param .u64 index, .param .u64 count)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<16>;
  .reg VALUE %v<3>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.param.u64 %rd3, [index];
  ld.param.u64 %rd4, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  cvt.u64.u32 %rd6, %r3;
  mad.wide.u32 %rd5, %r1, %r2, %rd6;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd7, %r4, %r2;
  setp.ge.u64 %p1, %rd5, %rd4;
  @%p1 bra done;
next:
  shl.b64 %rd8, %rd5, 2;
  add.u64 %rd8, %rd3, %rd8;
  ld.global.u32 %r5, [%rd8];
  mul.wide.u32 %rd9, %r5, UNIT;
  mul.lo.u64 %rd10, %rd5, UNIT;
  add.u64 %rd9, ANYWHERE, %rd9;
  add.u64 %rd10, DENSE, %rd10;
  ld.global.TYPE VALUES, [SOURCE];
  st.global.TYPE [TARGET], VALUES;
  add.u64 %rd5, %rd5, %rd7;
  setp.lt.u64 %p2, %rd5, %rd4;
  @%p2 bra next;
done:
  ret;
}
)";

std::string ptx_of(bool is_gather, std::size_t unit) {
  constexpr std::array types = {"u8", "u16", "u32", "u64", "v2.u64"};
  constexpr std::array values = {".b16", ".b16", ".b32", ".b64", ".b64"};
  std::size_t row = 0;
  while (unit_sizes[row] != unit) ++row;
  std::string text = ptx_kernel;
  text = replaced(text, "KIND", is_gather ? "gather" : "scatter");
  text = replaced(text, "UNIT", std::to_string(unit));
  text = replaced(text, "TYPE", types[row]);
  text = replaced(text, "VALUES", unit == 16 ? "{%v1, %v2}" : "%v1");
  text = replaced(text, "VALUE", values[row]);
  text = replaced(text, "ANYWHERE", is_gather ? "%rd1" : "%rd2");
  text = replaced(text, "DENSE", is_gather ? "%rd2" : "%rd1");
  text = replaced(text, "SOURCE", is_gather ? "%rd9" : "%rd10");
  return replaced(text, "TARGET", is_gather ? "%rd10" : "%rd9");
}

constexpr const char* hip_kernel = R"(
extern "C" __global__ void nuice_KIND_UNIT(const TYPE* from, TYPE* to, const unsigned* index,
                                           unsigned long long count) {
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    to[TO] = from[FROM];
}
)";

std::string hip_of(bool is_gather, std::size_t unit) {
  constexpr std::array types = {"unsigned char", "unsigned short", "unsigned", "unsigned long long", "Pair"};
  std::size_t row = 0;
  while (unit_sizes[row] != unit) ++row;
  std::string text = hip_kernel;
  text = replaced(text, "KIND", is_gather ? "gather" : "scatter");
  text = replaced(text, "UNIT", std::to_string(unit));
  text = replaced(text, "TYPE", types[row]);
  text = replaced(text, "[TO]", is_gather ? "[i]" : "[index[i]]");
  return replaced(text, "[FROM]", is_gather ? "[index[i]]" : "[i]");
}

template <typename One>
std::string all_kernels(std::string text, One&& one) {
  for (const bool is_gather : {true, false})
    for (const std::size_t unit : unit_sizes) text += one(is_gather, unit);
  return text;
}

Kernels compile(const Location& at) {
  const Driver& driver = *at.driver;
  Kernels kernels;
  const std::string image = driver.vendor.kernels(driver, kernels.why_not);
  if (!kernels.are_there()) return kernels;
  if (const int code = driver.api.module_load(&kernels.module, image.c_str())) {
    kernels.why_not = driver.vendor.describe(driver, code);
    return kernels;
  }
  for (std::size_t i = 0; i < unit_sizes.size(); ++i) {
    const std::string unit = std::to_string(unit_sizes[i]);
    const int code =
        driver.api.module_function(&kernels.gather[i], kernels.module, ("nuice_gather_" + unit).c_str());
    const int other =
        driver.api.module_function(&kernels.scatter[i], kernels.module, ("nuice_scatter_" + unit).c_str());
    if (code != 0 || other != 0) kernels.why_not = driver.vendor.describe(driver, code != 0 ? code : other);
  }
  return kernels;
}

}  // namespace

const std::string& ptx_text() {
  static const std::string text = all_kernels(ptx_head, ptx_of);
  return text;
}

const std::string& hip_text() {
  static const std::string text =
      all_kernels("struct alignas(16) Pair { unsigned long long a, b; };\n", hip_of);
  return text;
}

const Kernels& kernels_of(const Location& at) {
  using Compiled = std::map<std::pair<const Driver*, std::pair<int, Handle>>, std::unique_ptr<const Kernels>>;
  static std::mutex lock;
  static auto* const all =
      new Compiled();  // never freed, because the driver may be gone when the process ends
  const std::scoped_lock locked(lock);
  auto& kernels = (*all)[{at.driver, {at.device, at.context}}];
  if (!kernels) kernels = std::make_unique<const Kernels>(compile(at));
  return *kernels;
}

}  // namespace nuice::device
