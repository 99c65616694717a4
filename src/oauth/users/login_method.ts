/**
 * How a user proved who they are, for `complete_login.ts`.
 *
 * @module
 */

import type { Commit } from "../../store/store.ts";

/** How a user proved who they are. What they proved it with is in `acr` and `amr` of the {@linkcode AuthenticatedUser}. */
export interface LoginMethod {
  /** The identity provider; absent for a proof that this server checked. */
  readonly provider?: string;
  /** When the user did so at the provider, in milliseconds since the epoch; 0 if it does not say. @default now */
  readonly authenticated?: number;
  /** The canonical user name whose password was right: the browser gets its device cookie (`device_cookie.ts`). */
  readonly account?: string;
  /** The second factor, or the passkey that was the only one: the login has no further step. */
  readonly factor?: "totp" | "passkey" | "recovery_code";
  /**
   * Before the first factor was checked, in milliseconds since the epoch: no session starts when all sessions of the user were
   * ended since. @default now
   */
  readonly began?: number;
  /** The digest of the session that the second factor makes stronger: none starts once it has ended. */
  readonly stepsUp?: string;
  /**
   * What the login uses up, such as a code, for the commit that starts the session: a login that fails uses up nothing. It is
   * called for each attempt to commit, and rejects when another login has used it up.
   */
  readonly consume?: () => Promise<Required<Commit>>;
}
