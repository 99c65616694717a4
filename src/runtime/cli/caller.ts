/**
 * Who the one client of `trivet stdio` is. What it may do comes from the environment of the process, where clients keep
 * the credentials of servers that they start
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#protocol-requirements).
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Trivet } from "../../trivet.ts";
import { UsageError } from "./output.ts";

export const CALLER_HELP = `Environment:
  TRIVET_TOKEN   an access token or API key of the store: the client may do what it allows, for as long as it
                 does (default: the client is local, and may read skills)
  TRIVET_SCOPES  the scopes of a local client, separated by spaces (default: skills:read)`;

/** Milliseconds between looks at whether the token still holds. */
const LOOK_EVERY = 5000;

export interface Caller {
  readonly principal: Principal;
  /** Calls `onEnd` with the reason when the token was revoked or has expired. Gives what ends the watch. */
  watch(onEnd: (reason: string) => void): () => void;
}

/**
 * @param server what the token must be good for
 * @throws {UsageError} for variables that cannot stand
 * @throws {Error} for a token that does not hold
 */
export async function readCaller(
  trivet: Trivet,
  server: string,
  { TRIVET_TOKEN, TRIVET_SCOPES }: Readonly<Record<string, string | undefined>>,
): Promise<Caller> {
  if (TRIVET_TOKEN === undefined) {
    // Who may start the process may read what it serves.
    const scopes = TRIVET_SCOPES?.split(/\s+/).filter((scope) => scope !== "") ?? ["skills:read"];
    return {
      principal: { client: "stdio", workspace: "default", scopes: new Set(scopes) },
      watch: () => () => {},
    };
  }
  if (TRIVET_SCOPES !== undefined) {
    throw new UsageError(
      "TRIVET_SCOPES is for local clients: a token has its own scopes, so unset one of them",
    );
  }
  const token = TRIVET_TOKEN.trim();
  // An empty one is a mistake in a configuration, and must not make a local client of a stranger. What no header field
  // can hold would be quoted by the error.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError("TRIVET_TOKEN must be an access token or API key");
  const ask = async (): Promise<Principal | string> => {
    const request = new Request(server, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    const answer = await trivet.protect(request, { resource: server });
    return answer instanceof Response ? (await answer.json()).error_description : answer;
  };
  const principal = await ask();
  if (typeof principal === "string") throw new Error(`TRIVET_TOKEN does not hold: ${principal}`);
  return {
    principal,
    watch(onEnd) {
      const timer = setInterval(async () => {
        // A store that is away for a moment says nothing about the token.
        const answer = await ask().catch(() => principal);
        if (typeof answer === "string") onEnd(`TRIVET_TOKEN holds no more: ${answer}`);
      }, LOOK_EVERY);
      return () => clearInterval(timer);
    },
  };
}
