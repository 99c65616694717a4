/**
 * Sends a request to the API: one origin, no redirects, limits on time and bytes. Its errors name no address and no
 * credential.
 *
 * @module
 */
import { ByteBuffer } from "../http/body/byte_buffer.ts";
import type { Fetch } from "../http/network/default_fetch.ts";
import { ToolError } from "../mcp/definition/definition.ts";
import { timerDelay } from "../timer.ts";
import type { Answer } from "./answer.ts";
import type { PlannedRequest } from "./request.ts";
import type { Credentials } from "./security.ts";

export type { Fetch };

export interface SendOptions {
  readonly fetch: Fetch;
  /** Milliseconds from a request to the end of its answer. */
  readonly timeout: number;
  /** Bytes of an answer. */
  readonly downloadLimit: number;
  /** Header fields of every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The end of a call: its time is over, or the client cancelled it. */
interface Deadline {
  readonly signal: AbortSignal;
  /** Rejects at the end, also where `fetch` or a body ignores the signal. */
  readonly late: Promise<never>;
  /** Stops waiting. */
  clear(): void;
}

/** @param timeout in milliseconds */
function startDeadline(cancelled: AbortSignal, timeout: number): Deadline {
  // Not AbortSignal.any(): Deno can collect its signal before it aborts.
  const controller = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  late.catch(() => {});
  const end = (message: string) => {
    reject(new ToolError(message));
    controller.abort();
  };
  const onCancelled = () => end("The call was cancelled");
  const timer = setTimeout(() => end(`The API did not answer within ${timeout} ms`), timerDelay(timeout));
  if (cancelled.aborted) onCancelled();
  cancelled.addEventListener("abort", onCancelled);
  return {
    signal: controller.signal,
    late,
    clear() {
      clearTimeout(timer);
      cancelled.removeEventListener("abort", onCancelled);
    },
  };
}

/** Sends a request and reads the answer. @throws {ToolError} when there is none within the limits, or with a redirect */
export async function fetchAnswer(
  request: PlannedRequest,
  credentials: Credentials,
  cancelled: AbortSignal,
  options: SendOptions,
): Promise<Answer> {
  const deadline = startDeadline(cancelled, options.timeout);
  try {
    return await readAnswer(await send(request, credentials, deadline, options), deadline, options);
  } finally {
    deadline.clear();
  }
}

async function send(
  request: PlannedRequest,
  credentials: Credentials,
  { signal, late }: Deadline,
  { fetch, headers }: SendOptions,
): Promise<Response> {
  const { method, body } = request;
  const url = new URL(request.url);
  for (const pair of credentials.query) url.search += `${url.search === "" ? "?" : "&"}${pair}`;
  let fields: Headers;
  try {
    fields = combineFields(headers, request, credentials);
  } catch {
    // The error of the runtime contains the value.
    throw new ToolError(
      "The header fields for the API are invalid: its operator or user can set other credentials",
    );
  }
  try {
    const opened = fetch(url.href, {
      method,
      headers: fields,
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal,
    });
    opened.then((response) => signal.aborted && discard(response), () => {});
    const response = await Promise.race([opened, late]);
    if (response.type === "opaqueredirect" || response.status >= 300 && response.status < 400) {
      discard(response);
      if (response.status === 304) return new Response(null, { status: 304 });
      throw new ToolError(
        `The API answered with a redirect (status ${response.status}), which is not followed: its operator can set another server`,
      );
    }
    return response;
  } catch (cause) {
    throw cause instanceof ToolError ? cause : new ToolError("The API could not be reached", { cause });
  }
}

/** A field of the user's credentials replaces one that every request has, and so does one that an argument sets. */
function combineFields(
  fixed: Readonly<Record<string, string>>,
  request: PlannedRequest,
  credentials: Credentials,
): Headers {
  const fields = new Headers(fixed);
  const { accept, ...others } = request.headers;
  if (accept !== undefined && !fields.has("accept")) fields.set("accept", accept);
  for (const [name, value] of Object.entries(others)) fields.set(name, value);
  const cookies = [...request.cookies, ...credentials.cookies];
  const own = fields.get("cookie");
  if (cookies.length > 0) fields.set("cookie", [...(own === null ? [] : [own]), ...cookies].join("; "));
  for (const [name, value] of Object.entries(credentials.headers)) fields.set(name, value);
  return fields;
}

async function readAnswer(
  response: Response,
  { late }: Deadline,
  { downloadLimit }: SendOptions,
): Promise<Answer> {
  const { status, headers } = response;
  const tooLarge = new ToolError(
    `The answer of the API (status ${status}) has more than ${downloadLimit} bytes: ask for less`,
  );
  const reader = response.body?.getReader();
  const bytes = new ByteBuffer();
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader?.read() ?? { done: true, value: undefined }, late]);
      if (done) break;
      if (bytes.length + value!.length > downloadLimit) throw tooLarge;
      bytes.append(value!);
    }
  } catch (cause) {
    reader?.cancel().catch(() => {});
    throw cause instanceof ToolError
      ? cause
      : new ToolError(`The answer of the API (status ${status}) ended early`, { cause });
  }
  return { status, headers, bytes: bytes.take(), mimeType: headers.get("content-type") ?? "" };
}

/** Cancels the body without waiting. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}
