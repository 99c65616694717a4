import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "../../mcp/definition/define.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Answer, newGateway } from "./test_gateway.ts";
import { until } from "../../test_until.ts";

const test = suite("gateway/policy/single_use");
const ANY = { type: "object", additionalProperties: true } as const;
const FORM = { elicitation: {} };
const TASKS = { ...FORM, extensions: { "io.modelcontextprotocol/tasks": {} } };
const NAME = { name: { action: "accept", content: {} } };
const LIMITS = [{ tools: "job", limit: { calls: 1, per: "1h" } }];

/** A tool that asks its user and then does its work, as a task where the client supports it. */
const jobOf = (work: () => string | Promise<string>) =>
  tool({
    name: "job",
    description: "Works when its user answers",
    input: ANY,
    task: { support: "optional", restart: true },
    async run(_, { elicit }) {
      await elicit({ key: "name", message: "?", schema: { type: "object", properties: {} } });
      return await work();
    },
  });

type Gateway = ReturnType<typeof newGateway>;

function poll({ request }: Gateway, taskId: string, status: RegExp): Promise<Answer> {
  return until(async () => {
    const { result } = await request("tasks/get", { taskId }, "alice", TASKS);
    return status.test(result.status) && result;
  }, `the task has the status ${status}`);
}

test("attack: the state of a counted call becomes one task, however often it is sent", async () => {
  let runs = 0;
  const gateway = newGateway({ limits: LIMITS }, [jobOf(() => `run ${++runs}`)]);
  const { requestState } = (await gateway.call("job", {}, { capabilities: FORM })).result;
  const more = { requestState, inputResponses: NAME };
  const send = (capabilities: object) =>
    gateway.call("job", {}, { capabilities: capabilities as Record<string, unknown>, more });
  for (const { result } of await Promise.all([send(TASKS), send(TASKS), send(TASKS)])) {
    await poll(gateway, result.taskId, /completed|failed/);
  }
  assert.is((await send(FORM)).result.isError, true);
  assert.is(runs, 1);
});

test("a task that another instance takes over after the answer continues", async () => {
  let runs = 0;
  let offset = 0;
  const store = memoryStore({ now: () => Date.now() + offset });
  const dead = newGateway({ limits: LIMITS }, [jobOf(() => new Promise(() => runs++))], { store });
  const alive = newGateway({ limits: LIMITS }, [jobOf(() => `run ${++runs}`)], { store });
  const { taskId } = (await dead.call("job", {}, { capabilities: TASKS })).result;
  await poll(dead, taskId, /input_required/);
  await dead.request("tasks/update", { taskId, inputResponses: NAME }, "alice", TASKS);
  await until(() => runs > 0);
  assert.is(runs, 1);
  offset += 80_000;
  alive.advance(80);
  assert.is((await poll(alive, taskId, /completed|failed/)).result?.content?.[0]?.text, "run 2");
});

test.run();
