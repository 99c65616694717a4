/**
 * A server whose responses a test sets, for the command line with hostile, slow and incompatible servers. Only tests import
 * this.
 *
 * @module
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface ApiRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

export interface TestApiServer {
  readonly url: string;
  /** The requests so far. */
  readonly seen: ApiRequest[];
  close(): Promise<void>;
}

/** The status, JSON and header fields of a response. */
export type Answer = readonly [status: number, json: unknown, headers?: Readonly<Record<string, string>>];
/** Returns a response, or writes it and returns nothing. */
export type Answering = (
  request: ApiRequest,
  response: ServerResponse,
  message: IncomingMessage,
) => Answer | void;

/** Starts a server on a free port. It reads request bodies before it sends a returned response. */
export async function startApi(
  answering: Answering,
  { secure = false }: { readonly secure?: boolean } = {},
): Promise<TestApiServer> {
  const seen: ApiRequest[] = [];
  const listener: RequestListener = (message, response) => {
    const request = { method: message.method!, path: message.url!, headers: message.headers };
    seen.push(request);
    message.on("error", () => {});
    response.on("error", () => {});
    const answer = answering(request, response, message);
    if (!answer) return;
    const [status, json, headers = {}] = answer;
    message.on("end", () => {
      response.writeHead(status, {
        "content-type": "application/json",
        "request-id": "req_test",
        ...headers,
      });
      response.end(typeof json === "string" ? json : JSON.stringify(json));
    });
    message.resume();
  };
  const server: Server = secure
    ? createSecureServer({ key: KEY, cert: CERTIFICATE }, listener)
    : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${secure ? "https" : "http"}://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An error response of the API. */
export function refusal(
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Answer {
  return [status, { type: "error", error: { type, message }, request_id: "req_body" }, headers];
}

/** A skill and its only version, as objects of the API. */
export function apiSkill(
  id: string,
  name: string,
): { skill: Record<string, unknown>; version: Record<string, unknown> } {
  const created_at = "2026-01-02T03:04:05.678Z";
  const version = `skver_of_${id}`;
  return {
    skill: {
      type: "skill",
      id,
      created_at,
      updated_at: created_at,
      display_name: `The ${name}`,
      latest_version_id: version,
      source: { type: "custom" },
    },
    version: {
      type: "skill_version",
      id: version,
      skill_id: id,
      created_at,
      name,
      description: `Does ${name}.`,
    },
  };
}

// A key for these tests alone: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes
// -days 36500 -subj /CN=localhost
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFc3Iee16x7h8Yj0W
olxOBwK6bSajM1myMZWGmoFv4ryhRANCAAStJmIkr9ULmoeynrt4pdlRfrYtHq69
L/NU+As90BYRuDx8rSm65RtH8ZVdIHqKyT97DhZLEWNo6SQ1a1cpG4xV
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUDh0UKlWvD5Q3UOtExMAaUqfT0mYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE4MTIwOVoYDzIxMjYxMDI4
MTgxMjA5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAStJmIkr9ULmoeynrt4pdlRfrYtHq69L/NU+As90BYRuDx8rSm65RtH
8ZVdIHqKyT97DhZLEWNo6SQ1a1cpG4xVo1MwUTAdBgNVHQ4EFgQUwUvhuouPsMrY
du+xKJWIv91bH5IwHwYDVR0jBBgwFoAUwUvhuouPsMrYdu+xKJWIv91bH5IwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBEmngSXRc7k+OMPa0fl4By
hjJdhDUFEQ3Hetb6HRKGVQIhAObhvhbCPxnVHKIteq35LCaxu8X7xHl03x1o3/8z
3pfF
-----END CERTIFICATE-----`;
