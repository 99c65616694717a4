/**
 * Faults in JSON-RPC responses.
 *
 * @module
 */
import { withBody } from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { RPC } from "./jsonrpc_requests.ts";
import { changeEachResponse, changeErrors, changeRpcResponses, isObject } from "./message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `jsonrpc/${id}`);

const recode = (from: number, to: unknown): Wrap =>
  changeErrors(RPC, (error) => {
    if (error["code"] === from) error["code"] = to;
  });

const ERRORS_READ = {
  "They check the error": names(
    "batch/",
    "examples/",
    "invalid_request/",
    "parse_error/",
    "request/method-",
    "request/unknown-method-positions",
  ),
};

export const RPC_RESPONSES: readonly Mutant[] = [
  {
    name: "jsonrpc/result-left-out",
    fault: "Leaves out the result of a method that returns nothing",
    wrap: changeEachResponse(RPC, (response) => {
      if (response["result"] === null) delete response["result"];
    }),
    killedBy: names(
      "request/without-result-notify-hello",
      "request/without-result-notify-sum",
      "request/without-result-update",
    ),
  },
  {
    name: "jsonrpc/parse-error-code",
    fault: "Returns the code of an invalid request for a parse error",
    wrap: recode(-32700, -32600),
    killedBy: names("parse_error/cut", "parse_error/bare-word", "batch/not-json", "examples/parse-error"),
    mayFail: { "They send invalid JSON": names("examples/batch-not-json", "parse_error/") },
  },
  {
    name: "jsonrpc/invalid-request-code",
    fault: "Returns the code of a parse error for an invalid request",
    wrap: recode(-32600, -32700),
    killedBy: names("invalid_request/empty-object", "invalid_request/number", "batch/empty"),
    mayFail: {
      "They send an invalid request": names(
        "batch/",
        "examples/batch-",
        "examples/invalid-request",
        "examples/method-in-list",
        "examples/params-",
        "invalid_request/",
      ),
    },
  },
  {
    name: "jsonrpc/unknown-method-code",
    fault: "Returns the code of an internal error for an unknown method",
    wrap: recode(-32601, -32603),
    killedBy: names("request/unknown-method", "request/method-reserved", "examples/unknown-method"),
    mayFail: {
      "They call an unknown method": names(
        "examples/batch-mixed",
        "examples/method-in-capitals",
        "request/method-",
        "request/unknown-method-positions",
      ),
    },
  },
  {
    name: "jsonrpc/params-code",
    fault: "Returns its own code for invalid params",
    wrap: recode(-32602, -32000),
    killedBy: names("examples/wrong-parameters"),
    mayFail: {
      "They send invalid params": names(
        "examples/name-missing",
        "examples/names-in-capitals",
        "examples/parameters-left-out",
      ),
    },
  },
  {
    name: "jsonrpc/code-as-string",
    fault: "Returns error codes as strings",
    wrap: changeErrors(RPC, (error) => {
      error["code"] = String(error["code"]);
    }),
    killedBy: names("request/unknown-method", "parse_error/cut", "batch/empty"),
    mayFail: ERRORS_READ,
  },
  {
    name: "jsonrpc/no-message",
    fault: "Leaves message out of errors",
    wrap: changeErrors(RPC, (error) => {
      delete error["message"];
    }),
    killedBy: names("request/unknown-method", "invalid_request/number"),
    mayFail: ERRORS_READ,
  },
  {
    name: "jsonrpc/result-beside-error",
    fault: "Returns a null result beside errors",
    wrap: changeErrors(RPC, (_, response) => {
      response["result"] = null;
    }),
    killedBy: names("request/unknown-method", "parse_error/cut", "batch/empty"),
    mayFail: {
      "They expect an error without result": names(
        "batch/",
        "examples/",
        "invalid_request/",
        "parse_error/",
        "request/",
      ),
    },
  },
  {
    name: "jsonrpc/no-version",
    fault: "Leaves jsonrpc out of responses",
    wrap: changeEachResponse(RPC, (response) => {
      delete response["jsonrpc"];
    }),
    killedBy: names("request/id-text", "examples/by-position", "parse_error/cut"),
    mayFail: {
      "They check jsonrpc in responses": names(
        "batch/",
        "examples/",
        "invalid_request/",
        "parse_error/",
        "request/",
      ),
    },
  },
  {
    name: "jsonrpc/id-as-string",
    fault: "Returns numeric ids as strings",
    wrap: changeEachResponse(RPC, (response) => {
      if (typeof response["id"] === "number") response["id"] = String(response["id"]);
    }),
    killedBy: names(
      "request/id-number",
      "request/id-zero",
      "request/id-negative",
      "request/id-large",
      "request/id-fraction",
      "request/id-exponent",
    ),
    mayFail: {
      "Their ids are numbers": names(
        "examples/by-",
        "examples/method-in-capitals",
        "examples/name-missing",
        "examples/names-in-capitals",
        "examples/parameters-left-out",
        "examples/wrong-parameters",
      ),
    },
  },
  {
    name: "jsonrpc/id-truncated",
    fault: "Truncates fractional ids",
    wrap: changeEachResponse(RPC, (response) => {
      if (typeof response["id"] === "number") response["id"] = Math.trunc(response["id"]);
    }),
    killedBy: names("request/id-fraction"),
  },
  {
    name: "jsonrpc/id-as-number",
    fault: "Returns ids made of digits as numbers",
    wrap: changeEachResponse(RPC, (response) => {
      if (/^\d+$/.test(String(response["id"]))) response["id"] = Number(response["id"]);
    }),
    killedBy: names("request/id-digits"),
    mayFail: {
      "Their ids are digits": names(
        "examples/batch-mixed",
        "examples/no-parameters",
        "examples/unknown-method",
      ),
    },
  },
  {
    name: "jsonrpc/id-falsy-lost",
    fault: 'Treats the ids 0 and "" as missing',
    wrap: changeEachResponse(RPC, (response) => {
      response["id"] ||= null;
    }),
    killedBy: names("request/id-zero", "request/id-empty"),
  },
  {
    name: "jsonrpc/id-ascii",
    fault: "Replaces characters of ids beyond ASCII",
    wrap: changeEachResponse(RPC, (response) => {
      if (typeof response["id"] === "string") response["id"] = response["id"].replace(/[^ -~]/g, "?");
    }),
    killedBy: names("request/id-unicode"),
  },
  {
    name: "jsonrpc/inherited-methods",
    fault: "Finds methods on Object.prototype",
    wrap: changeRpcResponses(RPC, (value, sent) => {
      const method = isObject(sent) ? String(sent["method"]) : "";
      return isObject(sent) && isObject(value) && method !== "" && method in {}
        ? { jsonrpc: "2.0", id: sent["id"], result: {} }
        : value;
    }),
    killedBy: names(
      "request/method-constructor",
      "request/method-proto",
      "request/method-tostring",
      "request/method-hasownproperty",
    ),
  },
  {
    name: "jsonrpc/scalar-params-answered",
    fault: "Answers requests whose params are neither array nor object",
    wrap: changeRpcResponses(
      RPC,
      (value, sent) =>
        isObject(sent) && ["string", "number", "boolean"].includes(typeof sent["params"])
          ? { jsonrpc: "2.0", id: sent["id"] ?? null, result: null }
          : value,
    ),
    killedBy: names(
      "invalid_request/params-text",
      "invalid_request/params-number",
      "invalid_request/params-boolean",
    ),
    mayFail: {
      "Their params are neither array nor object": names("examples/invalid-request", "examples/params-"),
    },
  },
  {
    name: "jsonrpc/stops-at-parse-error",
    fault: "Stops answering after a parse error",
    wrap: (next: Handler): Handler => {
      let isBroken = false;
      return async (request) => {
        if (isBroken) return new Response(null, { status: 204 });
        const answer = await next(request);
        const text = await answer.text();
        isBroken = /"code":-32700/.test(text);
        return answer.status === 204 ? new Response(null, { status: 204 }) : withBody(answer, text);
      };
    },
    killedBy: names("parse_error/server-goes-on"),
    mayFail: { "They may run after a parse error, because vectors run in any order": ["jsonrpc/"] },
  },
];
