/**
 * Requests of the server to the client of a session (elicitation, sampling, roots), in the revisions with a handshake.
 * The request goes out on a stream. The client may post its response to any instance, which passes it on through the
 * store.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import type { Principal } from "../../http/principal.ts";
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";
import { type ClientResponse } from "../../jsonrpc/message.ts";
import { writeNotification, writeRequest } from "../../jsonrpc/server_message.ts";
import type { Key, Store } from "../../store/store.ts";
import { isOwner, ownerOf } from "../session/principal_key.ts";
import type { Session } from "../session/session.ts";
import { ignoreUnavailable } from "../../store/retry.ts";
import { type Wakeups, watchedKey } from "../session/wakeups.ts";

export interface ServerRequestOptions {
  readonly store: Store;
  readonly wakeups: Wakeups;
  readonly now: () => number;
}

/** How long the client, and the person who uses it, may take to respond. */
const RESPONSE_TIMEOUT_MS = 30 * 60_000;
/** How often to read the store without a wakeup. */
const POLL_INTERVAL_MS = 10_000;

/**
 * Sends a request to the client and waits for the result. `send` puts the request on a stream.
 * @throws {RpcError} when the client responds with an error, or not within 30 minutes
 * @throws the signal's reason when it aborts
 */
export async function sendServerRequest(
  { store, wakeups, now }: ServerRequestOptions,
  session: Session,
  principal: Principal | undefined,
  method: string,
  params: unknown,
  send: (json: string) => void,
  signal: AbortSignal,
): Promise<unknown> {
  const id = randomId("");
  const response = responseKey(session, id);
  const pending = pendingKey(session, id);
  let wake = (): void => {};
  const stop = wakeups.listen(response.slice(1), () => wake());
  const onAbort = (): void => wake();
  signal.addEventListener("abort", onAbort);
  const deadline = now() + RESPONSE_TIMEOUT_MS;
  try {
    await store.commit({ set: [{ key: pending, value: ownerOf(principal), expires: deadline }] });
    signal.throwIfAborted();
    send(writeRequest(id, method, params));
    for (;;) {
      const woken = new Promise<void>((resolve) => wake = resolve);
      const entry = await store.get<Pick<ClientResponse, "result" | "error">>(response).catch(
        ignoreUnavailable,
      );
      if (entry) {
        if (entry.value.error === undefined) return entry.value.result;
        throw toClientError(method, entry.value.error);
      }
      signal.throwIfAborted();
      if (now() >= deadline) {
        send(writeNotification("notifications/cancelled", { requestId: id, reason: "Timeout" }));
        throw new RpcError(INTERNAL_ERROR, `Timeout: the client did not answer ${method}`);
      }
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([
        woken,
        new Promise<void>((resolve) => timer = setTimeout(resolve, POLL_INTERVAL_MS)),
      ]);
      clearTimeout(timer);
    }
  } finally {
    stop();
    signal.removeEventListener("abort", onAbort);
    // From now on a response comes too late. A record that cannot be removed expires.
    await store.commit({ remove: [response, pending] }).catch(() => {});
  }
}

/** Passes the client's response on to the request; `false` when no such request of this caller is pending. */
export async function acceptClientResponse(
  { store, now }: ServerRequestOptions,
  session: Session,
  principal: Principal | undefined,
  { id, result, error }: ClientResponse,
): Promise<boolean> {
  if (typeof id !== "string") return false;
  // True where an earlier version wrote it.
  const pending = await store.get<string | true>(pendingKey(session, id));
  if (!pending || pending.value !== true && !isOwner(pending.value, principal)) return false;
  const value = error === undefined ? { result: result ?? null } : { error };
  return await store.commit({
    check: [{ key: pending.key, version: pending.version }],
    set: [{ key: responseKey(session, id), value, expires: now() + RESPONSE_TIMEOUT_MS }],
    remove: [pending.key],
  });
}

/** The error that a handler gets for a client's error response, whose shape is not known. */
export function toClientError(method: string, error: unknown): RpcError {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return new RpcError(
    Number.isSafeInteger(code) ? code as number : INTERNAL_ERROR,
    `The client answered ${method} with an error: ${
      typeof message === "string" ? message.slice(0, 500) : "no message"
    }`,
  );
}

function responseKey({ id }: Session, request: string): Key {
  return watchedKey("answer", id, request);
}

function pendingKey({ id }: Session, request: string): Key {
  return ["mcp_question", id, request];
}
