/**
 * What one request may cost, by endpoint: the tables in `src/oauth/README.md`, `src/mcp/README.md` and
 * `src/skills/README.md`, as the fuzzers assert them.
 *
 * @module
 */
import { MAX_LOOP_HOLD_MS } from "../../src/http/test_loop_watchdog.ts";
import { REQUEST_BUDGET } from "../../src/mcp/request_budget.ts";
import { ENDPOINT_BUDGETS } from "../../src/oauth/request_budget.ts";
import { SKILLS_REQUEST_BUDGETS, type SkillsRequestKind } from "../../src/skills/request_budget.ts";
import type { Cost } from "./meter.ts";

export interface Measured {
  readonly endpoint: string;
  /** Of the body and the query. */
  readonly bytes: number;
  /** Messages of a batch. @default 1 */
  readonly members?: number;
  /** Calls of the store that tools make by themselves. @default 0 */
  readonly ofTools?: number;
  /** What a request to the Skills service does. */
  readonly kind?: SkillsRequestKind | "messages" | undefined;
  /** Files of the version that is written, read whole or removed. @default 0 */
  readonly files?: number;
  /** Their bytes. @default those of the request */
  readonly unpacked?: number;
}

interface Budget {
  readonly storeCalls: number;
  /** Bytes, and bytes for each byte of the request. */
  readonly storedBytes: number;
  readonly storedPerByte: number;
}

/** What the authorization server does not name makes no call. */
const NOTHING: Budget = { storeCalls: 0, storedBytes: 0, storedPerByte: 0 };
/** `POST /v1/messages`: the key, the container, and each skill and its usage; what is disclosed is counted behind it. */
const MESSAGES: Budget = { storeCalls: 60, storedBytes: 16_384, storedPerByte: 0 };
const MEBIBYTE = 1024 * 1024;

function skillsBudget(kind: SkillsRequestKind, files: number, unpacked: number): Budget {
  const budget = SKILLS_REQUEST_BUDGETS[kind];
  return {
    storeCalls: budget.storeCalls + budget.storeCallsPerFile * files +
      Math.ceil(budget.storeCallsPerMebibyte * unpacked / MEBIBYTE),
    storedBytes: budget.storedBytes + budget.storedBytesPerFile * files +
      budget.storedBytesPerByte * unpacked,
    storedPerByte: 0,
  };
}

function budgetOf(measured: Measured): Budget {
  const { endpoint, members = 1, ofTools = 0, kind, files = 0, unpacked = measured.bytes } = measured;
  if (kind === "messages") return MESSAGES;
  if (kind !== undefined) return skillsBudget(kind, files, unpacked);
  if (endpoint !== "/mcp") return ENDPOINT_BUDGETS[endpoint] ?? NOTHING;
  const { storeCalls, storeCallsPerMember, storedBytesPerMember, storedBytesPerByte } = REQUEST_BUDGET;
  return {
    storeCalls: storeCalls + storeCallsPerMember * members + ofTools,
    storedBytes: storedBytesPerMember * (members + ofTools),
    storedPerByte: storedBytesPerByte,
  };
}

/** In which way a request cost too much; `undefined` when it did not. */
export function findExcess(
  measured: Measured,
  { storeCalls, storedBytes, loopMs }: Cost,
): string | undefined {
  const budget = budgetOf(measured);
  const { bytes } = measured;
  if (loopMs > MAX_LOOP_HOLD_MS) return `the event loop was held for ${Math.round(loopMs)} ms`;
  if (storeCalls > budget.storeCalls) return `${storeCalls} calls of the store`;
  if (storedBytes > budget.storedBytes + budget.storedPerByte * bytes) {
    return `${storedBytes} bytes were stored for ${bytes}`;
  }
  return undefined;
}
