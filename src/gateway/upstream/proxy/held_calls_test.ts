import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../../http/principal.ts";
import { type Message, modern } from "../../../mcp/test_exchange.ts";
import type { ClientExchange } from "../../../mcp_client/client.ts";
import { until } from "../../../test_until.ts";
import { UpstreamFailure } from "../failure.ts";
import { newGateway } from "../test_gateway.ts";
import { callContext, scripted } from "../test_scripted_client.ts";
import { HeldCall, HeldCalls } from "./held_calls.ts";

const test = suite("gateway/upstream/held_calls");

const userOf = (subject: string, client = "app"): Principal => ({
  subject,
  client,
  scopes: new Set(),
  workspace: "default",
});

/** Holds so many calls, and returns those that are held: the others were refused and cancelled. */
function hold(held: HeldCalls, count: number, principal: Principal | undefined): HeldCall[] {
  const calls: HeldCall[] = [];
  for (let i = 0; i < count; i++) {
    let signal: AbortSignal | undefined;
    const call = new HeldCall(callContext(undefined, principal), (given) => {
      signal = given;
      return new Promise(() => {});
    });
    try {
      held.hold(call);
      calls.push(call);
    } catch (error) {
      assert.instance(error, UpstreamFailure);
      assert.ok(signal!.aborted);
    }
  }
  return calls;
}

test("attack: one user, by whichever client, cannot hold all calls of a session that users share", () => {
  const held = new HeldCalls(60_000);
  assert.is(hold(held, 40, userOf("ada")).length, 40);
  const [call] = hold(held, 40, userOf("ada", "other"));
  assert.is(held.size, 64);
  held.hold(call!);
  assert.is(held.size, 64, "a call that is held again");
  assert.is(hold(held, 1, userOf("bob")).length, 1);
  assert.is(held.take(call!.id), call);
  assert.is(hold(held, 2, userOf("ada")).length, 1);
  held.close();
  assert.is(held.size, 0);
});

test("anonymous callers hold at most 256 together", () => {
  const held = new HeldCalls(60_000);
  assert.is(hold(held, 300, undefined).length, 256);
  assert.is(hold(held, 1, userOf("ada")).length, 0);
  held.close();
});

test("a held call that becomes a task after its user answered holds no place for calls", async () => {
  const over = Promise.withResolvers<void>();
  let isTask = false;
  const { upstreams } = scripted({
    up: {
      async call(_, given) {
        const { onServerRequest, onTask } = given as ClientExchange;
        const form = { message: "Name?", requestedSchema: { type: "object", properties: {} } };
        await onServerRequest!("elicitation/create", form, new AbortController().signal);
        onTask!();
        isTask = true;
        await over.promise;
        return { content: [{ type: "text", text: "done" }] };
      },
    },
  });
  const mcpServers = { up: { url: "https://up.example/", maxConcurrent: 1 } };
  const gateway = await newGateway({}, { upstreams: { ...upstreams, mcpServers } });
  const call = async (more: object = {}): Promise<Message> => {
    const params = { name: "up_echo", arguments: {}, ...more };
    const capabilities = { elicitation: { form: {} } };
    return (await modern(gateway.server, "tools/call", params, { capabilities })).answer.result;
  };
  const { resultType, requestState, inputRequests } = await call();
  assert.is(resultType, "input_required");
  const [key] = Object.keys(inputRequests);
  const retried = call({ requestState, inputResponses: { [key!]: { action: "accept", content: {} } } });
  await until(() => isTask, "it is a task");
  await until(() => gateway.upstreams.status()[0]!.running === 0, "it holds no place");
  over.resolve();
  assert.is((await retried).content[0].text, "done");
  await gateway.upstreams.close();
});

test.run();
