import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../src/store/drivers/memory.ts";
import { createTrivet } from "../../src/trivet.ts";
import { createAccount, Load } from "./load.ts";

const test = suite("faults/load: clients of an instance that dies");
const ISSUER = "http://127.0.0.1:8787";

test("a response that ends in its body has an unknown outcome, and the client goes on", async () => {
  const store = memoryStore();
  const trivet = createTrivet({ issuer: ISSUER, store, oauth: { passwordIterations: 1000 } });
  let sent = 0;
  let cut = 0;
  const send = async (_: number, path: string, init?: RequestInit): Promise<Response> => {
    const response = await trivet.fetch(new Request(ISSUER + path, init));
    if (++sent % 4 !== 0 || response.body === null) return response;
    cut++;
    const dies = new TransformStream({ flush: (controller) => controller.error(new TypeError("cut")) });
    return new Response(response.body.pipeThrough(dies), response);
  };
  const load = new Load(
    { send, instances: 1, rounds: 9, clients: 2, retryDelayMs: 1 },
    await createAccount(store),
  );
  await load.run();
  assert.ok(cut > 10, `${cut} responses`);
  assert.match(load.history.summary(), /unknown/);
  assert.equal(await load.findViolations(), []);
});

test.run();
