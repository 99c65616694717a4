/**
 * The data of the pages of connections, as `../../pages/basic_views.ts` describes it. The gateway shows these pages.
 *
 * @module
 */
import type { FormView } from "../account_views.ts";

interface ConnectionPage {
  /** The list of connections. */
  readonly connections: string;
}

/** How a user connects: at an authorization server, by a secret, or by signing in at an identity provider. */
export type ConnectionKind = "oauth" | "secret" | "provider";

/** `/account/connections` */
export interface ConnectionsView {
  readonly name: "connections";
  /** The overview of the account. Absent when there are no account pages. */
  readonly account?: string;
  readonly upstreams: readonly ConnectionView[];
  readonly done?: "connected" | "disconnected";
}

export interface ConnectionView {
  /** The name that the operator gave it. */
  readonly upstream: string;
  readonly host: string;
  readonly kind: ConnectionKind;
  /** Since when; absent when it is not connected, and for the kind `provider`. */
  readonly connected?: number;
  readonly isConnected: boolean;
  readonly scopes: readonly string[];
  /** The page to connect it, again or for the first time. */
  readonly connect: string;
  /** The page to end the connection. */
  readonly disconnect?: string;
}

/** `/account/connections/connect` */
export interface ConnectionConnectView extends ConnectionPage {
  readonly name: "connection_connect";
  readonly upstream: string;
  readonly host: string;
  readonly kind: ConnectionKind;
  readonly user: string;
  /** POST; with `secret` for the kind `secret`. Absent for the kind `provider`. */
  readonly form?: FormView;
  /** What the secret is, in the operator's words. */
  readonly label?: string;
  /** The identity provider to sign in at, and where, for the kind `provider`. */
  readonly provider?: { readonly name: string; readonly url: string };
  /** The scopes that the upstream needs beyond those that it has. */
  readonly scopes: readonly string[];
  readonly problem?: "secret_invalid";
}

/** `/account/connections/disconnect` */
export interface ConnectionDisconnectView extends ConnectionPage {
  readonly name: "connection_disconnect";
  readonly upstream: string;
  readonly host: string;
  readonly form: FormView;
}

/** A connection that was not made. */
export interface ConnectionRefusedView extends ConnectionPage {
  readonly name: "connection_refused";
  readonly upstream?: string;
  /** `denied`: the user or the authorization server refused. `failed`: something is wrong there; `reason` names it. */
  readonly code: "other_user" | "link_invalid" | "session_changed" | "denied" | "failed";
  /** A code for the operator. */
  readonly reason?: string;
  /** Signs out, for a link that was made for another user. */
  readonly signOut?: string;
}

export type ConnectionPageView =
  | ConnectionsView
  | ConnectionConnectView
  | ConnectionDisconnectView
  | ConnectionRefusedView;
