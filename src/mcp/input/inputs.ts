/**
 * The state of calls that run again when the client has responded: multi-round-trip requests of 2026-07-28
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/mrtr), and the input requests of tasks. A run ends
 * at an input request without a response; the next run finds the response.
 *
 * @module
 */
import { toCanonicalJson } from "../../crypto/canonical_json.ts";
import { createSealer, type Sealer } from "../../crypto/seal.ts";
import { secretDigest } from "../../crypto/secret.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import { toJson } from "../../jsonrpc/to_json.ts";
import type { Principal } from "../../http/principal.ts";
import type { Json } from "../../store/store.ts";
import { principalKey } from "../session/principal_key.ts";
import { Suspension } from "./suspension.ts";

type Params = Readonly<Record<string, unknown>>;

/** A member of `inputRequests`. */
export interface InputRequest {
  readonly method: string;
  readonly params?: unknown;
}

/** The state of a call that may have run before. */
export class Inputs {
  /** The client's results by the key of their input request, not validated yet. */
  readonly answers: Record<string, unknown>;
  /** The values that `once` made, by key. */
  readonly kept: Record<string, Json>;
  /** The input requests of this run that have no response. */
  readonly pending: Map<string, InputRequest> = new Map();
  #numbers = new Map<string, number>();
  #making = new Map<string, Promise<Json>>();

  constructor(answers: Record<string, unknown> = {}, kept: Record<string, Json> = {}) {
    // Without a prototype, because clients and handlers choose the keys.
    this.answers = Object.assign(Object.create(null), answers);
    this.kept = Object.assign(Object.create(null), kept);
  }

  /**
   * The client's response to an input request.
   * @throws {Suspension} when there is no response yet
   */
  ask(key: string | undefined, request: InputRequest): unknown {
    const name = key ?? this.#number(request.method);
    if (Object.hasOwn(this.answers, name)) return this.answers[name];
    this.pending.set(name, request);
    throw new Suspension();
  }

  /** The value of the key. The first caller makes it; concurrent callers wait for the same value. */
  once(key: string, make: () => unknown): Promise<Json> {
    if (Object.hasOwn(this.kept, key)) return Promise.resolve(this.kept[key]!);
    let making = this.#making.get(key);
    if (!making) {
      making = this.#make(key, make);
      this.#making.set(key, making);
    }
    return making;
  }

  /** Resolves when no `once` is running any more: its value is kept even if an input request has ended the run. */
  async settled(): Promise<void> {
    while (this.#making.size > 0) await Promise.allSettled(this.#making.values());
  }

  async #make(key: string, make: () => unknown): Promise<Json> {
    // `once` must register this promise before `make` runs.
    await Promise.resolve();
    try {
      // The first run sees what later runs see: the value after JSON, in which undefined is null.
      return this.kept[key] = JSON.parse(toJson(await make()) ?? "null");
    } finally {
      // After a failure the next call may try again.
      this.#making.delete(key);
    }
  }

  /** A key for an input request without one. It is the same in each run if the handler asks in the same order. */
  #number(method: string): string {
    const kind = method.slice(0, method.indexOf("/"));
    const number = (this.#numbers.get(kind) ?? 0) + 1;
    this.#numbers.set(kind, number);
    return `${kind}_${number}`;
  }
}

/** The sealed content of `requestState`. */
interface RequestState {
  /** Digest of the request to which the state is bound: see {@linkcode RequestStates.open}. */
  readonly of: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Keys of the input requests; responses to others are ignored. */
  readonly asked: readonly string[];
  readonly answers: Record<string, unknown>;
  readonly kept: Record<string, Json>;
}

/** How long the client may take to retry. */
const REQUEST_STATE_LIFETIME_MS = 30 * 60_000;

/** Seals the state of a call into `requestState`, and opens it when the client retries the request. */
export class RequestStates {
  readonly #sealer: Sealer;
  readonly #now: () => number;

  constructor(secret: FindSecrets, now: () => number) {
    this.#sealer = createSealer(secret, "mcp_request_state");
    this.#now = now;
  }

  /**
   * The state and the responses that a retry carries; `undefined` for a first request.
   * @throws {RpcError} -32602 when the state was not issued for this request, or has expired
   */
  async open(
    principal: Principal | undefined,
    method: string,
    params: Params,
  ): Promise<Inputs | undefined> {
    const { requestState, inputResponses } = params;
    if (requestState === undefined && inputResponses === undefined) return undefined;
    const responses = readResponses(inputResponses);
    if (requestState === undefined) return new Inputs(responses);
    const text = typeof requestState === "string" ? await this.#sealer.unseal(requestState) : undefined;
    const state = text === undefined ? undefined : JSON.parse(text) as RequestState;
    if (
      !state || state.of !== secretDigest(toRequestText(principal, method, params)) ||
      state.expires < this.#now()
    ) {
      throw new RpcError(
        INVALID_PARAMS,
        "Invalid params: requestState was not issued for this request, or has expired. Send the request without it",
      );
    }
    const inputs = new Inputs(state.answers, state.kept);
    for (const key of state.asked) if (Object.hasOwn(responses, key)) inputs.answers[key] = responses[key];
    return inputs;
  }

  /** The `InputRequiredResult` for the pending input requests. */
  async result(
    inputs: Inputs,
    principal: Principal | undefined,
    method: string,
    params: Params,
  ): Promise<Record<string, unknown>> {
    await inputs.settled();
    const { pending, answers, kept } = inputs;
    const state: RequestState = {
      of: secretDigest(toRequestText(principal, method, params)),
      expires: this.#now() + REQUEST_STATE_LIFETIME_MS,
      asked: [...pending.keys()],
      answers,
      kept,
    };
    return {
      resultType: "input_required",
      inputRequests: Object.fromEntries(pending),
      requestState: await this.#sealer.seal(JSON.stringify(state)),
    };
  }
}

/** Reads `inputResponses`. @throws {RpcError} -32602 unless it is an object whose members are objects */
export function readResponses(value: unknown): Record<string, unknown> {
  if (value === undefined) return {};
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const bad = isObject &&
    Object.entries(value).find(([, each]) =>
      typeof each !== "object" || each === null || Array.isArray(each)
    );
  if (isObject && !bad) return value as Record<string, unknown>;
  throw new RpcError(
    INVALID_PARAMS,
    `Invalid params: ${bad ? `inputResponses.${bad[0].slice(0, 100)}` : "inputResponses"} must be an object`,
  );
}

/** The text that two requests share when one is a retry of the other: caller, method and parameters. */
function toRequestText(principal: Principal | undefined, method: string, params: Params): string {
  const { _meta: _, requestState: _state, inputResponses: _responses, ...rest } = params;
  // A client may serialize the retry with its members in another order.
  return toCanonicalJson([principalKey(principal), method, rest]);
}
