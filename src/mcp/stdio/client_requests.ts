/**
 * Requests of the server to the client of a connection: each waits for the response with its id.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";
import { type ClientResponse } from "../../jsonrpc/message.ts";
import { writeNotification, writeRequest } from "../../jsonrpc/server_message.ts";
import { toClientError } from "../input/server_request.ts";

/** A request that has no response yet. */
interface PendingRequest {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class ClientRequests {
  readonly #write: (text: string) => void;
  readonly #pending = new Map<string, PendingRequest>();
  #isOver = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /**
   * Sends a request. Resolves to the result.
   * @throws {RpcError} the client's error, or -32603 when it has disconnected
   */
  send(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(disconnectedBefore(method));
      const id = randomId("");
      this.#pending.set(id, { method, resolve, reject });
      const onAbort = (): void => {
        if (!this.#pending.delete(id)) return;
        reject(signal.reason);
        // The client may still be asking its user.
        if (!this.#isOver) this.#write(writeNotification("notifications/cancelled", { requestId: id }));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#write(writeRequest(id, method, params));
    });
  }

  /** Ignores a response that no request waits for. */
  deliver({ id, result, error }: ClientResponse): undefined {
    const request = this.#pending.get(id as string);
    if (!request) return undefined;
    this.#pending.delete(id as string);
    if (error === undefined) request.resolve(result);
    else request.reject(toClientError(request.method, error));
  }

  /** Rejects all: the client cannot respond any more. */
  end(): void {
    this.#isOver = true;
    for (const { method, reject } of this.#pending.values()) reject(disconnectedBefore(method));
  }
}

function disconnectedBefore(method: string): RpcError {
  return new RpcError(INTERNAL_ERROR, `The client disconnected before it answered ${method}`);
}
