/**
 * The data of the pages about factors. As for all views: plain values, URLs complete, and text of users as they sent it.
 *
 * @module
 */
import type { HiddenFields, PasskeyFormView, ProblemView } from "../../pages/basic_views.ts";

/** `/login/factor`: the second step. */
export interface SecondFactorView {
  readonly name: "second_factor";
  /** POST with `code`: of the authenticator app (`hasTotp`), or a recovery code (`hasRecoveryCodes`). */
  readonly action: string;
  readonly hasTotp: boolean;
  readonly hasRecoveryCodes: boolean;
  readonly passkey?: PasskeyFormView;
  /** The name of the user. */
  readonly user: string;
  /** The page to sign in as another user. */
  readonly signIn: string;
  readonly problem?: ProblemView<"wrong_code" | "too_many_attempts" | "passkey_failed">;
}

/** `/account/factors` */
export interface FactorsView {
  readonly name: "factors";
  /** The authenticator app. Times are milliseconds since the epoch. */
  readonly totp?: { readonly created: number; readonly used?: number };
  readonly passkeys: readonly {
    readonly id: string;
    readonly name: string;
    readonly created: number;
    readonly used?: number;
    /** Whether it is synchronized to other devices. */
    readonly isSynced: boolean;
  }[];
  /** How many are left; absent when there never were any. */
  readonly recoveryCodes?: number;
  /** The pages to add factors; absent where that is not possible. */
  readonly addTotp?: string;
  readonly addPasskey?: string;
  /** POST with `id` and `label`. */
  readonly rename: string;
  /** POST with `id`: of a passkey, or `totp`. */
  readonly remove: string;
  /** POST: makes new recovery codes, and the old ones invalid. */
  readonly renewCodes: string;
  /** The account page, when there is one. */
  readonly account?: string;
  /** The passkey that was to be removed is the last way to sign in. */
  readonly problem?: ProblemView<"last_way">;
}

/** `/account/factors/totp`: the QR code and the field for the first code. */
export interface TotpSetupView {
  readonly name: "totp_setup";
  /** POST with `code`. */
  readonly action: string;
  readonly hidden: HiddenFields;
  /** What the QR code holds. */
  readonly uri: string;
  /** The secret to type, in groups of four characters. */
  readonly secret: string;
  /** The QR code as the `d` of an SVG path, and its width and height in modules, quiet zone included. */
  readonly qr: { readonly path: string; readonly size: number };
  readonly cancel: string;
  readonly problem?: ProblemView<"wrong_code" | "expired">;
}

/** `/account/factors/passkey` */
export interface PasskeySetupView {
  readonly name: "passkey_setup";
  /** Its form has the field `label`, a name for the passkey. */
  readonly passkey: PasskeyFormView;
  readonly cancel: string;
  readonly problem?: ProblemView<"passkey_failed" | "too_many_passkeys">;
}

/** The new recovery codes, shown this one time. */
export interface RecoveryCodesView {
  readonly name: "recovery_codes";
  readonly codes: readonly string[];
  readonly next: string;
}

export type FactorView =
  | SecondFactorView
  | FactorsView
  | TotpSetupView
  | PasskeySetupView
  | RecoveryCodesView;
