import { suite } from "uvu";
import * as assert from "uvu/assert";
import { processorTime } from "../../http/test_loop_watchdog.ts";
import { assignPrefixes, createNames, matchesPattern, toMarkedName, toPrefix } from "./names.ts";

const test = suite("gateway/upstream/names");
const VALID = /^[A-Za-z0-9_.-]{1,128}$/;

test("a valid name gets the prefix", () => {
  assert.is(
    createNames("github", ["github", "linear"])("create_issue"),
    "github_create_issue",
  );
  assert.is(createNames("", ["", "linear"])("create_issue"), "create_issue");
});

test("every name becomes a valid one, and different names stay different", () => {
  const toName = createNames("up", ["up"]);
  const names = [
    "a b",
    "a?b",
    "a\u0000b",
    "ä",
    "",
    "x".repeat(128),
    "x".repeat(129),
    "x".repeat(5000),
    "名",
  ];
  const made = names.map(toName);
  for (const each of made) assert.match(each, VALID);
  assert.is(new Set(made).size, names.length);
  assert.equal(made, names.map(createNames("up", ["other", "up"])));
});

test("of upstreams that want no prefix, the first by name has none, in any order", () => {
  const all = [["c", ""], ["b", ""], ["a", undefined], ["d", "x"]].map(([name, prefix]) => ({
    name: name!,
    prefix,
  }));
  for (const some of [all, all.toReversed()]) {
    assert.equal(Object.fromEntries(assignPrefixes(some)), { a: "a", b: "", c: "c", d: "x" });
  }
});

test("no upstream can take a name of another one", () => {
  const prefixes = ["", "a", "a_b"];
  const own = createNames("a_b", prefixes)("c");
  assert.is(own, "a_b_c");
  for (
    const [prefix, original] of [["a", "b_c"], ["", "a_b_c"], [
      "",
      "a_x",
    ]] as const
  ) {
    const name = createNames(prefix, prefixes)(original);
    assert.not(name.startsWith("a_b_"));
    assert.not(prefix === "" && name.startsWith("a_"));
    // Nor can one offer the name that another one got instead.
    assert.is(createNames("a_b", prefixes)(name).startsWith("a_b_"), true);
  }
});

test("prefixes of different names differ", () => {
  const prefixes = [
    "My Server",
    "My_Server",
    "my server",
    "x".repeat(50),
    "x".repeat(51),
  ].map(toPrefix);
  assert.is(new Set(prefixes).size, prefixes.length);
  for (const each of prefixes) assert.match(each, /^[A-Za-z0-9_.-]{1,40}$/);
  assert.is(toPrefix("github"), "github");
});

test("a marked name differs from the names of all other entries", () => {
  assert.not.equal(toMarkedName("a", "b"), toMarkedName("a", "c"));
  assert.match(toMarkedName("a", "b"), /^a_[a-z0-9]{8}_b$/);
});

test("patterns have * and ?", () => {
  for (
    const [pattern, name, expected] of [
      ["get_*", "get_issue", true],
      ["get_*", "forget_x", false],
      ["*", "a\nb", true],
      ["a?c", "abc", true],
      ["a?c", "ac", false],
      ["a.c", "abc", false],
      ["(x", "(x", true],
      ["*_a*b", "x_a_ab_b", true],
      ["*_a*b", "x_a_ab_c", false],
      ["a*a", "a", false],
      ["**?", "\u{1f600}", true],
      ["?", "", false],
      ["*", "", true],
      ["a*b", "a*c", false],
    ] as const
  ) assert.is(matchesPattern(pattern, name), expected, pattern);
});

test("attack: a name that fits a pattern in many ways does not hold the event loop", () => {
  const began = processorTime();
  assert.not(matchesPattern("*_*_*_*_x", "_".repeat(300)));
  assert.ok(processorTime() - began < 500);
});

test.run();
