/**
 * An operation of administration, declared once: the HTTP API, its OpenAPI description and the command line are made from
 * the declarations.
 *
 * @module
 */
import type { Observe } from "../events.ts";
import type { Gateway } from "../gateway/option.ts";
import type { Client } from "../oauth/records/client_record.ts";
import type { UserRole } from "../oauth/records/user_record.ts";
import type { ProviderAccess } from "../oauth/sign_in/provider_tokens.ts";
import type { BlobStore } from "../skills/blobs/blob_store.ts";
import type { Store } from "../store/store.ts";

/** A JSON Schema of an object, or a part of it. */
export type Schema = Readonly<Record<string, unknown>>;

/** The actor of operations that a command runs on a store. */
export const COMMAND_LINE = "command line";

/** A tool in an answer. */
export interface AdminTool {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly scopes: readonly string[];
  /** Of this instance, since it started. */
  readonly calls: number;
  readonly failed_calls: number;
}

/** What an operation works with. */
export interface AdminContext {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
  /** Who acts: the id of a user, a client or an API key, or {@linkcode COMMAND_LINE}. */
  readonly actor: string;
  /** The address of the server, for links and redirect URIs. */
  readonly issuer: string;
  /** The identity providers of the server, how it reaches them, and the secret that seals theirs. */
  readonly providers: ProviderAccess;
  /** The role of users who have none of their own. @default "reader" */
  readonly defaultRole?: UserRole | undefined;
  /** Clients that are not in the store, by id. @default none */
  readonly configuredClients?: ReadonlyMap<string, Client> | undefined;
  /** Private-use schemes without a dot that redirect URIs may have. @default none */
  readonly redirectSchemes?: readonly string[] | undefined;
  /** Seconds for which a signed token can be valid. @default 7200 */
  readonly maxTokenLifetime?: number | undefined;
  /** Of PBKDF2, for new passwords. @default 600000 */
  readonly passwordIterations?: number | undefined;
  /** Where files of skills are. @default in the store */
  readonly blobs?: BlobStore | undefined;
  /** The tools of the MCP server; absent where it does not run. */
  readonly tools?: (() => readonly AdminTool[]) | undefined;
  /** The gateway; absent where none runs. */
  readonly gateway?: Pick<Gateway, "status" | "stored"> | undefined;
  /** The scopes of the server: no API key and no provider names another. @default any */
  readonly scopes?: readonly string[] | undefined;
}

/** The methods of operations. */
export type AdminMethod = "GET" | "POST" | "PATCH" | "DELETE";

/**
 * An operation. Its input has the parameters of its path, and those of the query (GET, DELETE) or the members of the body
 * (POST, PATCH).
 */
export interface AdminOperation<Input extends object = object, Output = unknown> {
  /** Also the `operationId` of OpenAPI. */
  readonly name: string;
  readonly method: AdminMethod;
  /** Below `/admin`, with `:name` segments. */
  readonly path: string;
  /** One line, for people. */
  readonly summary: string;
  /** The schema of an object. */
  readonly input: Schema;
  /** `undefined` where there is no answer (204). */
  readonly output: Schema | undefined;
  /** Whether the answer has a secret, which appears only once. */
  readonly isSecret?: true;
  /** The id of what the operation changed, for the event; `undefined` for an operation that only reads. */
  subject?(input: Input, output: Output): string;
  /** @throws {AdminError} for input that cannot be used */
  run(context: AdminContext, input: Input): Promise<Output>;
}

const STATUS = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 503,
} as const;

/** The types of errors, as in the Skills API. */
export type AdminErrorType = keyof typeof STATUS;

/** A refusal: programs rely on its type and status; its message says what to do. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly type: AdminErrorType;
  readonly status: number;

  /** @param options.status @default that of the type */
  constructor(type: AdminErrorType, message: string, options?: ErrorOptions & { readonly status?: number }) {
    super(message, options);
    this.type = type;
    this.status = options?.status ?? STATUS[type];
  }
}

/** A 404 for a noun such as `User`, by the id or name in the request. */
export function notFound(noun: string, id: string): AdminError {
  return new AdminError("not_found_error", `${noun} not found: ${JSON.stringify(id.slice(0, 100))}`);
}

/** @throws {AdminError} 400 for a scope that the server does not have */
export function checkScopes(
  { scopes: known }: AdminContext,
  scopes: readonly string[] | undefined,
): void {
  const unknown = known && scopes?.find((each) => !known.includes(each));
  if (unknown === undefined) return;
  throw new AdminError(
    "invalid_request_error",
    `scopes: unknown scope ${JSON.stringify(unknown)}; this server has ${known!.join(", ")}`,
  );
}

/**
 * The result of a call that throws a `TypeError` or `RangeError` for input that it refuses.
 * @throws {AdminError} 400
 */
export async function refuseInvalid<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new AdminError("invalid_request_error", error.message, { cause: error });
  }
}

/** ISO 8601 in UTC. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** ISO 8601 in UTC, or `null` for a time that is not known. */
export function toIsoOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : toIso(ms);
}
