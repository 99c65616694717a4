/**
 * What pages need of a server, and the options of one page.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { Fields } from "../../http/response.ts";
import type { PageSettings } from "./settings.ts";

/** The part of the authorization server that pages need. */
export interface PageServer {
  readonly pages: PageSettings;
  readonly issuer: string;
  readonly base: string;
  readonly origin: string;
  readonly observe: Observe;
}

export interface ShowOptions {
  /** @default 200 */
  readonly status?: number | undefined;
  readonly fields?: Fields | undefined;
  /**
   * The CSP `form-action` sources of the page. Without it, the targets of forms are not restricted: Chromium applies the
   * restriction to redirects too, and would block the redirect to a client.
   */
  readonly formAction?: "'self'" | "'none'" | undefined;
  /** The URL of a script of this server, the only one that the page runs. */
  readonly script?: string | undefined;
  /** Languages that the authorization request names. @default those in the query of the request */
  readonly ui_locales?: string | undefined;
}
