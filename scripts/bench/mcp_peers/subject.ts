/**
 * The compared servers. Each has a file in this folder, which exports handlers for a number of tools, a function that
 * listens on Node, and a function that serves standard input and output.
 *
 * @module
 */

export type Handler = (request: Request) => Promise<Response>;

/** The protocol of clients: revision 2025-11-25 without and in a session, or revision 2026-07-28. */
export type Variant = "stateless" | "session" | "modern";

/** The handlers of a server; a missing variant is not supported. Several may be the same. */
export type Handlers = { readonly [Name in Variant]?: Handler };

export interface Server {
  /** Creates handlers with so many tools at `<origin>/mcp`. */
  readonly handlers: (tools: number, origin: string) => Handlers | Promise<Handlers>;
  /** Listens on a free loopback port; resolves to the port. The handler is created when the port is known. */
  readonly listen: (handler: (origin: string) => Promise<Handler>) => Promise<number>;
  /**
   * Listens with so many tools and the package's own listener, instead of `listen`; `undefined` if the variant is not
   * supported.
   */
  readonly listenItself?: (variant: Variant, tools: number) => Promise<number | undefined>;
  /** Serves so many tools over this process's standard input and output. */
  readonly serveStdio?: (tools: number) => void | Promise<void>;
}

/** A compared server. */
export interface Subject {
  readonly name: string;
  readonly file: string;
  /** The arguments of Node that start it over stdio, instead of those for its file. */
  readonly command?: readonly string[];
  /** More variables of its environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The argument of the file's `server`. */
  readonly option?: string;
  /** The `Accept` of its clients. @default both types, as the transport requires */
  readonly accept?: string;
  /** The latest revision of the handshake that it supports. @default 2025-11-25 */
  readonly latest?: string;
  /** Only the status of a floor is checked. */
  readonly isFloor?: true;
  /** The part in which it is compared. @default all parts */
  readonly only?: "in process";
}

export const FLOOR: Subject = { name: "floor", file: "floor.ts", isFloor: true };
export const TRIVET: Subject = { name: "Trivet", file: "trivet.ts", option: "zod" };
const LITE = { file: "mcp_lite.ts", latest: "2025-06-18" };

/** In the order of rows. */
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
  { name: "mcp-lite 0.10, JSON responses", ...LITE, accept: "application/json" },
  { name: "tmcp 1.20", file: "tmcp.ts" },
  { name: "fastmcp 4.20", file: "fastmcp.ts" },
];

/**
 * Resolves a package of `scripts/bench/package.json`. It is imported by URL and without types, because most checkouts do
 * not have it.
 * @throws {Error} if it is not installed
 */
export function packageUrl(name: string): string {
  try {
    return import.meta.resolve(name);
  } catch (cause) {
    throw new Error(`${name} is not installed. Run: npm ci --prefix scripts/bench`, { cause });
  }
}
