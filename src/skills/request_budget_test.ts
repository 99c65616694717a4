import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../store/drivers/memory.ts";
import type { Store } from "../store/store.ts";
import {
  SKILLS_REQUEST_BUDGETS,
  type SkillsRequestBudget,
  type SkillsRequestKind,
} from "./request_budget.ts";
import { multipart, newService, SKILL_MD, type TestFile } from "./test_service.ts";

const test = suite("skills/request_budget");

/** Counts calls and stored bytes of a store. */
function meter(inner: Store): { store: Store; take(): { calls: number; bytes: number } } {
  let calls = 0;
  let bytes = 0;
  const store: Store = {
    guarantees: inner.guarantees,
    get: (key) => (calls++, inner.get(key)),
    list: (prefix, options) => (calls++, inner.list(prefix, options)),
    commit(commit) {
      calls++;
      for (const { key, value } of commit.set ?? []) {
        bytes += JSON.stringify(key).length +
          (value instanceof Uint8Array ? value.length : JSON.stringify(value).length);
      }
      return inner.commit(commit);
    },
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  return {
    store,
    take() {
      const taken = { calls, bytes };
      calls = bytes = 0;
      return taken;
    },
  };
}

test("stored bytes and store calls of each request are within its budget", async () => {
  const { store, take } = meter(memoryStore());
  const service = await newService({ store });
  async function send(
    kind: SkillsRequestKind,
    path: string,
    { method = "GET", sent, of = sent ?? [] }: { method?: string; sent?: TestFile[]; of?: TestFile[] } = {},
  ): Promise<string> {
    const part = sent && multipart(sent);
    const headers = part ? { "content-type": part.type } : undefined;
    take();
    const response = await service.send(path, {
      method,
      ...part && { body: part.body },
      ...headers && { headers },
    });
    const text = await response.text();
    assert.is(response.status, 200, text);
    const { calls, bytes } = take();
    const budget: SkillsRequestBudget = SKILLS_REQUEST_BUDGETS[kind];
    const count = of.length;
    const size = of.reduce((sum, [, content]) => sum + content.length, 0);
    const maxCalls = budget.storeCalls + budget.storeCallsPerFile * count +
      budget.storeCallsPerMebibyte * size / 2 ** 20;
    assert.ok(calls <= maxCalls, `${kind} ${path}: ${calls} calls`);
    const maxBytes = budget.storedBytes + budget.storedBytesPerFile * count +
      budget.storedBytesPerByte * size;
    assert.ok(bytes <= maxBytes, `${kind} ${path}: ${bytes} bytes stored`);
    return text;
  }
  const small: TestFile[] = [["demo/SKILL.md", SKILL_MD]];
  const large: TestFile[] = [...small, ["demo/x", new Uint8Array(8_000_000)]];
  const path = (i: number): string => "demo/" + "a-long-name/".repeat(5) + i;
  const many: TestFile[] = [
    ...small,
    ...Array.from({ length: 500 }, (_, i): TestFile => [path(i), String(i)]),
  ];
  for (const sent of [small, large, many]) {
    await send("validate", "/v1/skills/validate", { method: "POST", sent });
    const { id } = JSON.parse(await send("publish", "/v1/skills", { method: "POST", sent }));
    const next = JSON.parse(await send("publish", `/v1/skills/${id}/versions`, { method: "POST", sent }));
    for (const rest of ["", "/versions", `/versions/${next.id}`, "/usage"]) {
      await send("read", `/v1/skills/${id}${rest}`);
    }
    await send("read", "/v1/skills?limit=100");
    await send("read", "/v1/skills/usage");
    await send("download", `/v1/skills/${id}/versions/${next.id}/content`, { of: sent });
    await send("remove", `/v1/skills/${id}/versions/${next.id}`, { method: "DELETE", of: sent });
    await send("remove", `/v1/skills/${id}`, { method: "DELETE", of: sent });
  }
});

test.run();
