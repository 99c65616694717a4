/**
 * The data of the account pages, as `../pages/basic_views.ts` describes it: plain values, URLs complete, times in
 * milliseconds since the epoch. A form is sent by POST to its `action` with all `hidden` fields; the comment names the others.
 *
 * @module
 */
import type { AccessView, ApplicationView, HiddenFields } from "../pages/basic_views.ts";

/** A form: where it is sent, and what it sends as it is. */
export interface FormView {
  readonly action: string;
  readonly hidden: HiddenFields;
}

interface AccountPage {
  /** The overview of the account. */
  readonly account: string;
}

/** `/account` */
export interface AccountOverviewView {
  readonly name: "account";
  readonly user: { readonly name: string; readonly email: string; readonly username?: string };
  /** The pages that apply to this user, in order. */
  readonly sections: readonly AccountSectionView[];
  /** The page to sign out. */
  readonly signOut: string;
}

export interface AccountSectionView {
  readonly section:
    | "profile"
    | "password"
    | "factors"
    | "sessions"
    | "applications"
    | "providers"
    | "connections"
    | "approvals"
    | "data";
  readonly url: string;
}

/** `/account/profile` */
export interface AccountProfileView extends AccountPage {
  readonly name: "account_profile";
  readonly username?: string;
  /** POST with `name`. Absent when the name comes from elsewhere. */
  readonly form?: FormView;
  readonly user: string;
  readonly email: {
    readonly address: string;
    readonly isVerified: boolean;
    /** The page to change it. Absent when the address comes from elsewhere. */
    readonly change?: string;
  };
  /** The identity provider that name and address come from. */
  readonly source?: string;
  readonly done?: "name" | "email" | "email_sent";
  readonly problem?: "name_invalid";
}

/** `/account/email` */
export interface AccountEmailView extends AccountPage, FormView {
  readonly name: "account_email";
  /** POST with `email`. */
  readonly email: string;
  /** Whether the new address replaces the present one only when its owner has followed a link. */
  readonly isVerifiedFirst: boolean;
  readonly problem?: { readonly code: "email_invalid" } | TooManyAttempts;
}

interface TooManyAttempts {
  readonly code: "too_many_attempts";
  /** When to try again. */
  readonly seconds: number;
}

/** `/account/password` */
export interface AccountPasswordView extends AccountPage, FormView {
  readonly name: "account_password";
  /** POST with `password` (if `hasPassword`), `new_password` and `new_password_again`. */
  readonly hasPassword: boolean;
  readonly username: string;
  readonly minLength: number;
  readonly isDone: boolean;
  readonly problem?:
    | {
      readonly code: "wrong_password" | "different" | "too_short" | "too_long" | "breached" | "same_as_name";
    }
    | TooManyAttempts;
}

/** `/account/sessions` */
export interface AccountSessionsView extends AccountPage {
  readonly name: "account_sessions";
  readonly sessions: readonly SessionView[];
  /** Ends all sessions but this one. Absent when there is no other. */
  readonly endOthers?: FormView;
  readonly done?: "session" | "sessions";
}

export interface SessionView {
  readonly isThis: boolean;
  readonly created: number;
  readonly used: number;
  readonly address?: string;
  /** What the `User-Agent` of the login says: the names of the browser and the system, where they are known. */
  readonly browser?: string;
  readonly system?: string;
  /** Ends it. Absent for this session. */
  readonly end?: FormView;
}

/** `/account/applications` */
export interface AccountApplicationsView extends AccountPage {
  readonly name: "account_applications";
  readonly applications: readonly {
    readonly application: ApplicationView;
    readonly access: AccessView;
    readonly since: number;
    /** Absent when it has no token now, but would get one without asking. */
    readonly used?: number;
    readonly end: FormView;
  }[];
  readonly isDone: boolean;
}

/** `/account/providers` */
export interface AccountProvidersView extends AccountPage {
  readonly name: "account_providers";
  readonly linked: readonly {
    readonly provider: string;
    /** The e-mail address or the name there; empty when the provider says neither. */
    readonly label: string;
    readonly linked: number;
    /** Absent for the last way to sign in. */
    readonly unlink?: FormView;
  }[];
  /** Sends the browser to the provider, and links the account there that the user signs in with. */
  readonly available: readonly { readonly provider: string; readonly link: FormView }[];
  readonly done?: "linked" | "unlinked";
  readonly problem?: "last" | "other_user" | "too_many";
}

/** `/account/data` */
export interface AccountDataView extends AccountPage {
  readonly name: "account_data";
  /** The response is a JSON file. */
  readonly export: FormView;
  /** The page to delete the account. Absent when another system has it. */
  readonly delete?: string;
}

/** `/account/delete` */
export interface AccountDeleteView extends AccountPage, FormView {
  readonly name: "account_delete";
  /** POST with `confirmation`: this text. */
  readonly confirmation: string;
  readonly isWrong: boolean;
  /** The user is the last administrator, whose account is not deleted. @default false */
  readonly isLastAdmin?: boolean;
}

/** After the deletion: no user is signed in. */
export interface AccountDeletedView {
  readonly name: "account_deleted";
  readonly signIn: string;
}

export type AccountPageView =
  | AccountOverviewView
  | AccountProfileView
  | AccountEmailView
  | AccountPasswordView
  | AccountSessionsView
  | AccountApplicationsView
  | AccountProvidersView
  | AccountDataView
  | AccountDeleteView
  | AccountDeletedView;
