// The JSON reader against values written by hand: what it takes, what it refuses.
#include "mlx/io/json.h"

#include <doctest/doctest.h>

#include "mlx/error.h"

namespace mlx::core {

TEST_CASE("json values") {
  Json v = parse_json(R"( {"a": [1, -2.5, 1e3, true, false, null], "b": {"c": "x"}} )", "test");
  REQUIRE(v.kind == Json::Kind::object);
  const Json& a = *v.find("a");
  REQUIRE(a.list.size() == 6);
  CHECK(a.list[0].kind == Json::Kind::integer);
  CHECK(a.list[0].integer == 1);
  CHECK(a.list[1].number == -2.5);
  CHECK(a.list[2].kind == Json::Kind::number);
  CHECK(a.list[2].number == 1000);
  CHECK(a.list[3].boolean);
  CHECK(a.list[4].kind == Json::Kind::boolean);
  CHECK(a.list[5].kind == Json::Kind::null);
  CHECK(v.find("b")->find("c")->string == "x");
  CHECK(v.find("d") == nullptr);
  CHECK(parse_json("18446744073709551615", "test").integer == 18446744073709551615u);
  CHECK(parse_json("18446744073709551616", "test").kind == Json::Kind::number);
  CHECK(parse_json("[]", "test").list.empty());
  CHECK(parse_json("{}", "test").members.empty());
}

TEST_CASE("json strings") {
  CHECK(parse_json(R"("\"\\\/\b\f\n\r\t")", "test").string == "\"\\/\b\f\n\r\t");
  CHECK(parse_json(R"("\u00e9\u20ac\ud83d\ude00")", "test").string == "\u00e9\u20ac\U0001f600");
  CHECK(parse_json("\"\u00e9\U0001f600\"", "test").string == "\u00e9\U0001f600");
  for (std::string s : {"", "plain", "\"quoted\"\\", "\n\t\x01", "\u20ac"}) {
    CHECK(parse_json(json_string(s), "test").string == s);
  }
}

TEST_CASE("json errors") {
  for (std::string text : {"",
                           " ",
                           "{",
                           "[",
                           "[1,]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{a:1}",
                           "{\"a\":1,}",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "nul",
                           "tru",
                           "\"",
                           "\"\\",
                           "\"\\u12",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\x\"",
                           "\"\n\"",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "1 2",
                           "[]]",
                           "NaN"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_json(text, "test"), RuntimeError);
  }
  CHECK_THROWS_AS(parse_json(std::string(100000, '['), "test"), RuntimeError);
  CHECK_NOTHROW(parse_json(std::string(60, '[') + std::string(60, ']'), "test"));
}

}  // namespace mlx::core
