// SPDX-License-Identifier: BSD-3-Clause
// An advice as JSON, for programs, and as a table, for people.
#include <algorithm>
#include <array>
#include <cstdio>

#include "advise/reasons.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
      result += code.data();
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string json_value(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}
std::string json_value(bool value) { return value ? "true" : "false"; }
std::string json_value(std::string_view value) { return quoted(value); }
template <std::integral Number>
std::string json_value(Number value) {
  return std::to_string(value);
}

class JsonObject {
 public:
  template <typename Value>
  JsonObject& add(std::string_view key, const Value& value) {
    return add_raw(key, json_value(value));
  }
  JsonObject& add_raw(std::string_view key, const std::string& text) {
    text_ += (text_.empty() ? "{" : ", ") + quoted(key) + ": " + text;
    return *this;
  }
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_;
};

std::string json_of(const Candidate& c) {
  JsonObject object;
  object.add("candidate", std::string_view(c.name()))
      .add("scheduler", std::string_view(c.scheduler))
      .add("executor", std::string_view(c.executor))
      .add("applicable", c.applicable);
  if (c.applicable) {
    object.add("predicted_by", prediction_name(c.predicted_by))
        .add("phases", c.phases)
        .add("phase_bytes", c.phase_bytes)
        .add("planning_seconds", c.planning_s)
        .add("exchange_seconds", c.exchange_s)
        .add("total_seconds", c.total_s)
        .add("exchange_to_bound", c.to_bound)
        .add("uncertainty", c.uncertainty);
  }
  return object.add("why_not", std::string_view(c.why_not)).text();
}

std::string padded(const std::string& text, std::size_t width, bool left = false) {
  const std::string space(width - std::min(width, text.size()), ' ');
  return left ? text + space : space + text;
}

}  // namespace

std::string to_json(const Advice& advice) {
  std::string list;
  for (const Candidate& candidate : advice.candidates)
    list += (list.empty() ? "" : ", ") + json_of(candidate);
  return JsonObject()
      .add("machine", std::string_view(advice.machine))
      .add("topology", std::string_view(advice.topology))
      .add("ranks", advice.num_ranks)
      .add("messages", advice.num_messages)
      .add("total_bytes", advice.total_bytes)
      .add("reuse", advice.reuse)
      .add("seed", advice.seed)
      .add("port_bound_seconds", advice.port_bound_s)
      .add("link_bound_seconds", advice.link_bound_s)
      .add("phase_cost_bytes", advice.phase_cost_bytes)
      .add("prefer_pairs", advice.prefer_pairs)
      .add("choice", std::string_view(advice.choice().name()))
      .add("sentence", std::string_view(advice.sentence))
      .add("decided_by", prediction_name(advice.decided_by))
      .add("deciding_seconds", advice.deciding_s)
      .add("budget_seconds", advice.budget_s)
      .add("contenders", advice.num_contenders())
      .add_raw("candidates", "[" + list + "]")
      .text();
}

std::string to_text(const Advice& advice) {
  using advice::time_text;
  std::size_t width = 9;
  for (const Candidate& c : advice.candidates) width = std::max(width, c.name().size());
  std::string text = advice.sentence + "\n\n" + padded("candidate", width, true) +
                     "   total       exchange    planning    why not\n";
  for (const Candidate& c : advice.candidates) {
    text += padded(c.name(), width, true);
    if (c.applicable) {
      text += "   " + padded(time_text(c.total_s), 9) + "   " + padded(time_text(c.exchange_s), 9) + "   " +
              padded(time_text(c.planning_s), 9) + "   " + (c.why_not.empty() ? "the choice" : c.why_not) +
              "\n";
    } else {
      text += "   not applicable: " + c.why_not + "\n";
    }
  }
  return text;
}

}  // namespace nuice
