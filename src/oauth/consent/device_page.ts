/**
 * `/device`, where the user of a device types its code and answers (https://www.rfc-editor.org/rfc/rfc8628#section-3.3):
 * sign in, the code, the question, done.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { parseForm, readForm } from "../../http/body/form.ts";
import { networkOf } from "../../http/network/network.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { html, type Markup, respondPage } from "../../http/page.ts";
import { type Fields, respondText } from "../../http/response.ts";
import { pathOf, queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import { MAX_COMMIT_TRIES, pauseBefore } from "../../store/retry.ts";
import { type Entry, StoreUnavailableError } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { sendToLogin } from "../endpoints/authorize.ts";
import { OAuthError } from "../error.ts";
import { findClient, keepClient } from "../clients/client.ts";
import {
  describeAccess,
  describeTrust,
  displayName,
  ENDED,
  findTransaction,
  keepTransaction,
} from "./consent.ts";
import { canonicalUserCode } from "../endpoints/device_authorization.ts";
import { type DeviceCode, deviceCodeKey, userCodeKey } from "../records.ts";
import { findSession, type SignedIn } from "../users/session.ts";
import { limitToRole } from "../users/user_role.ts";

const FORM_LIMIT = 4 * 1024;
const UNKNOWN = "Unknown or expired code. Compare it with the code on your device.";
const BEYOND_ROLE =
  "Your role does not allow the access that this device asks for. Contact the administrator of this server.";

/** `GET /device?user_code=...`: the form for the code, after signing in. */
export async function showDevice(as: AuthorizationServer, request: Request): Promise<Response> {
  if (!await findSession(as, request)) return sendToLogin(as, pathOf(request.url), queryOf(request.url));
  return codePage(as, parseForm(queryOf(request.url)).values.get("user_code") ?? "");
}

/** `POST /device` with `user_code`: the question. With `transaction` and `decision`: the answer. */
export async function answerDevice(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) {
    return respondText(
      403,
      "Cross-site request refused. Open the device page of this site and answer there.",
    );
  }
  const { values, repeated } = await readForm(request, FORM_LIMIT);
  if (repeated.length > 0) throw refusal("Each form field must be sent once");
  const signedIn = await findSession(as, request);
  if (!signedIn) return sendToLogin(as, pathOf(request.url), "");
  if (values.has("transaction")) {
    return await decide(as, request, context, signedIn, values);
  }
  return await ask(as, signedIn, context, values.get("user_code") ?? "");
}

async function ask(
  as: AuthorizationServer,
  signedIn: SignedIn,
  context: RequestContext,
  typed: string,
): Promise<Response> {
  // §5.1: a short code must not be found by trying. A right one takes back itself and no more: anybody can have one.
  const network = networkOf(context);
  const attempts = [
    { kind: "user_code", of: signedIn.user.id, free: 10, longest: 300, shared: true },
    ...(network === undefined
      ? []
      : [{ kind: "user_code_network", of: network, free: 100, longest: 300, shared: true }]),
  ];
  const wait = await as.throttle.begin(attempts);
  if (wait > 0) {
    return codePage(as, "", {
      problem: `Too many attempts. Try again in ${wait} second${wait === 1 ? "" : "s"}.`,
      status: 429,
      fields: [["retry-after", String(wait)]],
    });
  }
  const index = await as.store.get<string>(userCodeKey(secretDigest(canonicalUserCode(typed))));
  const entry = index && await as.store.get<DeviceCode>(deviceCodeKey(index.value));
  const client = entry && await findClient(as, entry.value.client_id, context);
  if (!client || entry.value.status !== "pending" || entry.value.until <= as.now()) {
    return codePage(as, typed.slice(0, 20), { problem: UNKNOWN, status: 400, fields: [] });
  }
  await as.throttle.succeeded(attempts);
  const scope = limitToRole(as, signedIn.user, entry.value.scope);
  if (scope === "") return codePage(as, "", { problem: BEYOND_ROLE, status: 403, fields: [] });
  const secret = await keepTransaction(as, {
    session: signedIn.session,
    user: signedIn.user.id,
    authentication: signedIn.authentication,
    device: index.value,
  });
  return devicePage({
    title: "Connect a device?",
    body: html`
      <h1>${displayName(client)} asks for access on a device</h1>
      <p>You are signed in as <strong>${signedIn.user.name}</strong>. Check that your device shows the
      code <strong>${entry.value.user_code}</strong>. If you allow access, the device can:</p>
      ${describeAccess(as, { ...entry.value, scope })}
      <p class="note">Allow access only if the device is yours and you started this request. If someone sent you
      this code, deny access.</p>
      ${describeTrust(client)}
      <form method="post" action="${as.base + "/device"}">
        <input type="hidden" name="transaction" value="${secret}">
        <div class="row">
          <button name="decision" value="approve">Allow</button>
          <button name="decision" value="deny" class="plain">Deny</button>
        </div>
      </form>
    `,
  });
}

async function decide(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  signedIn: SignedIn,
  form: ReadonlyMap<string, string>,
): Promise<Response> {
  const transaction = form.get("transaction");
  const decision = form.get("decision");
  if (decision !== "approve" && decision !== "deny") {
    throw refusal("decision must be approve or deny");
  }
  // Only who was asked can answer: the question belongs to their session.
  const entry = await findTransaction(as, request, transaction);
  const { device, user, authentication } = entry?.value ?? {};
  if (!entry || device === undefined || user === undefined) throw refusal(ENDED);
  for (let attempt = 0; attempt < MAX_COMMIT_TRIES; attempt++) {
    if (attempt > 0) await pauseBefore(attempt);
    const waiting: Entry<DeviceCode> | undefined = await as.store.get<DeviceCode>(deviceCodeKey(device));
    if (!waiting || waiting.value.status !== "pending" || waiting.value.until <= as.now()) {
      throw refusal(ENDED);
    }
    const { key, version, value, expires } = waiting;
    const scope = limitToRole(as, signedIn.user, value.scope);
    const answered: DeviceCode = decision === "approve" && scope !== ""
      ? { ...value, scope, status: "approved", user, authentication: authentication! }
      : { ...value, status: "denied" };
    const done = await as.store.commit({
      check: [{ key, version }, { key: entry.key, version: entry.version }],
      set: [{ key, value: answered, expires }],
      remove: [entry.key, userCodeKey(secretDigest(canonicalUserCode(value.user_code)))],
    });
    if (done && answered.status === "denied") return denied(as, answered, user);
    if (done) {
      const client = await findClient(as, value.client_id, context);
      if (client) await keepClient(as, client);
      return approved(as, answered);
    }
    // The device asked meanwhile, or this answer came twice: the next look tells.
    if (!await findTransaction(as, request, transaction)) throw refusal(ENDED);
  }
  throw new StoreUnavailableError("Too many concurrent requests for this device code: try again in a second");
}

function approved(as: AuthorizationServer, { user, client_id, scope }: DeviceCode): Response {
  as.observe({ type: "consent_given", user: user!, client: client_id, scope });
  return devicePage({
    title: "Device connected",
    body: html`
      <h1>Device connected</h1>
      <p>You can close this page and continue on your device.</p>
    `,
  });
}

function denied(as: AuthorizationServer, { client_id }: DeviceCode, user: string): Response {
  as.observe({ type: "consent_denied", user, client: client_id });
  return devicePage({
    title: "Access denied",
    body: html`
      <h1>Access denied</h1>
      <p>The device got no access. You can close this page.</p>
    `,
  });
}

function refusal(problem: string): OAuthError {
  return new OAuthError("invalid_request", problem);
}

interface Refusal {
  readonly problem: string;
  readonly status: number;
  readonly fields: Fields;
}

function codePage(as: AuthorizationServer, typed: string, refusal?: Refusal): Response {
  return devicePage({
    title: "Connect a device",
    status: refusal?.status ?? 200,
    fields: refusal?.fields ?? [],
    body: html`
      <h1>Connect a device</h1>
      <p>Enter the code that your device shows.</p>
      ${refusal && html`<p class="bad" role="alert">${refusal.problem}</p>`}
      <form method="post" action="${as.base + "/device"}">
        <label for="user_code">Code</label>
        <input id="user_code" name="user_code" value="${typed}" autocomplete="off" autocapitalize="characters"
          spellcheck="false" required autofocus>
        <button>Continue</button>
      </form>
    `,
  });
}

function devicePage(page: { title: string; body: Markup; status?: number; fields?: Fields }): Response {
  // Nothing here leads away from this server.
  return respondPage({ ...page, formAction: "'self'" });
}
