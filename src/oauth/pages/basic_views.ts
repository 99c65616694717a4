/**
 * The data of the pages that every authorization server has. Plain values, so that a hook can render its own HTML from
 * them: no markup, no sentences, URLs complete. All text of clients and users is as they sent it: escape it.
 *
 * A view with `action` has a form: it is sent by POST to `action` as `application/x-www-form-urlencoded` with all members of
 * `hidden` as hidden fields. The comment at `action` names the other fields.
 *
 * @module
 */

/** Fields that a form sends as they are, by name: one-time tokens and parameters that lead back. */
export type HiddenFields = Readonly<Record<string, string>>;

/** An application as the user may know it. */
export interface ApplicationView {
  /** One line without control characters, up to 80 characters. */
  readonly name: string;
  /** Whether the operator of this server gave the name. Show any other name in quotes: the application chose it. */
  readonly isVerified: boolean;
  /** The host of its client metadata document, which the name was read from. */
  readonly documentHost?: string;
}

/** The user who is signed in, and how another one can sign in instead. */
export interface AccountView {
  readonly name: string;
  readonly email: string;
  /** "Not you?" POST without further fields: signs out and leads back to this page. */
  readonly switchAccount?: { readonly action: string; readonly hidden: HiddenFields };
}

/** Why a form is shown again. */
export interface ProblemView<Code extends string> {
  readonly code: Code;
  /** For `too_many_attempts`: when to try again. */
  readonly seconds?: number;
}

/** A further field of a form. */
export interface FieldView {
  readonly name: string;
  readonly label: string;
  /** The `type` of the `input` element. @default "text" */
  readonly type?: string;
  readonly autocomplete?: string;
  readonly value?: string;
  readonly required?: boolean;
}

/**
 * A form that the script of the page completes: POST to `action` with `credential`, the JSON of a
 * WebAuthn response. Write it as `<form hidden data-passkey="KIND" data-options="OPTIONS">` with an empty hidden field
 * `credential`; the script shows it. Without the script a passkey cannot be used.
 */
export interface PasskeyFormView {
  readonly action: string;
  readonly hidden: HiddenFields;
  /** `autofill` also offers passkeys in the field of the user name (conditional mediation). */
  readonly kind: "create" | "get" | "autofill";
  /** The options of WebAuthn sections 5.4 and 5.5, as JSON. */
  readonly options: string;
}

/** `/login` */
export interface SignInView {
  readonly name: "sign_in";
  /** POST with `username`, `password` and the members of `fields`. */
  readonly action: string;
  /** The application that the user goes on to. Absent when none asks. */
  readonly application?: ApplicationView;
  /** Whether the user is signed in and has to prove it again before a change of the account. */
  readonly isAgain: boolean;
  /** Whether user name and password can be entered. */
  readonly hasPassword: boolean;
  /** What the field for the user name shows: from a failed attempt, or `login_hint`. */
  readonly username: string;
  /** Fields after the password. */
  readonly fields: readonly FieldView[];
  /** Identity providers: links that begin the sign-in. */
  readonly providers: readonly { readonly id: string; readonly name: string; readonly url: string }[];
  /** Where to create an account, when that is possible. */
  readonly signUp?: string;
  /** Where to reset a forgotten password, when that is possible. */
  readonly passwordReset?: string;
  /** To sign in with a passkey. Needs the script of the page, and `webauthn` in `autocomplete` of the user name. */
  readonly passkey?: PasskeyFormView;
  readonly problem?: ProblemView<"wrong_credentials" | "too_many_attempts" | "passkey_refused">;
}

/** Why a sign-in at an identity provider failed. */
export type SignInFailure =
  | "expired"
  | "cancelled"
  | "not_admitted"
  | "not_invited"
  | "unreachable"
  | "unverified";

/** `/login/:provider/callback`, when the user is not signed in after it. */
export interface SignInFailedView {
  readonly name: "sign_in_failed";
  readonly provider: string;
  readonly reason: SignInFailure;
  /** The sign-in page. */
  readonly signIn: string;
}

/** After a sign-in that leads nowhere else. */
export interface SignedInView {
  readonly name: "signed_in";
  readonly user: string;
  /** The account page, when there is one. */
  readonly account?: string;
  readonly signOut: string;
}

/** `/logout`, and `/oauth/logout` when a client asks to sign the user out. */
export interface SignOutView {
  readonly name: "sign_out";
  /** POST with the button `decision=sign_out`. */
  readonly action: string;
  readonly hidden: HiddenFields;
  /** The application that asks. */
  readonly application?: ApplicationView;
  /** The name of the user; absent when none is signed in. */
  readonly user?: string;
  /** The account page, when a user is signed in and there is one. */
  readonly account?: string;
}

export interface SignedOutView {
  readonly name: "signed_out";
  readonly signIn: string;
}

/** The access that an application asks for. */
export interface AccessView {
  /** The scopes, each with its description in the language of the page. */
  readonly scopes: readonly {
    readonly scope: string;
    readonly description: string;
    /** The user allowed it to this application before. */
    readonly isAllowedBefore: boolean;
  }[];
  /** Descriptions of authorization details (RFC 9396). */
  readonly details: readonly string[];
  /** Names of the resources that the access is for (RFC 8707); empty for the server as a whole. */
  readonly resources: readonly string[];
}

/**
 * Where the authorization response goes. `host`: to this host, port included. `device_host`: to a program that listens on
 * this address of the user's own device. `scheme`: to an application of the device that opens links with this scheme, which
 * any application may claim (RFC 8252 section 7.1).
 */
export type DestinationView =
  | { readonly kind: "host" | "device_host"; readonly host: string }
  | { readonly kind: "scheme"; readonly scheme: string };

/** `/oauth/authorize` */
export interface ConsentView {
  readonly name: "consent";
  /** POST with the buttons `decision=approve` and `decision=deny`. */
  readonly action: string;
  /** `transaction`: the one-time token. */
  readonly hidden: HiddenFields;
  readonly application: ApplicationView;
  readonly account: AccountView;
  readonly access: AccessView;
  readonly destination: DestinationView;
  readonly duration: DurationView;
}

/** How long the access lasts: since its last use when it is renewed by use, else from now on. */
export interface DurationView {
  readonly seconds: number;
  readonly isRenewedByUse: boolean;
}

/** `/device`: the form for the user code. */
export interface DeviceCodeView {
  readonly name: "device_code";
  /** POST with `user_code`. */
  readonly action: string;
  readonly userCode: string;
  readonly problem?: ProblemView<"unknown_code" | "insufficient_role" | "too_many_attempts">;
}

/** `/device`: the question. */
export interface DeviceConsentView {
  readonly name: "device_consent";
  /** POST with the buttons `decision=approve` and `decision=deny`. */
  readonly action: string;
  /** `transaction`: the one-time token. */
  readonly hidden: HiddenFields;
  readonly application: ApplicationView;
  readonly account: AccountView;
  readonly access: AccessView;
  /** The code that the device shows: ask the user to compare it. */
  readonly userCode: string;
}

/** `/device`: the outcome. */
export interface DeviceDoneView {
  readonly name: "device_connected" | "device_denied";
}

/** The response to the client as a form (`response_mode=form_post`). The page runs a script that sends it. */
export interface FormPostView {
  readonly name: "form_post";
  /** POST to the client. */
  readonly action: string;
  readonly hidden: HiddenFields;
  readonly host: string;
}

/** What is wrong, for the user. */
export type ErrorCode =
  | "invalid_request"
  | "request_ended"
  | "cross_site"
  | "invalid_redirect"
  | "no_password_sign_in"
  | "missing_fields"
  | "bad_body"
  | "not_found"
  | "method_not_allowed"
  | "temporarily_unavailable"
  | "server_error";

/** A request that cannot be answered. */
export interface ErrorView {
  readonly name: "error";
  readonly code: ErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** The error code of OAuth and its description in English, for developers. */
  readonly error?: { readonly code: string; readonly description: string };
  /** A page to go on with. */
  readonly link?: string;
}

/** `/`: the services that run. */
export interface HomeView {
  readonly name: "home";
  readonly issuer: string;
  /** The issuer without a trailing slash: the prefix of the paths. */
  readonly base: string;
  readonly oauth: boolean;
  readonly skills: boolean;
  readonly mcp: boolean;
  /** The account page, when there is one. */
  readonly account?: string;
}

export type BasicView =
  | SignInView
  | SignInFailedView
  | SignedInView
  | SignOutView
  | SignedOutView
  | ConsentView
  | DeviceCodeView
  | DeviceConsentView
  | DeviceDoneView
  | FormPostView
  | ErrorView
  | HomeView;
