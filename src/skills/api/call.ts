/**
 * A request to the Skills service as an endpoint receives it, and what all endpoints work with.
 *
 * @module
 */
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import type { Observe } from "../../events.ts";
import type { Principal } from "../../http/principal.ts";
import type { RequestContext } from "../../http/service.ts";
import type { Store } from "../../store/store.ts";
import type { Ledger } from "../blobs/blob_ledger.ts";
import type { Dialect } from "./dialect.ts";
import type { Directory } from "../local/directory.ts";
import type { MarkdownRules } from "../package/rules.ts";
import type { ReadUpload, Uploader } from "./upload.ts";

export interface Call {
  readonly request: Request;
  readonly context: RequestContext;
  readonly principal: Principal;
  /** Call it after the body was read, before a change. @throws {SkillError} when the token or key is no longer valid */
  readonly checkStillValid: () => Promise<void>;
  readonly dialect: Dialect;
  /** The skill id of the path; empty when it has none. */
  readonly id: string;
  /** The version of the path, by any of its names; empty when it has none. */
  readonly version: string;
}

/** A key for limits per caller: the user, the client or API key, or without authentication the address. */
export function callerOf(
  { principal: { subject, client }, context: { ip, isBodyBuffered } }: Pick<Call, "principal" | "context">,
): Uploader {
  if (subject !== undefined) return { id: `user ${subject}`, isBodyBuffered };
  return { id: client === undefined ? `address ${ip ?? ""}` : `client ${client}`, isBodyBuffered };
}

/** Who makes the call, for an event. */
export function nameCaller({ principal: { subject, client } }: Pick<Call, "principal">): {
  readonly principal?: string;
  readonly client?: string;
} {
  if (subject === undefined) return client === undefined ? {} : { principal: client };
  return { principal: subject, ...(client !== undefined && { client }) };
}

/** Returns JSON text for a 200, or a response. The caller adds the request id. */
export type Endpoint = (call: Call) => Promise<string | Response>;

/** What all endpoints work with. */
export interface SkillsContext {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly directory: Directory;
  readonly readUpload: ReadUpload;
  /** Bytes. */
  readonly uploadLimit: number;
  /** In addition to the rules of the dialect. */
  readonly packageRules: MarkdownRules;
  readonly cursorKey: FindSecrets;
  readonly observe: Observe;
  readonly now: () => number;
}
