/**
 * Faults in how JSON-RPC requests are read.
 *
 * @module
 */
import type { Mutant } from "../mutant.ts";
import {
  changeBodies,
  changeEachMessage,
  changeMessages,
  isNotification,
  type Members,
} from "./message_faults.ts";

export const RPC = "/rpc";

const names = (...ids: string[]): string[] => ids.map((id) => `jsonrpc/${id}`);

const hasMember = (call: Members, name: string, ...kinds: string[]): boolean =>
  name in call && kinds.includes(Array.isArray(call[name]) ? "list" : typeof call[name]);

export const RPC_REQUESTS: readonly Mutant[] = [
  {
    name: "jsonrpc/version-unchecked",
    fault: "Accepts requests with any value of jsonrpc",
    wrap: changeEachMessage(RPC, (call) => ({ ...call, jsonrpc: "2.0" })),
    killedBy: names(
      "invalid_request/jsonrpc-missing",
      "invalid_request/jsonrpc-one",
      "invalid_request/jsonrpc-number",
      "invalid_request/jsonrpc-longer",
      "invalid_request/jsonrpc-null",
      "invalid_request/jsonrpc-capitals",
    ),
  },
  {
    name: "jsonrpc/version-by-prefix",
    fault: "Compares only the beginning of jsonrpc",
    wrap: changeEachMessage(
      RPC,
      (call) => String(call["jsonrpc"]).startsWith("2.0") ? { ...call, jsonrpc: "2.0" } : call,
    ),
    killedBy: names("invalid_request/jsonrpc-longer"),
  },
  {
    name: "jsonrpc/version-as-number",
    fault: "Accepts the number 2 for jsonrpc",
    wrap: changeEachMessage(RPC, (call) => call["jsonrpc"] === 2 ? { ...call, jsonrpc: "2.0" } : call),
    killedBy: names("invalid_request/jsonrpc-number"),
  },
  {
    name: "jsonrpc/members-in-any-case",
    fault: "Matches member names case-insensitively",
    wrap: changeEachMessage(
      RPC,
      (call) => Object.fromEntries(Object.entries(call).map(([name, value]) => [name.toLowerCase(), value])),
    ),
    killedBy: names("invalid_request/jsonrpc-capitals", "invalid_request/method-capitals"),
  },
  {
    name: "jsonrpc/methods-in-any-case",
    fault: "Matches method names case-insensitively",
    wrap: changeEachMessage(
      RPC,
      (call) => typeof call["method"] === "string" ? { ...call, method: call["method"].toLowerCase() } : call,
    ),
    killedBy: names("examples/method-in-capitals"),
  },
  {
    name: "jsonrpc/method-of-any-type",
    fault: "Converts a method of any type to a string",
    wrap: changeEachMessage(
      RPC,
      (call) => "method" in call ? { ...call, method: String(call["method"]) } : call,
    ),
    killedBy: names(
      "invalid_request/method-number",
      "invalid_request/method-null",
      "invalid_request/method-list",
      "examples/method-in-list",
    ),
  },
  {
    name: "jsonrpc/id-of-any-type",
    fault: "Accepts ids that are arrays, objects or booleans",
    wrap: changeEachMessage(
      RPC,
      (call) =>
        hasMember(call, "id", "list", "boolean") || (call["id"] !== null && hasMember(call, "id", "object"))
          ? { ...call, id: "a" }
          : call,
    ),
    killedBy: names("invalid_request/id-object", "invalid_request/id-list", "invalid_request/id-boolean"),
  },
  {
    name: "jsonrpc/id-null-as-notification",
    fault: "Treats a request with a null id as a notification",
    wrap: changeEachMessage(RPC, (call) => {
      const { id, ...rest } = call;
      return id === null ? rest : call;
    }),
    killedBy: names("request/id-null"),
  },
  {
    name: "jsonrpc/params-of-any-type",
    fault: "Ignores params that are neither array nor object",
    wrap: changeEachMessage(RPC, (call) => {
      const { params: _, ...rest } = call;
      return hasMember(call, "params", "string", "number", "boolean") ? rest : call;
    }),
    killedBy: names("examples/params-text", "examples/params-number", "examples/params-boolean"),
  },
  {
    name: "jsonrpc/params-null-as-omitted",
    fault: "Treats null as params that are left out",
    wrap: changeEachMessage(RPC, (call) => {
      const { params, ...rest } = call;
      return params === null ? rest : call;
    }),
    killedBy: names("examples/params-null"),
  },
  {
    name: "jsonrpc/answers-notifications",
    fault: "Answers notifications",
    wrap: changeMessages(RPC, (value) => isNotification(value) ? { ...value, id: null } : value),
    killedBy: names(
      "notification/unknown",
      "notification/by-name",
      "notification/by-position",
      "notification/reserved",
      "notification/several",
      "notification/wrong-parameters",
      "examples/update-notification",
      "examples/unknown-notification",
      "examples/failing-notification",
    ),
  },
  {
    name: "jsonrpc/batch-answers-notifications",
    fault: "Answers the notifications of a batch",
    wrap: changeMessages(
      RPC,
      (value) =>
        Array.isArray(value)
          ? value.map((each) => isNotification(each) ? { ...each, id: null } : each)
          : value,
    ),
    killedBy: names(
      "batch/request-and-notification",
      "batch/notifications-alone",
      "examples/batch-of-notifications",
      "examples/notifications-that-fail-in-a-batch",
    ),
    mayFail: { "Its batch contains a notification": names("examples/batch-mixed") },
  },
  {
    name: "jsonrpc/batch-in-batch",
    fault: "Accepts a batch within a batch",
    wrap: changeMessages(RPC, (value) => Array.isArray(value) ? value.flat() : value),
    killedBy: names("batch/inner-array"),
  },
  {
    name: "jsonrpc/batch-of-one",
    fault: "Treats a batch of one as a single request",
    wrap: changeMessages(RPC, (value) => Array.isArray(value) && value.length === 1 ? value[0] : value),
    killedBy: names(
      "batch/one-request",
      "batch/one-number",
      "examples/batch-of-one-number",
    ),
    mayFail: { "Its batch contains one value, an array": names("batch/inner-array") },
  },
  {
    name: "jsonrpc/trailing-comma",
    fault: "Accepts JSON with a trailing comma",
    wrap: changeBodies(RPC, (text) => text.replace(/,\s*\}$/, "}")),
    killedBy: names("parse_error/trailing-comma"),
  },
  {
    name: "jsonrpc/comments",
    fault: "Accepts JSON with comments",
    wrap: changeBodies(RPC, (text) => text.replace(/\/\*.*?\*\//g, "")),
    killedBy: names("parse_error/comment"),
  },
  {
    name: "jsonrpc/first-of-two",
    fault: "Reads the first of two JSON values and drops the second",
    wrap: changeBodies(RPC, (text) => text.replace(/\}\s+\{.*$/s, "}")),
    killedBy: names("parse_error/two-values"),
  },
  {
    name: "jsonrpc/single-quotes",
    fault: "Accepts single-quoted strings",
    wrap: changeBodies(RPC, (text) => text.startsWith("{'") ? text.replaceAll("'", '"') : text),
    killedBy: names("parse_error/single-quotes"),
  },
  {
    name: "jsonrpc/exponents-dropped",
    fault: "Ignores exponents of numbers",
    wrap: changeBodies(RPC, (text) => text.replace(/: (\d+)[eE]\d+/g, ": $1")),
    killedBy: names("request/id-exponent"),
  },
  {
    name: "jsonrpc/leading-zeros",
    fault: "Accepts numbers with leading zeros",
    wrap: changeBodies(RPC, (text) => text.replace(/: 0+(\d)/g, ": $1")),
    killedBy: names("parse_error/leading-zero"),
  },
];
