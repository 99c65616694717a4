/**
 * The model endpoint: any server with the Messages API. Its response is streamed through. The call is aborted when the
 * client disconnects or a timeout passes.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import { mediaType } from "../../http/body/media_type.ts";
import { SkillError } from "../error.ts";
import { completeUpstream, type Upstream } from "./upstream_options.ts";
import { ENDED_EARLY, invalidResponse, type ModelAnswer } from "./model_events.ts";
import { refusalOf } from "./upstream_refusal.ts";

/** A call of the model. */
export interface Question {
  /** JSON, as the Messages API has it. */
  readonly body: string;
  readonly stream: boolean;
  /** `anthropic-version` and `anthropic-beta`. */
  readonly version: string;
  readonly betas: readonly string[];
  /** Aborts when the caller no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** Calls the model. @throws {SkillError} when the endpoint fails or refuses the request */
export type AskModel = (question: Question) => Promise<ModelAnswer>;

/** Creates the function that calls a model endpoint. @throws {TypeError | RangeError} for an invalid URL or limit */
export function askUpstream(upstream: Upstream, observe: Observe): AskModel {
  const { url, connectLimit, answerLimit, idleLimit, sizeLimit } = completeUpstream(upstream);
  const send = upstream.fetch ?? ((url, init) => fetch(url, init));
  const secrets = [upstream.key, ...Object.values(upstream.headers ?? {})];
  const onFault = (error: unknown): void => observe({ type: "fault", where: "messages", error });

  return async ({ body, stream, version, betas, signal }) => {
    const headers = new Headers({
      "content-type": "application/json",
      accept: stream ? "text/event-stream" : "application/json",
      "anthropic-version": version,
    });
    if (betas.length > 0) headers.set("anthropic-beta", betas.join(","));
    if (upstream.key !== undefined) headers.set("x-api-key", upstream.key);
    for (const [name, value] of Object.entries(upstream.headers ?? {})) headers.set(name, value);

    const timeout = new UpstreamTimeout(signal);
    try {
      // Never follow redirects: the target would get the key.
      const sent = send(url, { method: "POST", headers, body, redirect: "manual", signal: timeout.signal });
      const response = await timeout.wait(
        sent,
        stream ? connectLimit : answerLimit,
        "did not start its response within",
      );
      if (!response.ok) {
        throw await timeout.wait(refusalOf(response, secrets, onFault), idleLimit, "sent no data for");
      }
      const type = answerType(response);
      if (!type || !response.body) throw invalidResponse();
      return { type, chunks: read(response.body, timeout, idleLimit) };
    } catch (error) {
      timeout.end();
      throw toRefusal(error, "The model endpoint cannot be reached", onFault);
    }
  };

  async function* read(
    body: ReadableStream<Uint8Array>,
    timeout: UpstreamTimeout,
    limit: number,
  ): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    let left = sizeLimit;
    try {
      for (;;) {
        const { done, value } = await timeout.wait(reader.read(), limit, "sent no data for");
        if (done) return;
        left -= value.length;
        if (left < 0) throw new Error(`The response of the model endpoint has more than ${sizeLimit} bytes`);
        yield value;
      }
    } catch (error) {
      throw toRefusal(error, ENDED_EARLY, onFault);
    } finally {
      timeout.end();
      reader.cancel().catch(() => {});
    }
  }
}

function answerType(response: Response): ModelAnswer["type"] | undefined {
  const type = mediaType(response.headers.get("content-type"));
  return type === "text/event-stream" || type === "application/json" ? type : undefined;
}

function toRefusal(error: unknown, message: string, onFault: (error: unknown) => void): SkillError {
  if (error instanceof SkillError) return error;
  onFault(error);
  return new SkillError("api_error", message, { status: 502, cause: error });
}

/** Applies timeouts to an endpoint, and aborts the call when the client disconnects. */
class UpstreamTimeout {
  readonly #caller: AbortSignal;
  readonly #controller = new AbortController();
  readonly #abort = (): void => this.#controller.abort();

  constructor(caller: AbortSignal) {
    this.#caller = caller;
    if (caller.aborted) this.#abort();
    else caller.addEventListener("abort", this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param what the endpoint did, for the error after `limit` milliseconds */
  async wait<Value>(work: Promise<Value>, limit: number, what: string): Promise<Value> {
    const { signal } = this;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stop: (() => void) | undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(clientDisconnected());
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop);
      timer = setTimeout(() => reject(timedOut(what, limit)), limit);
    });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop!);
      // Its rejection after the race is ignored.
      work.catch(() => {});
      stopped.catch(() => {});
    }
  }

  /** Removes the listener and aborts the request to the endpoint. */
  end(): void {
    this.#caller.removeEventListener("abort", this.#abort);
    this.#abort();
  }
}

function timedOut(what: string, limit: number): SkillError {
  return new SkillError("timeout_error", `The model endpoint ${what} ${limit / 1000} seconds`);
}

/** For logs only: the client has disconnected. */
function clientDisconnected(): SkillError {
  return new SkillError("api_error", "The client closed the request", { status: 499 });
}
