/**
 * What each compared server is, to the parts that measure: handlers made with a number of tools, a way to listen on
 * Node, and a way to serve standard input and output. One file beside this one for each server.
 *
 * @module
 */

export type Handler = (request: Request) => Promise<Response>;

/** How clients speak: revision 2025-11-25 without and in a session, or revision 2026-07-28. */
export type Variant = "stateless" | "session" | "modern";

/** The handlers of a server; a variant that is missing is not offered. Several may be the same. */
export type Handlers = { readonly [Name in Variant]?: Handler };

export interface Server {
  /** Handlers that offer so many tools at `<origin>/mcp`. */
  readonly handlers: (tools: number, origin: string) => Handlers | Promise<Handlers>;
  /** Listens on a free port of loopback, and gives it. The handler is made once the port is known. */
  readonly listen: (handler: (origin: string) => Promise<Handler>) => Promise<number>;
  /** Serves so many tools over this process's standard input and output. */
  readonly serveStdio?: (tools: number) => void | Promise<void>;
}

/** A server by the name that the tables give it. */
export interface Subject {
  readonly name: string;
  readonly file: string;
  /** What the file's `server` is told. */
  readonly option?: string;
  /** What its clients send as `Accept`. @default both types, as the transport asks of clients */
  readonly accept?: string;
  /** The newest revision of the handshake that it knows, where that is not 2025-11-25. */
  readonly newest?: string;
  /** A floor answers anything: only its status is looked at. */
  readonly isFloor?: true;
  /** Where it is compared. @default everywhere */
  readonly only?: "in process";
}

export const FLOOR: Subject = { name: "floor", file: "floor.ts", isFloor: true };
export const TRIVET: Subject = { name: "Trivet", file: "trivet.ts", option: "zod" };
const LITE = { file: "mcp_lite.ts", newest: "2025-06-18" };

/** In the order of the tables. */
export const SUBJECTS: readonly Subject[] = [
  FLOOR,
  { name: "a bare switch", file: "floor.ts", option: "switch", only: "in process" },
  TRIVET,
  { name: "Trivet, JSON Schema", file: "trivet.ts", option: "json_schema", only: "in process" },
  { name: "sdk 1.32", file: "sdk_v1.ts" },
  { name: "server 2.4", file: "sdk_v2.ts", option: "zod" },
  { name: "server 2.4, JSON Schema", file: "sdk_v2.ts", option: "json_schema", only: "in process" },
  { name: "server 2.4, schemas in factory", file: "sdk_v2.ts", option: "in_factory", only: "in process" },
  { name: "mcp-lite 0.10", ...LITE },
  { name: "mcp-lite 0.10, asked for JSON", ...LITE, accept: "application/json" },
  { name: "tmcp 1.20", file: "tmcp.ts" },
];

/**
 * Where a package of `scripts/bench/package.json` is. Only some checkouts have them: hence imported by address, without
 * types.
 * @throws {Error} saying how to install it
 */
export function packageUrl(name: string): string {
  try {
    return import.meta.resolve(name);
  } catch (cause) {
    throw new Error(`Cannot find ${name}: run "npm install --prefix scripts/bench" first`, { cause });
  }
}
