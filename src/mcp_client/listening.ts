/**
 * Keeps the stream open on which a server sends what belongs to no request: GET of Streamable HTTP up to 2025-11-25, and
 * `subscriptions/listen` of 2026-07-28.
 *
 * @module
 */
import type { ConnectionInfo } from "./client.ts";
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from "../jsonrpc/error.ts";
import { ConnectionError, McpError } from "./error.ts";
import type { JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";
import { isPassing, repeat, type Repeating } from "./repeat.ts";
import { MODERN } from "./revision.ts";
import { timerDelay } from "../timer.ts";
import { SessionLost, type StreamEnd } from "./transport.ts";

/** How long the first request with answers waits for the GET stream, on which some servers ask. */
const OPENING_MS = 500;

export interface ListeningOptions extends Repeating {
  readonly info: ConnectionInfo;
  readonly caller: unknown;
  /** Whether notifications have a receiver. */
  readonly hasReceiver: boolean;
  /** Whether the client declared that it answers requests. */
  readonly answers: boolean;
  readonly onNotification: (method: string, params: JsonObject) => void;
}

/** An unknown resource, up to 2025-11-25. */
const RESOURCE_NOT_FOUND = -32002;
/** Errors of `subscriptions/listen` and of `resources/subscribe` that do not pass. */
const PERMANENT: ReadonlySet<number> = new Set([
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  INVALID_REQUEST,
  RESOURCE_NOT_FOUND,
]);
/** The list changes that a server may declare. */
const LISTS = ["tools", "prompts", "resources"] as const;

/** The stream of one session. */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #uris: Set<string>;
  #stop: AbortController | undefined;
  #opening: Promise<void> | undefined;
  /** The change of the filter that runs, and the one that waits. */
  #changing: Promise<ReadonlySet<unknown>> | undefined;
  #next: Promise<ReadonlySet<unknown>> | undefined;

  /** @param uris the resources that are subscribed to */
  constructor(options: ListeningOptions, uris: Set<string>) {
    this.#options = options;
    this.#uris = uris;
  }

  /** Settles when the stream is open, or some time has passed; `undefined` when there is nothing to wait for. */
  get opening(): Promise<void> | undefined {
    return this.#opening;
  }

  /** Opens the stream where one is needed. */
  start(): void {
    const { wire, info, hasReceiver, answers } = this.#options;
    if (info.revision === MODERN) {
      if (Object.keys(this.#filter()).length > 0) this.#replace().catch(() => {});
    } else if (wire.channel.listen && (answers || hasReceiver && isNeeded(info.capabilities))) this.#get();
  }

  stop(): void {
    this.#stop?.abort(new Error("stopped"));
    this.#stop = undefined;
  }

  /**
   * Gives a new session what the lost one had, and reports what may have changed meanwhile. Resolves after the first attempt;
   * what then failed for a passing reason is sent again later.
   * @param logLevel returns the parameters of `logging/setLevel`, which may change meanwhile
   */
  restore(logLevel: () => JsonObject | undefined, timeout: number | undefined): Promise<void> {
    const { wire, caller } = this.#options;
    const { signal } = this.#stop ??= new AbortController();
    const pending = new Set<string | undefined>(this.#uris);
    if (logLevel()) pending.add(undefined);
    this.#announceLists();
    return new Promise((resolve) => {
      const send = async (): Promise<StreamEnd> => {
        let failure: unknown;
        for (const uri of pending) {
          if (signal.aborted) break;
          if (uri !== undefined && !this.#uris.has(uri)) continue;
          try {
            const exchange = { caller, timeout };
            if (uri === undefined) await wire.send("logging/setLevel", logLevel()!, exchange);
            else await wire.send("resources/subscribe", { uri }, exchange);
          } catch (error) {
            const isRefused = error instanceof McpError && PERMANENT.has(error.code);
            if (!isRefused) failure = error;
            if (!(error instanceof McpError)) break;
            if (!isRefused) continue;
          }
          pending.delete(uri);
          // Also after a refusal, as below: who reads the resource learns why.
          if (uri !== undefined) this.#announce(uri);
        }
        resolve();
        // The next request, or the GET stream, begins another session, which is given all this.
        if (failure === undefined || failure instanceof SessionLost) return "unsupported";
        if (!isPassing(failure)) {
          for (const uri of pending) if (uri !== undefined) this.#announce(uri);
        }
        throw failure;
      };
      repeat(this.#options, signal, send).finally(resolve);
    });
  }

  /** Adds a resource (2026-07-28). @throws {ConnectionError} unsupported, if the server does not accept it */
  async subscribe(uri: string): Promise<void> {
    this.#uris.add(uri);
    let failure: unknown;
    try {
      if ((await this.#update()).has(uri)) return;
      const what = `does not offer updates of ${uri.slice(0, 200)}`;
      failure = new ConnectionError("unsupported", this.#options.wire.server, what);
    } catch (error) {
      failure = error;
    }
    this.#uris.delete(uri);
    throw failure;
  }

  async unsubscribe(uri: string): Promise<void> {
    if (this.#uris.delete(uri)) await this.#update();
  }

  /** Listens for the current set of resources. Concurrent changes become one. Resolves to those that were accepted. */
  async #update(): Promise<ReadonlySet<unknown>> {
    if (!this.#changing) {
      this.#changing = this.#replace().finally(() => this.#changing = undefined);
      return await this.#changing;
    }
    this.#next ??= this.#changing.catch(() => {}).then(() => {
      this.#next = undefined;
      this.#changing = this.#replace().finally(() => this.#changing = undefined);
      return this.#changing;
    });
    return await this.#next;
  }

  /** Reports what may have changed while no stream was open. */
  #announceLists(): void {
    const { info: { capabilities }, onNotification } = this.#options;
    for (const list of LISTS) {
      if (hasListChanges(capabilities[list])) onNotification(`notifications/${list}/list_changed`, {});
    }
  }

  #announceAll(): void {
    this.#announceLists();
    for (const uri of this.#uris) this.#announce(uri);
  }

  #announce(uri: string): void {
    this.#options.onNotification("notifications/resources/updated", { uri });
  }

  #filter(): JsonObject {
    const { info: { capabilities }, hasReceiver } = this.#options;
    const filter: JsonObject = {};
    for (const list of hasReceiver ? LISTS : []) {
      if (hasListChanges(capabilities[list])) filter[`${list}ListChanged`] = true;
    }
    if (this.#uris.size > 0) filter.resourceSubscriptions = [...this.#uris];
    return filter;
  }

  /**
   * Opens a stream for the current filter, then ends the one before. When the first attempt fails, the one before stays,
   * if there is one; else it is tried again later.
   */
  async #replace(): Promise<ReadonlySet<unknown>> {
    const before = this.#stop;
    const stop = this.#stop = new AbortController();
    let accepted: ReadonlySet<unknown> = new Set();
    if (Object.keys(this.#filter()).length > 0) {
      try {
        accepted = await new Promise((resolve, reject) => {
          repeat(
            this.#options,
            stop.signal,
            (isAgain) => this.#listen(stop.signal, isAgain, resolve, reject),
          ).finally(() => resolve(accepted));
        });
      } catch (error) {
        if (before && this.#stop === stop) {
          stop.abort(error);
          this.#stop = before;
        }
        throw error;
      }
    }
    before?.abort(new Error("replaced"));
    return accepted;
  }

  /** Listens once. A server that does not acknowledge the subscription in time has failed. */
  async #listen(
    signal: AbortSignal,
    isAgain: boolean,
    onOpen: (accepted: ReadonlySet<unknown>) => void,
    onFailed: (error: unknown) => void,
  ): Promise<StreamEnd> {
    const { wire, caller } = this.#options;
    // A resource whose subscription failed is not in it any more.
    const filter = this.#filter();
    if (Object.keys(filter).length === 0) return "unsupported";
    const { timeout } = wire.limits;
    const what = "a subscription without acknowledging it";
    const attempt = new AbortController();
    const onStop = (): void => attempt.abort(signal.reason);
    signal.addEventListener("abort", onStop);
    const timer = setTimeout(
      () => attempt.abort(new ConnectionError("timeout", wire.server, `held ${what} for ${timeout} ms`)),
      timerDelay(timeout),
    );
    let subscription: number | undefined;
    const onId = (id: number): void => {
      subscription = id;
      wire.acknowledged.set(id, ({ notifications }) => {
        clearTimeout(timer);
        const accepted = isObject(notifications) ? notifications.resourceSubscriptions : undefined;
        const uris = new Set(Array.isArray(accepted) ? accepted : []);
        onOpen(uris);
        // Also of resources that are no longer accepted: who reads one learns why.
        if (isAgain) this.#announceAll();
      });
    };
    try {
      const exchange = { timeout: Infinity, caller, signal: attempt.signal };
      await wire.send("subscriptions/listen", { notifications: filter }, exchange, { onId });
      onFailed(new ConnectionError("malformed", wire.server, `ended ${what}`));
      return { retry: undefined };
    } catch (error) {
      onFailed(error);
      if (error instanceof McpError && PERMANENT.has(error.code)) return "unsupported";
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onStop);
      wire.acknowledged.delete(subscription!);
    }
  }

  #get(): void {
    const { wire, info, caller } = this.#options;
    const stop = this.#stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onOpen = (): void => {};
    this.#opening = new Promise<void>((resolve) => {
      onOpen = () => {
        clearTimeout(timer);
        this.#opening = undefined;
        resolve();
      };
      timer = setTimeout(onOpen, OPENING_MS);
    });
    stop.signal.addEventListener("abort", onOpen, { once: true });
    repeat(
      this.#options,
      stop.signal,
      (isAgain) =>
        wire.channel.listen!(info.revision, caller, stop.signal, (isNew) => {
          onOpen();
          if (isAgain && isNew) this.#announceAll();
        }),
    ).finally(onOpen);
  }
}

function hasListChanges(declared: unknown): boolean {
  return isObject(declared) && declared.listChanged === true;
}

/** Whether a server of an older revision announces anything. */
function isNeeded(capabilities: JsonObject): boolean {
  const { logging, ...others } = capabilities;
  return logging !== undefined ||
    Object.values(others).some((each) =>
      isObject(each) && (each.listChanged === true || each.subscribe === true)
    );
}
