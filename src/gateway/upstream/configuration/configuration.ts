/**
 * The configuration of upstreams: `mcpServers`, in the shape that MCP clients read, with the options of the gateway
 * beside it. `parse_configuration.ts` checks it.
 *
 * @module
 */
import { secretDigest } from "../../../crypto/secret.ts";
import type { UpstreamAuth } from "../../credentials/upstream_auth.ts";

/** A server that is started as a child process and speaks over its standard input and output. */
export interface ProcessConfiguration {
  readonly type?: "stdio";
  readonly command: string;
  readonly args?: readonly string[];
  /** Environment variables, added to the few that every process needs. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server at a URL. */
export interface UrlConfiguration {
  /** @default "http", and HTTP+SSE where the server knows only that */
  readonly type?: "http" | "streamable-http" | "streamableHttp" | "sse";
  readonly url: string;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the gateway does with an upstream. */
export interface UpstreamOptions {
  /**
   * The beginning of the names that clients see, before `_`. With "" the upstream keeps its names and URIs; of several such
   * upstreams only the first by name does, and the others have the default.
   * @default the name of the upstream
   */
  readonly prefix?: string;
  /** Names of its tools with `*` and `?`. A list stands for `allow`. @default all */
  readonly tools?: readonly string[] | {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** The protocol revision to ask the server for, such as "2025-11-25". @default the newest that both support */
  readonly revision?: string;
  /** Seconds without any message after which a call has failed. @default 30 */
  readonly timeout?: number;
  /** Calls at a time; further ones wait. @default 32 */
  readonly maxConcurrent?: number;
  /** Scopes that callers need. @default none */
  readonly scopes?: readonly string[];
  /** `true`: one session for all callers. `false`: one for each user. @default as `auth` requires, else `true` */
  readonly shared?: boolean;
  /** How requests of callers are authorized. @default the same for all, by `headers` */
  readonly auth?: UpstreamAuth;
  /** Leaves it out. */
  readonly disabled?: boolean;
}

/** A member of `mcpServers`. */
export type McpServer = (ProcessConfiguration | UrlConfiguration) & UpstreamOptions;

/** The option `mcpServers`: upstreams by name. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** An upstream's configuration, checked and complete. */
export interface UpstreamConfiguration {
  readonly name: string;
  readonly target:
    | {
      readonly type: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | undefined;
    }
    | {
      /** `auto`: Streamable HTTP, else HTTP+SSE. */
      readonly type: "http" | "sse" | "auto";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };
  readonly prefix: string | undefined;
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly revision: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  readonly maxConcurrent: number;
  readonly scopes: readonly string[];
  readonly shared: boolean | undefined;
  readonly auth: unknown;
}

/** Of the URL, or of the command: not of environment and headers, whose secrets change with the same server. */
export function digestServer({ target }: UpstreamConfiguration): string {
  return secretDigest(
    JSON.stringify(target.type === "stdio" ? [target.command, target.args, target.cwd] : target.url),
  );
}

/** Invalid configuration. Each problem names its place: `mcpServers.github.url: must be a URL`. */
export class ConfigurationError extends TypeError {
  override readonly name = "ConfigurationError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid configuration of upstreams:\n${problems.map((each) => `  ${each}`).join("\n")}`);
    this.problems = problems;
  }
}
