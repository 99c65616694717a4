/**
 * Faults in how JSON-RPC requests are read.
 *
 * @module
 */
import type { Mutant } from "../mutant.ts";
import { faultyCalls, faultyMessages, faultyTexts, isNotification, type Members } from "./rpc_message.ts";

export const RPC = "/rpc";

const names = (...ids: string[]): string[] => ids.map((id) => `jsonrpc/${id}`);

const has = (call: Members, name: string, ...kinds: string[]): boolean =>
  name in call && kinds.includes(Array.isArray(call[name]) ? "list" : typeof call[name]);

export const RPC_REQUESTS: readonly Mutant[] = [
  {
    name: "jsonrpc/version-unchecked",
    fault: "Takes requests whatever their jsonrpc says",
    wrap: faultyCalls(RPC, (call) => ({ ...call, jsonrpc: "2.0" })),
    breaks: names(
      "invalid_request/jsonrpc-missing",
      "invalid_request/jsonrpc-one",
      "invalid_request/jsonrpc-number",
      "invalid_request/jsonrpc-longer",
      "invalid_request/jsonrpc-null",
      "invalid_request/jsonrpc-capitals",
    ),
  },
  {
    name: "jsonrpc/version-by-beginning",
    fault: "Compares the beginning of jsonrpc",
    wrap: faultyCalls(
      RPC,
      (call) => String(call["jsonrpc"]).startsWith("2.0") ? { ...call, jsonrpc: "2.0" } : call,
    ),
    breaks: names("invalid_request/jsonrpc-longer"),
  },
  {
    name: "jsonrpc/version-as-number",
    fault: "Compares jsonrpc as a number",
    wrap: faultyCalls(RPC, (call) => call["jsonrpc"] === 2 ? { ...call, jsonrpc: "2.0" } : call),
    breaks: names("invalid_request/jsonrpc-number"),
  },
  {
    name: "jsonrpc/members-in-any-case",
    fault: "Finds members in any case",
    wrap: faultyCalls(
      RPC,
      (call) => Object.fromEntries(Object.entries(call).map(([name, value]) => [name.toLowerCase(), value])),
    ),
    breaks: names("invalid_request/jsonrpc-capitals", "invalid_request/method-capitals"),
  },
  {
    name: "jsonrpc/methods-in-any-case",
    fault: "Finds methods in any case",
    wrap: faultyCalls(
      RPC,
      (call) => typeof call["method"] === "string" ? { ...call, method: call["method"].toLowerCase() } : call,
    ),
    breaks: names("examples/method-in-capitals"),
  },
  {
    name: "jsonrpc/method-of-any-kind",
    fault: "Takes a method of any kind for its text",
    wrap: faultyCalls(RPC, (call) => "method" in call ? { ...call, method: String(call["method"]) } : call),
    breaks: names(
      "invalid_request/method-number",
      "invalid_request/method-null",
      "invalid_request/method-list",
      "examples/method-in-list",
    ),
  },
  {
    name: "jsonrpc/id-of-any-kind",
    fault: "Takes ids that are lists, objects or booleans",
    wrap: faultyCalls(
      RPC,
      (call) =>
        has(call, "id", "list", "boolean") || (call["id"] !== null && has(call, "id", "object"))
          ? { ...call, id: "a" }
          : call,
    ),
    breaks: names("invalid_request/id-object", "invalid_request/id-list", "invalid_request/id-boolean"),
  },
  {
    name: "jsonrpc/id-null-as-none",
    fault: "Takes a request whose id is null for a notification",
    wrap: faultyCalls(RPC, (call) => {
      const { id, ...rest } = call;
      return id === null ? rest : call;
    }),
    breaks: names("request/id-null"),
  },
  {
    name: "jsonrpc/params-of-any-kind",
    fault: "Takes params that are no list and no object for none",
    wrap: faultyCalls(RPC, (call) => {
      const { params: _, ...rest } = call;
      return has(call, "params", "string", "number", "boolean") ? rest : call;
    }),
    breaks: names("examples/params-text", "examples/params-number", "examples/params-boolean"),
  },
  {
    name: "jsonrpc/answers-notifications",
    fault: "Answers notifications",
    wrap: faultyMessages(RPC, (value) => isNotification(value) ? { ...value, id: null } : value),
    breaks: names(
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
    wrap: faultyMessages(
      RPC,
      (value) =>
        Array.isArray(value)
          ? value.map((each) => isNotification(each) ? { ...each, id: null } : each)
          : value,
    ),
    breaks: names(
      "batch/request-and-notification",
      "batch/notifications-alone",
      "examples/batch-of-notifications",
      "examples/notifications-that-fail-in-a-batch",
    ),
    mayBreak: { "A notification is in its batch, too": names("examples/batch-mixed") },
  },
  {
    name: "jsonrpc/batch-in-batch",
    fault: "Takes the requests of a batch within a batch",
    wrap: faultyMessages(RPC, (value) => Array.isArray(value) ? value.flat() : value),
    breaks: names("batch/inner-array"),
  },
  {
    name: "jsonrpc/batch-of-one",
    fault: "Takes a batch of one for what is in it",
    wrap: faultyMessages(RPC, (value) => Array.isArray(value) && value.length === 1 ? value[0] : value),
    breaks: names(
      "batch/one-request",
      "batch/one-number",
      "examples/batch-of-one-number",
    ),
    mayBreak: { "Its batch is of one, too, which is an array": names("batch/inner-array") },
  },
  {
    name: "jsonrpc/comma-at-end",
    fault: "Reads JSON with a comma before the end",
    wrap: faultyTexts(RPC, (text) => text.replace(/,\s*\}$/, "}")),
    breaks: names("parse_error/trailing-comma"),
  },
  {
    name: "jsonrpc/comments",
    fault: "Reads JSON with comments",
    wrap: faultyTexts(RPC, (text) => text.replace(/\/\*.*?\*\//g, "")),
    breaks: names("parse_error/comment"),
  },
  {
    name: "jsonrpc/first-of-two",
    fault: "Reads the first of two values, and drops the other",
    wrap: faultyTexts(RPC, (text) => text.replace(/\}\s+\{.*$/s, "}")),
    breaks: names("parse_error/two-values"),
  },
  {
    name: "jsonrpc/single-quotes",
    fault: "Reads single quotes as double ones",
    wrap: faultyTexts(RPC, (text) => text.startsWith("{'") ? text.replaceAll("'", '"') : text),
    breaks: names("parse_error/single-quotes"),
  },
  {
    name: "jsonrpc/exponents-cut",
    fault: "Reads whole numbers up to their exponent",
    wrap: faultyTexts(RPC, (text) => text.replace(/: (\d+)[eE]\d+/g, ": $1")),
    breaks: names("request/id-exponent"),
  },
  {
    name: "jsonrpc/leading-zeros",
    fault: "Reads numbers with leading zeros",
    wrap: faultyTexts(RPC, (text) => text.replace(/: 0+(\d)/g, ": $1")),
    breaks: names("parse_error/leading-zero"),
  },
];
