/**
 * Verifies the code that a user typed in the second step: of an authenticator app, or a recovery code. Attempts are counted
 * in the store before they are made: for a browser that signed in before, else for the user and for the network. Counting
 * for the user as a whole locks out no one who is not known already: only who has the first factor gets here.
 *
 * @module
 */
import { fromBase32, toBase32 } from "../../crypto/base32.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import type { Commit, Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findDeviceId } from "../users/device_cookie.ts";
import { DEVICE_LIMIT } from "../users/login_attempt.ts";
import type { AttemptSeries } from "../users/throttle/throttle.ts";
import { type TotpFactor, type UserFactors, userFactorsKey } from "./factor_record.ts";
import type { FactorProof } from "./second_step.ts";
import { recoveryDigest } from "./recovery_code.ts";
import { findStep } from "./totp.ts";

export interface CodeOutcome {
  /** Absent for a wrong code. */
  readonly proof?: FactorProof;
  /** Seconds to wait before the next attempt, or 0. */
  readonly wait: number;
}

/**
 * Verifies a code. The commit that starts the session uses it up, so that the user can enter it again when the store fails.
 * @param account the canonical user name, whose device cookie the browser may have
 */
export async function verifyCode(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  { user, account, code }: {
    readonly user: string;
    readonly account: string | undefined;
    readonly code: string;
  },
): Promise<CodeOutcome> {
  const attempt = await beginAttempt(as, request, context, user, account);
  if (attempt.wait > 0) return { wait: attempt.wait };
  const digits = code.replace(/\s/g, "");
  const proof: FactorProof = /^\d{6}$/.test(digits)
    ? { factor: "totp", consume: () => toTotpUse(as, user, digits) }
    : { factor: "recovery_code", consume: () => toRecoveryCodeUse(as, user, code) };
  if (!await proof.consume()) return { wait: 0 };
  await attempt.succeeded();
  return { proof, wait: 0 };
}

/** What the secret of an authenticator app is sealed for. */
export function totpPurpose(user: string): string {
  return "totp secret of " + user;
}

/** The text that is stored for the secret of an authenticator app. */
export async function sealTotpSecret(
  as: AuthorizationServer,
  user: string,
  secret: Uint8Array,
): Promise<string> {
  return await seal(await as.secret(), totpPurpose(user), toBase32(secret));
}

/** The secret of an authenticator app; `undefined` when another server secret sealed it, or it is of another user. */
export async function unsealTotpSecret(
  as: AuthorizationServer,
  user: string,
  sealed: string,
): Promise<Uint8Array | undefined> {
  const text = await unseal(await as.secret(), totpPurpose(user), sealed);
  return text === undefined ? undefined : fromBase32(text);
}

/** Accepts the code of a step once, and none of an earlier step than the last one (RFC 6238 section 5.2). */
async function toTotpUse(
  as: AuthorizationServer,
  user: string,
  code: string,
): ReturnType<FactorProof["consume"]> {
  const entry = await as.store.get<UserFactors>(userFactorsKey(user));
  const totp = as.factors.totp ? entry?.value.totp : undefined;
  const secret = totp && await unsealTotpSecret(as, user, totp.sealed);
  const step = secret && await findStep(secret, code, as.now());
  if (step === undefined || step <= totp!.step) return undefined;
  const used: TotpFactor = { ...totp!, step, used: as.now() };
  return toChange(entry!, { ...entry!.value, totp: used });
}

async function toRecoveryCodeUse(
  as: AuthorizationServer,
  user: string,
  code: string,
): ReturnType<FactorProof["consume"]> {
  const digest = recoveryDigest(code);
  const entry = digest === undefined ? undefined : await as.store.get<UserFactors>(userFactorsKey(user));
  const recovery = entry?.value.recovery;
  if (!entry || !recovery?.digests.includes(digest!)) return undefined;
  const digests = recovery.digests.filter((each) => each !== digest);
  const change = toChange(entry, { ...entry.value, recovery: { ...recovery, digests } });
  return { ...change, left: digests.length };
}

function toChange({ key, version }: Entry, value: UserFactors): Pick<Commit, "check" | "set"> {
  return { check: [{ key, version }], set: [{ key, value }] };
}

interface BegunAttempt {
  readonly wait: number;
  succeeded(): Promise<void>;
}

async function beginAttempt(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  user: string,
  account: string | undefined,
): Promise<BegunAttempt> {
  const device = account === undefined ? undefined : await findDeviceId(as, request, account);
  const series: readonly AttemptSeries[] = device === undefined
    ? []
    : [{ kind: "factor_device", subject: device, ...DEVICE_LIMIT }];
  if (device !== undefined && await as.throttle.begin(series) === 0) {
    return { wait: 0, succeeded: () => as.throttle.succeeded(series) };
  }
  const network = networkOf(context);
  // The limits of one account in one network: 17 attempts on the first day, then one a day (`login_throttle.ts`).
  const limits: [name: string, where: string, isBounded: boolean][] = [
    ["second factor", `user ${user}`, true],
  ];
  if (network !== undefined) limits.push([`second factor of ${user}`, network, false]);
  for (const limit of limits) {
    const wait = await as.loginThrottle.begin(...limit);
    if (wait > 0) return { wait, succeeded: () => Promise.resolve() };
  }
  return {
    wait: 0,
    async succeeded() {
      for (const [name, where] of limits) await as.loginThrottle.succeeded(name, where);
    },
  };
}
