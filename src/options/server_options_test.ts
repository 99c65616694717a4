import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../events.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { StoreUnavailableError } from "../store/store.ts";
import { completeServer } from "./server_options.ts";

const test = suite("options/server");

test("what the store cannot do is an event of the store, whatever reports it as a fault", () => {
  const events: TrivetEvent[] = [];
  const { observe } = completeServer("issuer", "https://a.example", {
    store: memoryStore(),
    onEvent: (event) => void events.push(event),
  });
  const unavailable = new StoreUnavailableError("the database does not answer");
  const fault = new Error("a fault");
  for (const error of [unavailable, fault]) observe({ type: "fault", where: "oauth", error });
  assert.equal(events, [
    { type: "store_unavailable", where: "oauth", error: unavailable },
    { type: "fault", where: "oauth", error: fault },
  ]);
});

test.run();
