/**
 * The one client of `trivet stdio`. Its scopes come from the environment of the process, where clients keep the
 * credentials of servers that they start
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#protocol-requirements).
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Trivet } from "../../trivet.ts";
import type { Environment } from "./options.ts";
import { UsageError } from "./output.ts";

export const CALLER_HELP = `Environment:
  TRIVET_TOKEN          an access token or API key of the store: the client has its scopes, as long as
                        it is valid (default: the client is local, without a token)
  TRIVET_SCOPES         the scopes of a local client, separated by spaces (default: skills:read)`;

/** How often the token is checked again. */
const CHECK_INTERVAL_MS = 5000;

export interface Caller {
  readonly principal: Principal;
  /** Calls `onEnd` with the reason when the token was revoked or has expired. Returns the function that stops it. */
  watch(onEnd: (reason: string) => void): () => void;
}

/**
 * @param resource the resource that the token must be for
 * @throws {UsageError} for invalid variables
 * @throws {Error} for an invalid or expired token
 */
export async function readCaller(
  trivet: Trivet,
  resource: string,
  { TRIVET_TOKEN, TRIVET_SCOPES }: Environment,
): Promise<Caller> {
  if (TRIVET_TOKEN === undefined) {
    // A user who can start the process can read what it serves.
    const scopes = TRIVET_SCOPES?.split(/\s+/).filter((scope) => scope !== "") ?? ["skills:read"];
    return {
      principal: { client: "stdio", workspace: "default", scopes: new Set(scopes) },
      watch: () => () => {},
    };
  }
  if (TRIVET_SCOPES !== undefined) {
    throw new UsageError(
      "TRIVET_SCOPES and TRIVET_TOKEN exclude each other: a token has its own scopes. Unset one of them",
    );
  }
  const token = TRIVET_TOKEN.trim();
  // An empty token is a mistake in a configuration, and must not count as a local client. A text that no header field
  // can hold would be quoted in the runtime's error.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError("TRIVET_TOKEN must be an access token or API key");
  const authenticate = async (): Promise<Principal | string> => {
    const request = new Request(resource, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    const answer = await trivet.protect(request, { resource });
    return answer instanceof Response ? (await answer.json()).error_description : answer;
  };
  const principal = await authenticate();
  if (typeof principal === "string") throw new Error(`TRIVET_TOKEN is invalid or expired: ${principal}`);
  return {
    principal,
    watch(onEnd) {
      const timer = setInterval(async () => {
        // A store that is unavailable tells nothing about the token.
        const answer = await authenticate().catch(() => principal);
        if (typeof answer === "string") onEnd(`TRIVET_TOKEN is no longer valid: ${answer}`);
      }, CHECK_INTERVAL_MS);
      return () => clearInterval(timer);
    },
  };
}
