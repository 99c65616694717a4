/**
 * The budget of one request, by endpoint, for the fuzzers: the tables in `src/oauth/README.md`, `src/mcp/README.md` and
 * `src/skills/README.md`.
 *
 * @module
 */
import { isTooLong } from "../../src/http/test_loop_watchdog.ts";
import { REQUEST_BUDGET } from "../../src/mcp/request_budget.ts";
import { ENDPOINT_BUDGETS } from "../../src/oauth/request_budget.ts";
import { SKILLS_REQUEST_BUDGETS, type SkillsRequestKind } from "../../src/skills/request_budget.ts";
import type { Cost } from "./meter.ts";

export interface Measured {
  readonly endpoint: string;
  /** Size of the body and the query. */
  readonly bytes: number;
  /** The number of messages of a batch. @default 1 */
  readonly members?: number;
  /** Store calls of tools. @default 0 */
  readonly toolStoreCalls?: number;
  /** The kind of a request to the Skills service. */
  readonly kind?: SkillsRequestKind | "messages" | undefined;
  /** The number of files of the version that is written, read or removed. @default 0 */
  readonly files?: number;
  /** The bytes of these files. @default the bytes of the request */
  readonly unpacked?: number;
}

interface Budget {
  readonly storeCalls: number;
  /** Plus `storedPerByte` for each byte of the request. */
  readonly storedBytes: number;
  readonly storedPerByte: number;
}

/** The budget of endpoints that `ENDPOINT_BUDGETS` does not list. */
const NO_BUDGET: Budget = { storeCalls: 0, storedBytes: 0, storedPerByte: 0 };
/** `POST /v1/messages`: the key, the container, and each skill and its usage. */
const MESSAGES_BUDGET: Budget = { storeCalls: 60, storedBytes: 16_384, storedPerByte: 0 };
const MEBIBYTE_BYTES = 1024 * 1024;

function skillsBudget(kind: SkillsRequestKind, files: number, unpacked: number): Budget {
  const budget = SKILLS_REQUEST_BUDGETS[kind];
  return {
    storeCalls: budget.storeCalls + budget.storeCallsPerFile * files +
      Math.ceil(budget.storeCallsPerMebibyte * unpacked / MEBIBYTE_BYTES),
    storedBytes: budget.storedBytes + budget.storedBytesPerFile * files +
      budget.storedBytesPerByte * unpacked,
    storedPerByte: 0,
  };
}

function getBudget(measured: Measured): Budget {
  const { endpoint, members = 1, toolStoreCalls = 0, kind, files = 0, unpacked = measured.bytes } = measured;
  if (kind === "messages") return MESSAGES_BUDGET;
  if (kind !== undefined) return skillsBudget(kind, files, unpacked);
  if (endpoint !== "/mcp") return ENDPOINT_BUDGETS[endpoint] ?? NO_BUDGET;
  const { storeCalls, storeCallsPerMember, storedBytesPerMember, storedBytesPerByte } = REQUEST_BUDGET;
  return {
    storeCalls: storeCalls + storeCallsPerMember * members + toolStoreCalls,
    storedBytes: storedBytesPerMember * (members + toolStoreCalls),
    storedPerByte: storedBytesPerByte,
  };
}

/** Describes how a request exceeded its budget; `undefined` if it did not. */
export function findExcess(
  measured: Measured,
  { storeCalls, storedBytes, loopMs }: Cost,
): string | undefined {
  const budget = getBudget(measured);
  const { bytes } = measured;
  if (isTooLong(loopMs)) return `the event loop was held for ${Math.round(loopMs)} ms`;
  if (storeCalls > budget.storeCalls) return `${storeCalls} store calls`;
  if (storedBytes > budget.storedBytes + budget.storedPerByte * bytes) {
    return `${storedBytes} bytes were stored for ${bytes}`;
  }
  return undefined;
}
