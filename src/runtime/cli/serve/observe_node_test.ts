import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listAudit } from "../../../observability/read_audit.ts";
import { verifyAudit } from "../../../observability/verify_audit.ts";
import { memoryStore } from "../../../store/drivers/memory.ts";
import { createObservers, createServeLog } from "./observe.ts";

const test = suite("cli/serve/observe");

test("records of the audit trail have the time of the store's clock", async () => {
  const time = Date.UTC(2031, 4, 5);
  const now = () => time;
  const store = Object.assign(memoryStore({ now }), { now });
  const values = {
    "log-format": "json",
    "log-level": "error",
    "log-requests": false,
    audit: "on",
    "audit-days": 30,
    "metrics-port": undefined,
    otel: false,
    drain: 0,
    "stop-timeout": 1,
  } as const;
  const { onEvent, close } = createObservers(values, createServeLog(values), store, "", undefined);
  onEvent({ type: "logged_out", user: "a" });
  await close();
  assert.equal((await Array.fromAsync(listAudit(store))).map((record) => record.time), [time]);
  assert.ok((await verifyAudit(store, { now: time + 29 * 86_400_000 })).valid);
});

test.run();
