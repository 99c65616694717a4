import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createPasswordMemory, MAX_REMEMBERED_PASSWORDS, PASSWORD_MEMORY_MS } from "./password_memory.ts";

const test = suite("crypto/password_memory");

function newMemory() {
  let at = 0;
  return { ...createPasswordMemory(() => at), advance: (ms: number) => void (at += ms) };
}

test("knows the password that was right, in both spellings, and no other", () => {
  const { knows, remember } = newMemory();
  assert.not.ok(knows("caf\u00e9", "hash"));
  remember("caf\u00e9", "hash");
  assert.ok(knows("caf\u00e9", "hash") && knows("cafe\u0301", "hash"));
  assert.not.ok(knows("cafe", "hash") || knows("", "hash"));
});

test("a hash that changed is another one, and an unknown user has none", () => {
  const { knows, remember } = newMemory();
  remember("p", "hash");
  assert.not.ok(knows("p", "another") || knows("p", undefined) || knows("", undefined));
});

test("forgets after a week, and the oldest of too many", () => {
  const { knows, remember, advance } = newMemory();
  remember("p", "hash");
  advance(PASSWORD_MEMORY_MS - 1);
  assert.ok(knows("p", "hash"));
  advance(1);
  assert.not.ok(knows("p", "hash"));
  remember("p", "first");
  for (let i = 0; i < MAX_REMEMBERED_PASSWORDS; i++) remember("p", `hash ${i}`);
  assert.not.ok(knows("p", "first"));
  assert.ok(knows("p", "hash 0"));
});

test("two processes have no digest in common", () => {
  const other = newMemory();
  newMemory().remember("p", "hash");
  assert.not.ok(other.knows("p", "hash"));
});

test.run();
