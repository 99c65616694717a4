import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findMisspelled, findNearest, suggest } from "./nearest.ts";

const test = suite("cli/nearest");
const WORDS = ["add", "list", "show", "update", "lock", "unlock", "sessions", "sign-out"];

for (
  const [word, nearest] of [
    ["lst", "list"],
    ["lsit", "list"],
    ["udpate", "update"],
    ["upate", "update"],
    ["session", "sessions"],
    ["signout", "sign-out"],
    ["unlok", "unlock"],
    ["fly", undefined],
    ["delete", undefined],
    ["", undefined],
    ["x".repeat(1000), undefined],
  ] as const
) {
  test(`${word.slice(0, 20) || "nothing"} is near ${nearest ?? "no word"}`, () => {
    assert.is(findNearest(word, WORDS), nearest);
  });
}

test("suggest() ends a message with a question, or with nothing", () => {
  assert.is(suggest("nmae", ["name"], "--"), '. Did you mean "--name"?');
  assert.is(suggest("fly", WORDS), "");
});

test("a part of one known word stands for it, of several for none", () => {
  const known = ["status", "signing-keys", "server-secret", "list-skills", "list-tools"];
  assert.equal(["stat", "secret", "list", "st", "s"].map((word) => findNearest(word, known)), [
    "status",
    "server-secret",
    undefined,
    undefined,
    undefined,
  ]);
});

for (
  const [word, known] of [
    ["policies", "policy"],
    ["polcy", "policy"],
    ["Policy", "policy"],
    ["POLICIES", "policy"],
    ["holds", "hold"],
    ["server", "servers"],
    ["mcp_servers", "mcpServers"],
    ["mcpServer", "mcpServers"],
    ["policy", undefined],
    ["$schema", undefined],
    ["inputs", undefined],
    ["mcp", undefined],
    ["host", undefined],
    ["hooks", undefined],
    ["permissions", undefined],
    ["context_servers", undefined],
    ["", undefined],
  ] as const
) {
  test(`${word || "nothing"} misspells ${known ?? "no word"}`, () => {
    assert.is(findMisspelled(word, ["mcpServers", "servers", "policy", "hold"]), known);
  });
}

test.run();
