/**
 * The second step of a login: who has to prove another factor, and what follows when it is proved.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { Commit } from "../../store/store.ts";
import type { AuthenticatedUser, AuthorizationServer } from "../authorization_server.ts";
import { isGivenTo, type Profile, type User } from "../records/user_record.ts";
import { completeLogin } from "../users/complete_login.ts";
import type { LoginMethod } from "../users/login_method.ts";
import { findSession } from "../users/session.ts";
import { canonicalUsername, findUser } from "../users/user.ts";
import { findFactors, hasSecondFactor } from "./factor_record.ts";
import { countTry, findPendingLogin, forgetPendingLogin, toPendingLoginEnd } from "./pending_login.ts";

/** RFC 8176 section 2: what each factor adds to `amr`, beside `mfa`. A recovery code has no name there. */
const METHODS: Readonly<Record<NonNullable<LoginMethod["factor"]>, readonly string[]>> = {
  totp: ["otp"],
  passkey: ["pop", "user"],
  recovery_code: [],
};

/** A factor that the user proved. */
export interface FactorProof {
  readonly factor: NonNullable<LoginMethod["factor"]>;
  /**
   * What uses it up, for the commit that starts the session, and how many recovery codes are left then. `undefined` when
   * another login has used it up.
   */
  consume(): Promise<Commit & { readonly left?: number } | undefined>;
}

/** What the login uses up was used up by another one. */
class ConsumedError extends Error {}

/** A user who proved the first factor, in this browser. */
export interface SecondStep {
  readonly user: Profile;
  /** The canonical user name, if the user has one. */
  readonly account: string | undefined;
  /** Counts a try. `false` when there were too many: the login begins anew. */
  countTry(): Promise<boolean>;
  /** The response with the session; `undefined` when another request has ended the step, or used the code. */
  complete(context: RequestContext, proof: FactorProof, redirect: string): Promise<Response | undefined>;
}

/**
 * The second step that waits in this browser: of a login that has no session yet, or (`step_up`) of the session, which a
 * client needs to be stronger.
 */
export async function findSecondStep(
  as: AuthorizationServer,
  request: Request,
  isStepUp: boolean,
): Promise<SecondStep | undefined> {
  const step = isStepUp ? await stepUpSession(as, request) : await continueLogin(as, request);
  return step && hasSecondFactor(await findFactors(as, step.user.id)) ? step : undefined;
}

async function continueLogin(as: AuthorizationServer, request: Request): Promise<SecondStep | undefined> {
  const pending = await findPendingLogin(as, request);
  const user = pending && await findUser(as.store, pending.user);
  if (!pending || !user || !isGivenTo(user, pending.began)) return undefined;
  const { method, acr = "password", amr = acr === "password" ? ["pwd"] : [], began } = pending;
  return {
    user,
    account: method.account ?? accountOf(user),
    countTry: () => countTry(as, pending),
    complete: (context, proof, redirect) =>
      consuming(as, user, [proof.consume, () => toPendingLoginEnd(as, pending)], (consume) => {
        const { factor } = proof;
        const authenticated = method.authenticated ?? began;
        const how: LoginMethod = { ...method, factor, authenticated, began, consume };
        const proved = strengthen(as, user, acr, amr, factor);
        return completeLogin(as, request, context, proved, how, redirect, forgetPendingLogin(as));
      }),
  };
}

async function stepUpSession(as: AuthorizationServer, request: Request): Promise<SecondStep | undefined> {
  const began = as.now();
  const signedIn = await findSession(as, request);
  if (!signedIn || signedIn.authentication.acr === as.factors.acr) return undefined;
  const { user, authentication: { acr, amr = acr === "password" ? ["pwd"] : [] }, since } = signedIn;
  return {
    user,
    account: accountOf(user),
    countTry: () => Promise.resolve(true),
    // The user proves the second factor only: for `max_age` the login is as old as its first.
    complete: (context, { factor, consume: use }, redirect) =>
      consuming(as, user, [use], (consume) =>
        completeLogin(
          as,
          request,
          context,
          strengthen(as, user, acr, amr, factor),
          { factor, authenticated: since, began, stepsUp: signedIn.session, consume },
          redirect,
        )),
  };
}

/** Completes a login that uses up all of these, or returns `undefined` when one is used up. */
async function consuming(
  as: AuthorizationServer,
  { id: user }: Profile,
  uses: readonly FactorProof["consume"][],
  complete: (consume: NonNullable<LoginMethod["consume"]>) => Promise<Response>,
): Promise<Response | undefined> {
  let left: number | undefined;
  try {
    return await complete(async () => {
      const changes: Required<Commit>[] = [];
      for (const use of uses) {
        const change = await use();
        if (!change) throw new ConsumedError();
        left = change.left ?? left;
        changes.push({ check: [], set: [], remove: [], ...change });
      }
      return {
        check: changes.flatMap(({ check }) => check),
        set: changes.flatMap(({ set }) => set),
        remove: changes.flatMap(({ remove }) => remove),
      };
    });
  } catch (error) {
    left = undefined;
    if (error instanceof ConsumedError) return undefined;
    throw error;
  } finally {
    if (left !== undefined) as.observe({ type: "recovery_code_used", user, left });
  }
}

function strengthen(
  as: AuthorizationServer,
  user: Profile,
  acr: string,
  amr: readonly string[],
  factor: NonNullable<LoginMethod["factor"]>,
): AuthenticatedUser {
  const { id, name, email, role } = user;
  return {
    id,
    name,
    email,
    ...(role !== undefined && { role }),
    acr: as.factors.acr,
    amr: [...new Set([...amr, ...METHODS[factor], "mfa"])],
    satisfies: [acr],
  };
}

/** What a passkey alone proves: the device, and that it verified its user. It is good enough wherever a password is. */
export function provedByPasskey(
  as: AuthorizationServer,
  { id, name, email, role }: Profile,
): AuthenticatedUser {
  const amr = [...METHODS.passkey, "mfa"];
  return {
    id,
    name,
    email,
    ...(role !== undefined && { role }),
    acr: as.factors.acr,
    amr,
    satisfies: ["password"],
  };
}

function accountOf(user: Profile & Partial<Pick<User, "username">>): string | undefined {
  return user.username === undefined ? undefined : canonicalUsername(user.username);
}
