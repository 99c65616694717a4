/**
 * Questions to the client that are answered by running the call again: multi-round-trip requests of 2026-07-28
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/mrtr), and the input requests of tasks. A run that
 * meets an unanswered question ends; the next one finds the answer.
 *
 * @module
 */
import { createSealer, type Sealer } from "../../crypto/seal.ts";
import { secretDigest } from "../../crypto/secret.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import type { Json } from "../../store/store.ts";

/** Ends a run that waits for answers. What catches it and goes on changes nothing: its result is not looked at. */
export class Suspension extends Error {
  override readonly name = "Suspension";
  constructor() {
    super("The call is suspended until the client answers, and then runs again");
  }
}

/** A question as the client gets it. */
export interface InputRequest {
  readonly method: string;
  readonly params?: unknown;
}

/** What is known of a call that may have run before. */
export class Inputs {
  /** The client's results by the question's key, as they came. */
  readonly answers: Record<string, unknown>;
  /** Values that `once` made. */
  readonly kept: Record<string, Json>;
  /** Questions of this run that have no answer. */
  readonly pending: Map<string, InputRequest> = new Map();
  #numbers = new Map<string, number>();
  #making = new Map<string, Promise<Json>>();

  constructor(answers: Record<string, unknown> = {}, kept: Record<string, Json> = {}) {
    // Without a prototype, whatever the keys are called.
    this.answers = Object.assign(Object.create(null), answers);
    this.kept = Object.assign(Object.create(null), kept);
  }

  /**
   * The client's answer to a question.
   * @throws {Suspension} when there is none yet
   */
  ask(key: string | undefined, request: InputRequest): unknown {
    const name = key ?? this.#number(request.method);
    if (Object.hasOwn(this.answers, name)) return this.answers[name];
    this.pending.set(name, request);
    throw new Suspension();
  }

  /** The value that was kept under the key; the first who asks for it makes it, those at the same time wait for that. */
  once(key: string, make: () => unknown): Promise<Json> {
    if (Object.hasOwn(this.kept, key)) return Promise.resolve(this.kept[key]!);
    let making = this.#making.get(key);
    if (!making) {
      making = this.#make(key, make);
      this.#making.set(key, making);
    }
    return making;
  }

  /** Resolves when `once` makes nothing: what it makes belongs to the call, also when a question has ended the run. */
  async settled(): Promise<void> {
    while (this.#making.size > 0) await Promise.allSettled(this.#making.values());
  }

  async #make(key: string, make: () => unknown): Promise<Json> {
    // Not before it is known to be under way.
    await Promise.resolve();
    try {
      // Every run sees the same value: what JSON makes of it, where nothing is null.
      return this.kept[key] = JSON.parse(JSON.stringify(await make()) ?? "null");
    } finally {
      // What failed may be tried again.
      this.#making.delete(key);
    }
  }

  /** The same question gets the same number in each run, as long as questions come in the same order. */
  #number(method: string): string {
    const kind = method.slice(0, method.indexOf("/"));
    const number = (this.#numbers.get(kind) ?? 0) + 1;
    this.#numbers.set(kind, number);
    return `${kind}_${number}`;
  }
}

/** What `requestState` holds, sealed. */
interface RequestState {
  /** Digest of what it is bound to: see {@linkcode RequestStates.open}. */
  readonly of: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Keys of the questions; other answers are passed over. */
  readonly asked: readonly string[];
  readonly answers: Record<string, unknown>;
  readonly kept: Record<string, Json>;
}

/** Milliseconds in which a question can be answered. */
const LIFETIME = 30 * 60_000;

/** Seals what a call learned into `requestState`, and opens it when the request comes again. */
export class RequestStates {
  readonly #sealer: Sealer;
  readonly #now: () => number;

  constructor(secret: () => Promise<Uint8Array>, now: () => number) {
    this.#sealer = createSealer(secret, "mcp_request_state");
    this.#now = now;
  }

  /**
   * What the client sent along with its request; `undefined` when it is the first time.
   * @param request what the state is bound to: principal, method, name and arguments, as one text
   * @throws {RpcError} -32602 when the state was not made for this request, or is too old
   */
  async open(
    params: Readonly<Record<string, unknown>>,
    request: () => string,
  ): Promise<Inputs | undefined> {
    const { requestState, inputResponses } = params;
    if (requestState === undefined && inputResponses === undefined) return undefined;
    const responses = readResponses(inputResponses);
    if (requestState === undefined) return new Inputs(responses);
    const text = typeof requestState === "string" ? await this.#sealer.unseal(requestState) : undefined;
    const state = text === undefined ? undefined : JSON.parse(text) as RequestState;
    if (!state || state.of !== secretDigest(request()) || state.expires < this.#now()) {
      throw new RpcError(
        INVALID_PARAMS,
        "Invalid params: requestState was not issued for this request, or has expired. Send the request without it",
      );
    }
    const inputs = new Inputs(state.answers, state.kept);
    for (const key of state.asked) if (Object.hasOwn(responses, key)) inputs.answers[key] = responses[key];
    return inputs;
  }

  /** The result that asks (2026-07-28, `InputRequiredResult`). */
  async result(inputs: Inputs, request: string): Promise<Record<string, unknown>> {
    await inputs.settled();
    const { pending, answers, kept } = inputs;
    const state: RequestState = {
      of: secretDigest(request),
      expires: this.#now() + LIFETIME,
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

/** @throws {RpcError} -32602 when they are no object of objects */
export function readResponses(value: unknown): Record<string, unknown> {
  if (value === undefined) return {};
  const fits = typeof value === "object" && value !== null && !Array.isArray(value);
  const bad = fits &&
    Object.entries(value).find(([, each]) =>
      typeof each !== "object" || each === null || Array.isArray(each)
    );
  if (fits && !bad) return value as Record<string, unknown>;
  throw new RpcError(
    INVALID_PARAMS,
    `Invalid params: ${bad ? `inputResponses.${bad[0].slice(0, 100)}` : "inputResponses"} must be an object`,
  );
}
