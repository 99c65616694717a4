/**
 * The events that an observer receives: one per security-relevant act. No event carries a secret, a token or a
 * password. The observer decides what to do with them (log, count, alert).
 *
 * @module
 */

/** A call of a tool. What follows `failed` is there where a policy decides (`gateway/policy`). */
export interface ToolCalled {
  readonly type: "tool_called";
  readonly name: string;
  readonly principal: string | undefined;
  readonly failed: boolean;
  readonly client?: string | undefined;
  readonly ip?: string | undefined;
  /** The MCP server that it comes from; absent for what this server offers itself. */
  readonly upstream?: string | undefined;
  /** `input_required`: the tool runs and asked the client, and the call has another record when it ends. */
  readonly outcome?:
    | "ok"
    | "error"
    | "denied"
    | "asked"
    | "input_required"
    | "limited"
    | "timeout"
    | "cancelled"
    | undefined;
  /** Why it was denied or limited: the place in the policy, such as `rules[2]`, or a code. */
  readonly reason?: string | undefined;
  /** SHA-256 of the arguments as canonical JSON, in base64url; `too large` or `not JSON` where there is none. */
  readonly arguments_digest?: string | undefined;
  /** The arguments, bounded and redacted, where the operator keeps them. */
  readonly arguments?: string | undefined;
  readonly milliseconds?: number | undefined;
}

/** What an observer receives. */
export type TrivetEvent =
  | {
    readonly type: "login_succeeded";
    readonly user: string;
    readonly ip?: string | undefined;
    /** The identity provider; absent for a password. */
    readonly provider?: string;
    /** The second factor, or the passkey that was the only one. */
    readonly factor?: "totp" | "passkey" | "recovery_code";
  }
  /** A passkey that signed no one in: unknown, of another site, or a copy whose counter went back. */
  | { readonly type: "passkey_refused"; readonly ip?: string | undefined }
  /** A second step that failed: someone has the first factor of this user. */
  | { readonly type: "second_factor_failed"; readonly user: string; readonly ip?: string | undefined }
  | {
    readonly type: "factor_added" | "factor_removed";
    readonly user: string;
    readonly factor: "totp" | "passkey" | "recovery_codes";
  }
  /** `left`: how many codes the user still has. */
  | { readonly type: "recovery_code_used"; readonly user: string; readonly left: number }
  /** A sign-in at an identity provider that failed or was refused. */
  | {
    readonly type: "sign_in_failed";
    readonly provider: string;
    readonly reason: string;
    readonly ip?: string | undefined;
  }
  /** The tokens of a provider that were kept for a user ended there, or could not be revoked. */
  | {
    readonly type: "provider_tokens_ended";
    readonly user: string;
    readonly provider: string;
    readonly reason: string;
  }
  | {
    readonly type: "login_failed";
    /** As it was typed: it may be a password in the wrong field, so write it nowhere. */
    readonly username: string;
    /** The id of the account with this name, if there is one. */
    readonly user?: string;
    readonly ip?: string | undefined;
  }
  | { readonly type: "logged_out"; readonly user: string }
  | { readonly type: "password_reset_requested"; readonly user: string; readonly ip?: string | undefined }
  | { readonly type: "password_reset"; readonly user: string; readonly ip?: string | undefined }
  | { readonly type: "email_verified"; readonly user: string }
  /** `sendMail` failed. The reason has neither the address nor a link. */
  | { readonly type: "mail_failed"; readonly kind: string; readonly reason: string }
  | {
    readonly type: "user_registered";
    readonly user: string;
    /** The identity provider; absent for a password. */
    readonly provider?: string;
    /** The id of the invitation that was used. */
    readonly invitation?: string;
    readonly ip?: string | undefined;
  }
  /** What users do on their account pages. `email_changed` without a link that proves the new address. */
  | {
    readonly type: "password_changed" | "email_changed" | "session_ended" | "account_deleted";
    readonly user: string;
    readonly ip?: string | undefined;
  }
  | {
    readonly type: "grant_revoked";
    readonly user: string;
    readonly client: string;
    readonly ip?: string | undefined;
  }
  | {
    readonly type: "identity_linked" | "identity_unlinked";
    readonly user: string;
    readonly provider: string;
    readonly ip?: string | undefined;
  }
  /** A user connected an upstream of the gateway, or the connection ended. */
  | {
    readonly type: "connection_added" | "connection_removed";
    readonly user: string;
    readonly upstream: string;
    readonly ip?: string | undefined;
  }
  /** A connection to an upstream was not made, ended at its authorization server, or could not be revoked there. */
  | {
    readonly type: "connection_failed";
    readonly user: string;
    readonly upstream: string;
    /** A code, such as `access_denied` or `issuer_mismatch`. */
    readonly reason: string;
    readonly ip?: string | undefined;
  }
  /** A client was not notified that a session ended (OpenID Connect Back-Channel Logout). */
  | {
    readonly type: "logout_not_delivered";
    readonly client: string;
    readonly user?: string;
    readonly reason: string;
  }
  | {
    readonly type: "client_refused";
    readonly client: string | undefined;
    readonly reason: string;
    readonly ip?: string | undefined;
  }
  | { readonly type: "consent_given"; readonly user: string; readonly client: string; readonly scope: string }
  | { readonly type: "consent_denied"; readonly user: string; readonly client: string }
  | {
    readonly type: "token_issued";
    /** As in the request. */
    readonly grant_type: string;
    readonly client: string;
    readonly user?: string;
  }
  /** A request of an authenticated client that the token endpoint refused. */
  | {
    readonly type: "token_refused";
    /** `other` for one that is not supported. */
    readonly grant_type: string;
    readonly client: string;
    /** The error code of the response. */
    readonly error: string;
    readonly ip?: string | undefined;
  }
  | { readonly type: "token_revoked"; readonly client: string; readonly user?: string }
  | { readonly type: "client_registered"; readonly client: string; readonly ip?: string | undefined }
  | { readonly type: "code_replayed"; readonly client: string; readonly user: string }
  | { readonly type: "refresh_replayed"; readonly client: string; readonly user: string }
  /** An upstream of the gateway connected, failed, or is paused after failures (`open`). */
  | {
    readonly type: "upstream_changed";
    readonly upstream: string;
    readonly state: string;
    /** Without secrets. */
    readonly error?: string | undefined;
  }
  | {
    readonly type: "skill_created" | "skill_deleted";
    readonly id: string;
    readonly workspace: string;
    /** The id of the user, the client or the API key that did it, or `command line`; absent without authentication. */
    readonly principal?: string | undefined;
    /** The client with which the user did it. */
    readonly client?: string | undefined;
  }
  | {
    readonly type: "skill_version_created" | "skill_version_deleted" | "skill_default_changed";
    readonly id: string;
    readonly version: string;
    readonly workspace: string;
    /** As of `skill_created`. */
    readonly principal?: string | undefined;
    readonly client?: string | undefined;
  }
  /** A level of a skill was sent to a model: 1 its description, 2 its instructions, 3 one of its files. */
  | {
    readonly type: "skill_disclosed";
    /** The workspace of the caller; absent for anonymous callers. */
    readonly workspace: string | undefined;
    readonly id: string;
    readonly name: string;
    readonly version: string;
    readonly level: 1 | 2 | 3;
    /** Estimated. */
    readonly tokens: number;
    readonly path?: string;
    readonly via: "messages" | "mcp";
  }
  | { readonly type: "skill_refused"; readonly workspace: string; readonly reason: string }
  | ToolCalled
  /** A read of a resource, a prompt that was used, or a completion for one of them, where a policy decides. */
  | (Omit<ToolCalled, "type"> & {
    readonly type: "resource_read" | "prompt_used" | "completion_requested";
  })
  /** A call that the user was asked about, and what came of it. */
  | {
    readonly type: "approval_requested" | "approval_given" | "approval_refused";
    readonly user: string | undefined;
    readonly client?: string | undefined;
    readonly tool: string;
    /** The MCP server that the tool comes from; absent for a tool of this server. */
    readonly upstream?: string | undefined;
    /** How the user was asked: by the client, or on the page of this server. */
    readonly by: "form" | "page";
    readonly arguments_digest: string;
  }
  /** A tool of an MCP server is not offered until an administrator approves it: it is new, or its description changed. */
  | {
    readonly type: "tool_held";
    readonly upstream: string;
    readonly tool: string;
    readonly change: "new" | "changed";
    /** The digest of its description. */
    readonly digest: string;
    /** Codes of what is suspicious in its description, separated by spaces. */
    readonly warnings: string;
  }
  /** A change by an administrator, through the API or by a command. */
  | {
    readonly type: "admin_changed";
    /** Such as `lockUser`. */
    readonly operation: string;
    /** The id of what changed. */
    readonly subject: string;
    /** The id of the user, the client or the API key that did it, or `command line`. */
    readonly actor: string;
    /** The operation failed, perhaps after a part of it, or all, was done. */
    readonly uncertain?: true;
  }
  /** Requests over a limit of `rateLimits`; the caller received a 429. At most one event a second for each caller. */
  | {
    readonly type: "rate_limited";
    readonly scope: "address" | "client" | "user";
    /** The limit, such as `client` or `mcp.user`. */
    readonly limit: string;
    /** Whose limit it was, for the scope `client`. */
    readonly client?: string;
    /** Whose limit it was, for the scope `user`. */
    readonly user?: string;
    readonly ip?: string | undefined;
    /** How many requests, since the last event for this caller and limit. */
    readonly count: number;
  }
  /** The issuer of the callers' tokens could not be reached; the client received a 503. */
  | { readonly type: "issuer_unavailable"; readonly issuer: string; readonly error: unknown }
  /**
   * The database of the store, or the issuer of the callers' tokens, could not be reached: a client received a 503, or work
   * after a response was not done.
   */
  | { readonly type: "store_unavailable"; readonly where: string; readonly error: unknown }
  | { readonly type: "fault"; readonly where: string; readonly error: unknown };

/** Receives events. Must return at once and must not throw, since requests wait for it. */
export type Observe = (event: TrivetEvent) => void;

/** The default observer: writes failures to the console; without it, they would leave no trace. */
export const observeFailures: Observe = (event) => {
  // deno-lint-ignore no-console -- the default of the option, which replaces it
  if (/fault|unavailable/.test(event.type)) console.error("trivet:", event);
};
