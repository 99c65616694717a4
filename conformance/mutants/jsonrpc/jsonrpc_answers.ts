/**
 * Faults in what is answered to JSON-RPC requests.
 *
 * @module
 */
import { withBody } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { RPC } from "./jsonrpc_requests.ts";
import { faultyEach, faultyErrors, faultyResponses, isObject } from "./rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `jsonrpc/${id}`);

const recode = (from: number, to: unknown): Wrap =>
  faultyErrors(RPC, (error) => {
    if (error["code"] === from) error["code"] = to;
  });

const ERRORS_READ = {
  "They read what an error says": names(
    "batch/",
    "examples/",
    "invalid_request/",
    "parse_error/",
    "request/method-",
    "request/unknown-method-positions",
  ),
};

export const RPC_ANSWERS: readonly Mutant[] = [
  {
    name: "jsonrpc/parse-error-code",
    fault: "Says of what is not JSON that it is no request",
    wrap: recode(-32700, -32600),
    breaks: names("parse_error/cut", "parse_error/bare-word", "batch/not-json", "examples/parse-error"),
    mayBreak: { "They send what is not JSON, too": names("examples/batch-not-json", "parse_error/") },
  },
  {
    name: "jsonrpc/invalid-request-code",
    fault: "Says of what is no request that it is not JSON",
    wrap: recode(-32600, -32700),
    breaks: names("invalid_request/empty-object", "invalid_request/number", "batch/empty"),
    mayBreak: {
      "They send what is no request, too": names(
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
    fault: "Says of a method that there is not that the server failed",
    wrap: recode(-32601, -32603),
    breaks: names("request/unknown-method", "request/method-reserved", "examples/unknown-method"),
    mayBreak: {
      "They ask for a method that there is not": names(
        "examples/batch-mixed",
        "examples/method-in-capitals",
        "request/method-",
        "request/unknown-method-positions",
      ),
    },
  },
  {
    name: "jsonrpc/params-code",
    fault: "Has a code of its own for wrong parameters",
    wrap: recode(-32602, -32000),
    breaks: names("examples/wrong-parameters"),
    mayBreak: {
      "Their parameters are wrong, too": names(
        "examples/name-missing",
        "examples/names-in-capitals",
        "examples/parameters-left-out",
      ),
    },
  },
  {
    name: "jsonrpc/code-as-text",
    fault: "Says codes as texts",
    wrap: faultyErrors(RPC, (error) => {
      error["code"] = String(error["code"]);
    }),
    breaks: names("request/unknown-method", "parse_error/cut", "batch/empty"),
    mayBreak: ERRORS_READ,
  },
  {
    name: "jsonrpc/no-message",
    fault: "Has no message in errors",
    wrap: faultyErrors(RPC, (error) => {
      delete error["message"];
    }),
    breaks: names("request/unknown-method", "invalid_request/number"),
    mayBreak: ERRORS_READ,
  },
  {
    name: "jsonrpc/result-beside-error",
    fault: "Has a result of null beside errors",
    wrap: faultyErrors(RPC, (_, response) => {
      response["result"] = null;
    }),
    breaks: names("request/unknown-method", "parse_error/cut", "batch/empty"),
    mayBreak: {
      "They are answered with an error that nothing may be beside": names(
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
    wrap: faultyEach(RPC, (response) => {
      delete response["jsonrpc"];
    }),
    breaks: names("request/id-text", "examples/by-position", "parse_error/cut"),
    mayBreak: {
      "They read jsonrpc in what they are answered": names(
        "batch/",
        "examples/",
        "invalid_request/",
        "parse_error/",
        "request/",
      ),
    },
  },
  {
    name: "jsonrpc/id-as-text",
    fault: "Gives ids back as texts",
    wrap: faultyEach(RPC, (response) => {
      if (typeof response["id"] === "number") response["id"] = String(response["id"]);
    }),
    breaks: names(
      "request/id-number",
      "request/id-zero",
      "request/id-negative",
      "request/id-large",
      "request/id-fraction",
      "request/id-exponent",
    ),
    mayBreak: {
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
    name: "jsonrpc/id-whole",
    fault: "Cuts fractions off ids",
    wrap: faultyEach(RPC, (response) => {
      if (typeof response["id"] === "number") response["id"] = Math.trunc(response["id"]);
    }),
    breaks: names("request/id-fraction"),
  },
  {
    name: "jsonrpc/id-as-number",
    fault: "Gives digits in ids back as numbers",
    wrap: faultyEach(RPC, (response) => {
      if (/^\d+$/.test(String(response["id"]))) response["id"] = Number(response["id"]);
    }),
    breaks: names("request/id-digits"),
    mayBreak: {
      "Their ids are digits": names(
        "examples/batch-mixed",
        "examples/no-parameters",
        "examples/unknown-method",
      ),
    },
  },
  {
    name: "jsonrpc/id-lost-where-falsy",
    fault: "Takes 0 and the empty text for no id",
    wrap: faultyEach(RPC, (response) => {
      response["id"] ||= null;
    }),
    breaks: names("request/id-zero", "request/id-empty"),
  },
  {
    name: "jsonrpc/id-in-latin-1",
    fault: "Loses what of an id is beyond ASCII",
    wrap: faultyEach(RPC, (response) => {
      if (typeof response["id"] === "string") response["id"] = response["id"].replace(/[^ -~]/g, "?");
    }),
    breaks: names("request/id-unicode"),
  },
  {
    name: "jsonrpc/inherited-methods",
    fault: "Finds methods that every object has",
    wrap: faultyResponses(RPC, (value, sent) => {
      const method = isObject(sent) ? String(sent["method"]) : "";
      return isObject(sent) && isObject(value) && method !== "" && method in {}
        ? { jsonrpc: "2.0", id: sent["id"], result: {} }
        : value;
    }),
    breaks: names(
      "request/method-constructor",
      "request/method-proto",
      "request/method-tostring",
      "request/method-hasownproperty",
    ),
  },
  {
    name: "jsonrpc/scalar-params-answered",
    fault: "Answers requests whose params are no list and no object",
    wrap: faultyResponses(
      RPC,
      (value, sent) =>
        isObject(sent) && ["string", "number", "boolean"].includes(typeof sent["params"])
          ? { jsonrpc: "2.0", id: sent["id"] ?? null, result: null }
          : value,
    ),
    breaks: names(
      "invalid_request/params-text",
      "invalid_request/params-number",
      "invalid_request/params-boolean",
    ),
    mayBreak: {
      "Their params are no list and no object either": names("examples/invalid-request", "examples/params-"),
    },
  },
  {
    name: "jsonrpc/ends-at-parse-error",
    fault: "Answers nothing after what it could not read",
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
    breaks: names("parse_error/server-goes-on"),
    mayBreak: { "They come after what was not JSON: vectors run in any order": ["jsonrpc/"] },
  },
];
