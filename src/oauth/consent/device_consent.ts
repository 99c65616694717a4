/**
 * `/device`: the user signs in, enters the user code of the device, and allows or denies its request
 * (https://www.rfc-editor.org/rfc/rfc8628#section-3.3).
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { parseForm, readForm } from "../../http/body/form.ts";
import { networkOf } from "../../http/network/network.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { pathOf, queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import { isDoneDespite, LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { extendRegistration, findAvailableClient, findClient } from "../clients/client.ts";
import { redirectToLogin } from "../endpoints/login_redirect.ts";
import { canonicalUserCode } from "../endpoints/device_authorization.ts";
import { sessionIdOf } from "../openid/subject.ts";
import {
  type ApprovedDeviceRequest,
  type DeviceCode,
  deviceCodeKey,
  userCodeKey,
} from "../records/grant_record.ts";
import { findSession, type SignedIn, toSessionCheck } from "../users/session.ts";
import { toPendingGrant } from "../users/user_grants.ts";
import { limitToRole } from "../users/user_role.ts";
import { chooseLanguage } from "../pages/language.ts";
import { refuseForeignForm, showPage } from "../pages/page.ts";
import type { DeviceCodeView } from "../pages/basic_views.ts";
import { describeAccess, describeAccount, describeApplication } from "./access_description.ts";
import { parseDecision, refuseRepeatedFields } from "./decision.ts";
import { createTransaction, getTransaction, transactionEnded } from "./transaction.ts";

const MAX_FORM_BYTES = 4 * 1024;
/** No form of these pages redirects to another site. */
const OWN_FORMS = { formAction: "'self'" } as const;

/** `GET /device?user_code=...`: the form for the user code, or 302 to the login. */
export async function showDevice(as: AuthorizationServer, request: Request): Promise<Response> {
  if (!await findSession(as, request)) return redirectToLogin(as, pathOf(request.url), queryOf(request.url));
  return await showCodeForm(as, request, parseForm(queryOf(request.url)).values.get("user_code") ?? "");
}

/** The form for the user code. @param userCode what the field shows */
async function showCodeForm(
  as: AuthorizationServer,
  request: Request,
  userCode: string,
  status = 200,
  problem?: DeviceCodeView["problem"],
): Promise<Response> {
  return await showPage(as, request, {
    name: "device_code",
    action: as.base + "/device",
    userCode,
    ...(problem && { problem }),
  }, { status, ...OWN_FORMS });
}

/**
 * `POST /device` with `user_code`: the question. With `transaction` and `decision`: the outcome.
 * @throws {OAuthError} to be shown as a page
 */
export async function answerDevice(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const { values, repeated } = await readForm(request, MAX_FORM_BYTES);
  refuseRepeatedFields(repeated);
  const signedIn = await findSession(as, request);
  if (!signedIn) return redirectToLogin(as, pathOf(request.url), "");
  return values.has("transaction")
    ? await decide(as, request, context, signedIn, values)
    : await ask(as, request, signedIn, context, values.get("user_code") ?? "");
}

async function ask(
  as: AuthorizationServer,
  request: Request,
  signedIn: SignedIn,
  context: RequestContext,
  typed: string,
): Promise<Response> {
  // RFC 8628 §5.1: short codes must not be found by guessing. The counts are shared: a right code takes back only its
  // own attempt, because everyone can get a right code.
  const network = networkOf(context);
  const attempts = [
    { kind: "user_code", subject: signedIn.user.id, freeAttempts: 10, maxWaitSeconds: 300, isShared: true },
    ...(network === undefined ? [] : [{
      kind: "user_code_network",
      subject: network,
      freeAttempts: 100,
      maxWaitSeconds: 300,
      isShared: true,
    }]),
  ];
  const wait = await as.throttle.begin(attempts);
  if (wait > 0) {
    return await showCodeForm(as, request, "", 429, { code: "too_many_attempts", seconds: wait });
  }
  const index = await as.store.get<string>(userCodeKey(secretDigest(canonicalUserCode(typed))));
  const entry = index && await as.store.get<DeviceCode>(deviceCodeKey(index.value));
  const client = entry && await findClient(as, entry.value.client_id, context);
  if (!client || !isPending(as, entry.value)) {
    return await showCodeForm(as, request, typed.slice(0, 20), 400, { code: "unknown_code" });
  }
  await as.throttle.succeeded(attempts);
  const device = entry.value;
  const { origin, user, authentication } = signedIn;
  const scope = limitToRole(as, user, device.scope);
  if (scope === "") return await showCodeForm(as, request, "", 403, { code: "insufficient_role" });
  const transactionToken = await createTransaction(as, {
    kind: "device",
    session: origin,
    user: user.id,
    authentication,
    device: index.value,
    scope,
  });
  const language = chooseLanguage(request, undefined, as.pages.defaultLanguage);
  return await showPage(as, request, {
    name: "device_consent",
    action: as.base + "/device",
    hidden: { transaction: transactionToken },
    application: describeApplication(client),
    account: describeAccount(as, user, `${as.base}/device?user_code=${device.user_code}`),
    access: await describeAccess(as, language, { ...device, scope }, new Set()),
    userCode: device.user_code,
  }, OWN_FORMS);
}

async function decide(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  signedIn: SignedIn,
  form: ReadonlyMap<string, string>,
): Promise<Response> {
  const decision = parseDecision(form);
  let { version: known } = signedIn;
  const { value, user, scope } = await retryLostRaces(async () => {
    const login = await toSessionCheck(as, signedIn.session, known);
    if (!login) throw transactionEnded();
    known = undefined;
    const transaction = await getTransaction(as, signedIn, form.get("transaction"), "device");
    const { device, user, authentication } = transaction.value;
    const entry = await as.store.get<DeviceCode>(deviceCodeKey(device));
    if (!entry || !isPending(as, entry.value)) throw transactionEnded();
    const { key, version, value, expires } = entry;
    // Of what the page showed: the role of the user may have been raised since.
    const shown = transaction.value.scope ?? value.scope;
    const scope = decision === "approve" ? limitToRole(as, signedIn.user, shown) : "";
    const answered: DeviceCode = scope === "" ? { ...value, status: "denied" } : {
      ...value,
      scope,
      status: "approved",
      user,
      authentication,
      given: signedIn.read,
      ...describeSession(as, signedIn, value),
    };
    const pending = scope === ""
      ? []
      : toPendingGrant(value.grant, user, { ...value, scope }, signedIn.read, value.until);
    const storing = as.store.commit({
      check: [{ key, version }, { key: transaction.key, version: transaction.version }, login],
      set: [{ key, value: answered, expires }, ...pending],
      remove: [transaction.key, userCodeKey(secretDigest(canonicalUserCode(value.user_code)))],
    });
    const isStored = await storing.catch(async (error) => {
      // Otherwise the page would say that the request was answered already.
      const isOwn = (stored: DeviceCode) => isSameAnswer(stored, answered);
      if (await isDoneDespite(error, as.store, key, isOwn)) return true;
      throw error;
    });
    // The race may be lost to a poll of the device, to another use of the session, or to the same answer sent twice.
    return isStored ? { value, user, scope } : LOST_RACE;
  });
  if (scope === "") {
    as.observe({ type: "consent_denied", user, client: value.client_id });
    return await showPage(as, request, { name: "device_denied" }, OWN_FORMS);
  }
  const client = await findAvailableClient(as, value.client_id, context);
  if (client) await extendRegistration(as, client);
  as.observe({ type: "consent_given", user, client: value.client_id, scope });
  return await showPage(as, request, { name: "device_connected" }, OWN_FORMS);
}

/** OpenID Connect: the session in which the device was approved. */
function describeSession(
  as: AuthorizationServer,
  { origin }: SignedIn,
  { client_id, scope }: DeviceCode,
): Pick<ApprovedDeviceRequest, "openid"> {
  if (!as.openid || !scope.split(" ").includes("openid")) return {};
  return { openid: { sid: sessionIdOf(origin, client_id) } };
}

/** Whether the record has this answer of this user. The device may have redeemed it already. */
function isSameAnswer(stored: DeviceCode, answered: DeviceCode): boolean {
  return "user" in stored && "user" in answered
    ? stored.user === answered.user && stored.given === answered.given
    : stored.status === answered.status;
}

function isPending(as: AuthorizationServer, { status, until }: DeviceCode): boolean {
  return status === "pending" && until > as.now();
}
