import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type ListedSession, type ListsHost, SessionLists } from "./session_lists.ts";

const test = suite("gateway/upstream/lists/session_lists");

test("attack: an upstream whose lists change all the time is read less often, until it pauses", async () => {
  const { setTimeout } = globalThis;
  let time = 0;
  let run = (): void => {};
  const host: ListsHost = {
    timeout: 1000,
    now: () => time,
    offer: (_digest, raw, accept) => Promise.resolve(accept(raw)),
    onAnnounced() {},
  };
  const session = {
    connected: { listAll: () => Promise.resolve([{ name: `tool_${time}` }]) },
    info: { revision: "2026-07-28", capabilities: { tools: { listChanged: true } } },
    caller: undefined,
    onListsRead() {},
    onListsFailed: () => Promise.reject(new Error("a list failed")),
  } as unknown as ListedSession;
  const lists = new SessionLists(session, host);
  /** The pause before the lists are read that changed. */
  const pauseAfterChange = async () => {
    const before = time;
    globalThis.setTimeout = ((then: () => void, ms: number) => {
      run = then;
      time += ms;
      return 0;
    }) as typeof setTimeout;
    try {
      lists.changed(["tools"]);
    } finally {
      globalThis.setTimeout = setTimeout;
    }
    run();
    await lists.settled();
    return time - before;
  };
  lists.readAll();
  await lists.settled();
  const pauses: number[] = [];
  for (let i = 0; i < 18; i++) pauses.push(await pauseAfterChange());
  assert.equal(pauses, [...Array(11).fill(1000), 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  time += 60_000;
  assert.is(await pauseAfterChange(), 100);
  assert.is(await pauseAfterChange(), 1000);
});

test.run();
