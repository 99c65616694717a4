/**
 * The clients and scopes that the target registers, for faults that confuse them.
 *
 * @module
 */
import { readFileSync } from "node:fs";

export interface RegisteredClient {
  readonly id: string;
  readonly secret?: string;
  readonly redirect_uri?: string;
  readonly second_redirect_uri?: string;
}

/** The variables of a target that say what is registered. */
interface RegisteredVariables {
  readonly clients?: Readonly<Record<string, unknown>>;
  readonly scope?: unknown;
  readonly scopes?: Readonly<Record<string, unknown>>;
}

/** The clients of Trivet as a target, or of the server behind the faults. */
export let CLIENTS: readonly RegisteredClient[];
/** The scopes that the server knows, of which no client may have `BEYOND`. */
export let SCOPES: ReadonlySet<string>;
export let BEYOND: string | undefined;

replaceRegistered(
  JSON.parse(readFileSync(new URL("../targets/trivet.json", import.meta.url), "utf8")).vars,
);

/** Replaces clients and scopes by those of another server. */
export function replaceRegistered({ clients = {}, scope, scopes = {} }: RegisteredVariables): void {
  CLIENTS = Object.values(clients).filter((each): each is RegisteredClient =>
    typeof (each as Partial<RegisteredClient> | null)?.id === "string"
  );
  const { one, two, beyond } = scopes;
  SCOPES = new Set(
    [scope, one, two, beyond].flatMap((each) => typeof each === "string" ? each.split(" ") : []),
  );
  BEYOND = typeof beyond === "string" ? beyond : undefined;
}

export const findClient = (id: string | null): RegisteredClient | undefined =>
  CLIENTS.find((client) => client.id === id);

export const toBasic = ({ id, secret = "" }: RegisteredClient): string =>
  `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`;

/** Parses user and password of HTTP Basic; `undefined` for anything else. */
export function parseBasic(field: string | null): { id: string; secret: string } | undefined {
  const encoded = /^basic ([a-z0-9+/=]+)$/i.exec(field ?? "")?.[1];
  if (encoded === undefined) return undefined;
  try {
    const [id = "", ...rest] = atob(encoded).split(":");
    const decode = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
    return { id: decode(id), secret: decode(rest.join(":")) };
  } catch {
    return undefined;
  }
}
