import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newServer } from "../test_server.ts";
import { addUser } from "./user.ts";
import { canonicalUsername, checkUsername, type UsernameProblem } from "./username.ts";

const test = suite("oauth/username");

const ACCEPTED = [
  "alice",
  "Alice Liddell",
  "bob@example.com",
  "名無し",
  "Zoë",
  "иван",
  "λάμπρος",
  "田中 Tanaka",
  "o'neil-2_x",
  "🐇",
];
const REFUSED: readonly (readonly [UsernameProblem, readonly string[]])[] = [
  ["length", ["", "x".repeat(129), "\ufdfa".repeat(20)]],
  ["spaces", [" alice", "alice ", "a  b", "\u3000alice", "alice\u00a0", "\t", "a\u2003 b", "alice\n"]],
  ["characters", [
    "a\u0000b",
    "a\u007f",
    "ali\u200bce",
    "ali\u00adce",
    "ali\u202ece",
    "ali\u2066ce",
    "alice\u200f",
    "\ufeffalice",
    "ali\u2060ce",
    "ali\u{e0041}ce",
    "alice\ufe0f",
    "ali\u3164ce",
    "\ud800",
    "a\udc00b",
    "\ue000",
    "\u0378",
    "\u0301alice",
    "a\u2028b",
    "a\u0085b",
  ]],
  ["scripts", ["аlice", "pаypal", "αlice", "bоb", "Аλ"]],
];

test("names in one script, with digits, punctuation and single spaces, are accepted", () => {
  for (const name of ACCEPTED) assert.is(checkUsername(name), undefined, name);
});

for (const [problem, names] of REFUSED) {
  test(`a new user name with a problem of ${problem} is refused`, async () => {
    const { store } = await newServer();
    for (const username of names) {
      assert.is(checkUsername(username), problem, JSON.stringify(username));
      const error = await addUser(store, { username, password: "x" }, 1000).catch((error) => error);
      assert.instance(error, TypeError, JSON.stringify(username));
    }
  });
}

test("two spellings that look alike are one name", async () => {
  const { store } = await newServer();
  for (const username of ["ALICE", "ａｌｉｃｅ", "ⓐlice"]) {
    assert.is(canonicalUsername(username), "alice");
    const error = await addUser(store, { username, password: "x" }, 1000).catch((error) => error);
    assert.match(error.message, "taken");
  }
});

test("a name that was accepted before keeps working", async () => {
  const server = await newServer();
  const [user] = await server.store.list<Record<string, unknown>>(["user"]);
  await server.store.commit({ set: [{ key: ["username", "ali\u200bce "], value: user!.value.id }] });
  const form = { username: "Ali\u200bce ", password: "wonderland" };
  assert.is((await server.send("/login", { form })).status, 200);
});

test.run();
