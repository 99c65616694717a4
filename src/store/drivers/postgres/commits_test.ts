import { suite } from "uvu";
import * as assert from "uvu/assert";
import { StoreUnavailableError } from "../../store.ts";
import { PostgresCommits } from "./commits.ts";

const test = suite("store/postgres_commits");

/** A database that answers when the test says so. Each statement is shown by the keys that it sets. */
function newDatabase() {
  const sent: { keys: string; answer: (done: never) => void; fail: (error: unknown) => void }[] = [];
  const send = <Done>(keys: string): Promise<Done> =>
    new Promise((resolve, reject) => sent.push({ keys, answer: resolve as never, fail: reject }));
  const commits = new PostgresCommits({
    one: (parameters) => send(`one ${parameters[3]!.replaceAll(/\\?"|\\.|[{}]/g, "")}`),
    many: (parameters) => send(`many ${String(parameters[6]).replaceAll(/\\?"|\\.|[{}]/g, "")}`),
  });
  const set = (key: string) => commits.run({ set: [{ key: [key], value: 1 }] });
  return { commits, sent, set };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const short = (keys: string): string => keys.replaceAll(/[^a-z, ]/g, "");

test("one caller's commit is sent at once, alone", () => {
  const { sent, set } = newDatabase();
  set("a");
  set("b");
  assert.equal(sent.map(({ keys }) => short(keys)), ["one a", "one b"]);
});

test("commits that wait for others go together, each with its own answer", async () => {
  const { sent, set } = newDatabase();
  const answers = ["a", "b", "c", "d", "e"].map((key) => set(key).done);
  assert.is(sent.length, 2);
  sent[0]!.answer(true as never);
  await turn();
  assert.is(short(sent[2]!.keys), "many c,d,e");
  sent[1]!.answer(false as never);
  sent[2]!.answer("101" as never);
  assert.equal(await Promise.all(answers), [true, false, true, false, true]);
});

test("commits with a common key are never together, and keep their order", async () => {
  const { sent, set } = newDatabase();
  ["x", "y", "a", "a", "b", "a"].forEach(set);
  sent[0]!.answer(true as never);
  await turn();
  assert.is(short(sent[2]!.keys), "many a,b");
  sent[1]!.answer(true as never);
  await turn();
  assert.is(sent.length, 3, "the next commit of the same key would wait for the one on its way");
  sent[2]!.answer("11" as never);
  await turn();
  assert.is(short(sent[3]!.keys), "one a");
  set("z");
  assert.is(short(sent[4]!.keys), "one z");
  sent[3]!.answer(true as never);
  await turn();
  assert.is(short(sent[5]!.keys), "one a");
});

test("a check of a key counts as its use", async () => {
  const { sent, set, commits } = newDatabase();
  ["x", "y", "a"].forEach(set);
  commits.run({ check: [{ key: ["a"], version: null }], set: [{ key: ["b"], value: 1 }] });
  sent[0]!.answer(true as never);
  await turn();
  assert.is(short(sent[2]!.keys), "one a");
});

test("when a group fails, each of its commits is answered by itself", async () => {
  const { sent, set } = newDatabase();
  const [, , good, bad] = ["x", "y", "good", "bad"].map((key) => set(key).done.catch((error) => error));
  sent[0]!.answer(true as never);
  await turn();
  sent[2]!.fail(new Error("invalid byte sequence"));
  await turn();
  sent[3]!.answer(true as never);
  await turn();
  sent[4]!.fail(new Error("invalid byte sequence"));
  assert.is(await good, true);
  assert.instance(await bad, Error);
});

test("when the engine is unavailable, a group is not tried again: it may have been done", async () => {
  const { sent, set } = newDatabase();
  const answers = ["x", "y", "a", "b"].map((key) => set(key).done.catch((error) => error));
  sent[0]!.answer(true as never);
  await turn();
  sent[2]!.fail(new StoreUnavailableError("PostgreSQL is unavailable"));
  assert.instance(await answers[2], StoreUnavailableError);
  assert.instance(await answers[3], StoreUnavailableError);
  assert.is(sent.length, 3);
});

test("a commit that was given up before it was sent is not sent", async () => {
  const { sent, set } = newDatabase();
  const [, , given] = ["x", "y", "a"].map(set);
  given!.abandon();
  sent[0]!.answer(true as never);
  await turn();
  assert.is(sent.length, 2);
});

test("a commit of many keys goes alone", async () => {
  const { sent, set, commits } = newDatabase();
  ["x", "y", "a"].forEach(set);
  commits.run({ set: Array.from({ length: 101 }, (_, i) => ({ key: ["m", i], value: 1 })) });
  sent[0]!.answer(true as never);
  sent[1]!.answer(true as never);
  await turn();
  assert.is(short(sent[2]!.keys), "one a");
  assert.match(sent[3]!.keys, /^one/);
});

test.run();
