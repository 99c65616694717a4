/**
 * The clients of the target, for faults that take one for another.
 *
 * @module
 */
import { readFileSync } from "node:fs";

export interface Known {
  readonly id: string;
  readonly secret?: string;
  readonly redirect_uri?: string;
  readonly second_redirect_uri?: string;
}

export const CLIENTS: readonly Known[] = Object.values(
  JSON.parse(readFileSync(new URL("../targets/trivet.json", import.meta.url), "utf8")).vars.clients,
);

export const clientOf = (id: string | null): Known | undefined => CLIENTS.find((client) => client.id === id);

export const basic = ({ id, secret = "" }: Known): string =>
  `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`;

/** Name and password of HTTP Basic; `undefined` for anything else. */
export function readBasic(field: string | null): { id: string; secret: string } | undefined {
  const encoded = /^basic ([a-z0-9+/=]+)$/i.exec(field ?? "")?.[1];
  if (encoded === undefined) return undefined;
  try {
    const [id = "", ...rest] = atob(encoded).split(":");
    return { id: decodeURIComponent(id), secret: decodeURIComponent(rest.join(":")) };
  } catch {
    return undefined;
  }
}
