/**
 * The options of `trivet serve` that say who else may call, and what else tokens are for.
 *
 * @module
 */
import type { ProtectedResource } from "../../../oauth/authorization_server.ts";
import { isHost } from "../../server.ts";
import { listOption, UsageError, type Values } from "../output.ts";

export const CALLERS_HELP: string =
  `  --resource URI      something else that tokens can be for, such as the MCP server of somebody else that sends its
                      clients here; may come several times
  --allow-origin URL  an origin whose pages may call /mcp, and on loopback every service; * allows all; may come
                      several times (default: the issuer's own, and on loopback every name of this machine)
  --allow-host HOST   a value of Host that may be called, with its port; * allows all; may come several times
                      (default: the issuer's own, and on loopback every name of this machine)`;

export const CALLERS_OPTION = {
  resource: { type: "string", multiple: true },
  "allow-origin": { type: "string", multiple: true },
  "allow-host": { type: "string", multiple: true },
} as const;

export interface Callers {
  readonly resources: readonly ProtectedResource[];
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
}

/** @throws {UsageError} naming the value that is none */
export function readCallers(values: Values): Callers {
  const read = (name: string, rule: string, isGood: (text: string) => boolean): readonly string[] =>
    (listOption(values, name) ?? []).map((text) => {
      if (isGood(text)) return text;
      throw new UsageError(`--${name} must be ${rule}, but is "${text}"`);
    });
  return {
    resources: read(
      "resource",
      "an absolute URI without fragment",
      (text) => URL.canParse(text) && !text.includes("#"),
    ).map((resource) => ({ resource })),
    allowedOrigins: read(
      "allow-origin",
      "an origin such as https://app.example, or *",
      (text) => text === "*" || text === "null" || URL.parse(text)?.origin === text,
    ),
    allowedHosts: read(
      "allow-host",
      "a host such as agents.example:8787, or *",
      (text) => text === "*" || isHost(text),
    )
      .map((text) => text.toLowerCase()),
  };
}
