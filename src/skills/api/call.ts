/**
 * A request to the Skills service as its endpoints get it: who calls, in which dialect, about what.
 *
 * @module
 */
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
  readonly dialect: Dialect;
  /** Of a skill; empty where the path has none. */
  readonly id: string;
  /** One of the names of a version; empty as above. */
  readonly version: string;
}

/** Who calls, for limits that each caller has of his own: a user, a client or key, or where nobody signs in an address. */
export function callerOf(
  { principal: { subject, client }, context: { ip, isBodyBuffered } }: Call,
): Uploader {
  if (subject !== undefined) return { id: `user ${subject}`, isBodyBuffered };
  return { id: client === undefined ? `address ${ip ?? ""}` : `client ${client}`, isBodyBuffered };
}

/** JSON text for a 200, or a response, which gets the request's id. */
export type Endpoint = (call: Call) => Promise<string | Response>;

/** What endpoints work with. */
export interface SkillsContext {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly directory: Directory;
  readonly readUpload: ReadUpload;
  /** Bytes. */
  readonly uploadLimit: number;
  /** Beside those of the dialect. */
  readonly packageRules: MarkdownRules;
  readonly cursorKey: () => Promise<Uint8Array>;
  readonly observe: Observe;
  readonly now: () => number;
}
