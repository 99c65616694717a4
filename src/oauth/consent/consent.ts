/**
 * The user's answer: a page that says who asks for what and where it goes, and the POST that decides
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2).
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import { readForm } from "../../http/body/form.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { html, type Markup, respondPage } from "../../http/page.ts";
import type { Entry } from "../../store/store.ts";
import { describeAuthorizationDetails } from "../grants/authorization_details.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { respondToClient } from "../endpoints/authorize_response.ts";
import { OAuthError } from "../error.ts";
import { findClient } from "../clients/client.ts";
import { issueCode } from "../grants/code.ts";
import type { FoundConsent } from "./consent_memory.ts";
import {
  type Authorization,
  type Client,
  pushedRequestKey,
  type Transaction,
  transactionKey,
} from "../records.ts";
import { settingsOf } from "../grants/resource.ts";
import { expandScopes } from "../grants/scope.ts";
import { findSession, type SignedIn } from "../users/session.ts";

/** How long a page with a question may lie open, in milliseconds. */
const PATIENCE = 10 * 60 * 1000;
/** What the page says of a transaction that cannot be answered. */
export const ENDED = "This request was already answered, has expired, or belongs to another session";
const FORM_LIMIT = 16 * 1024;

/** Keeps a question under a one-time token, which the page that asks it carries. */
export async function keepTransaction(as: AuthorizationServer, transaction: Transaction): Promise<string> {
  const secret = randomSecret("");
  const key = transactionKey(secretDigest(secret));
  await as.store.commit({ set: [{ key, value: transaction, expires: as.now() + PATIENCE }] });
  return secret;
}

/** The question that an answer is to; `undefined` when it was answered, is too old, or was shown to somebody else. */
export async function findTransaction(
  as: AuthorizationServer,
  request: Request,
  secret: string | undefined,
): Promise<Entry<Transaction> | undefined> {
  const signedIn = await findSession(as, request);
  const entry = await as.store.get<Transaction>(transactionKey(secretDigest(secret ?? "")));
  return signedIn && entry?.value.session === signedIn.session ? entry : undefined;
}

/** Keeps the checked request and shows the page that asks for it. */
export async function askConsent(
  as: AuthorizationServer,
  client: Client,
  { user }: SignedIn,
  transaction: Transaction,
  before: FoundConsent,
): Promise<Response> {
  const secret = await keepTransaction(as, transaction);
  const { redirect_uri, ...authorization } = transaction.request!;
  return respondPage({
    title: "Allow access?",
    body: html`
      <h1>${displayName(client)} asks for access</h1>
      <p>You are signed in as <strong>${user.name}</strong>. If you allow access, this application can:</p>
      ${describeAccess(as, authorization, before)}
      ${describeDestination(redirect_uri)}
      ${describeTrust(client)}
      ${describeDuration(as, client)}
      <form method="post" action="${as.base + "/oauth/authorize"}">
        <input type="hidden" name="transaction" value="${secret}">
        <div class="row">
          <button name="decision" value="approve">Allow</button>
          <button name="decision" value="deny" class="plain">Deny</button>
        </div>
      </form>
    `,
  });
}

/**
 * `POST /oauth/authorize` with `transaction` and `decision` (`approve` or `deny`): 302 to the client. The
 * token works once, for the session that it was shown to.
 */
export async function decideConsent(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) throw refusal("Cross-site request refused");
  const { values, repeated } = await readForm(request, FORM_LIMIT);
  const decision = values.get("decision");
  if (repeated.length > 0 || decision !== "approve" && decision !== "deny") {
    throw refusal("decision must be approve or deny, and each form field must be sent once");
  }
  const entry = await findTransaction(as, request, values.get("transaction"));
  if (!entry?.value.request) {
    throw refusal(ENDED);
  }
  const { user, request: asked, pushed } = entry.value;
  if (decision === "deny") {
    const remove = [entry.key, ...(pushed === undefined ? [] : [pushedRequestKey(pushed)])];
    const check = [{ key: entry.key, version: entry.version }];
    if (!await as.store.commit({ check, remove })) throw refusal("This request was already answered");
    as.observe({ type: "consent_denied", user, client: asked.client_id });
    return respondToClient(as, { redirect_uri: asked.redirect_uri, state: asked.state }, {
      error: "access_denied",
      error_description: "The user denied the request",
    });
  }
  const client = await findClient(as, asked.client_id, context);
  if (!client) throw refusal("The application is no longer registered with this server");
  return await issueCode(as, client, entry.value, entry);
}

function refusal(problem: string): OAuthError {
  return new OAuthError("invalid_request", problem);
}

/** What it may do, as a list: what is new first, and what was allowed before by itself. */
export function describeAccess(
  as: AuthorizationServer,
  { scope, resource, authorization_details }: Omit<Authorization, "client_id">,
  before?: FoundConsent,
): Markup {
  const line = (text: string) => html`<li>${text}</li>`;
  const describe = (each: string) => line(as.descriptions.get(each) ?? each);
  // What a scope brings along is allowed with it, so it is on the page, too.
  const scopes = [...expandScopes(as, scope.split(" "))];
  const known = scopes.filter((each) => before?.scopes.has(each));
  const fresh = scopes.filter((each) => !known.includes(each));
  const details = describeAuthorizationDetails(as, authorization_details);
  const places = settingsOf(as, resource);
  return html`
    ${fresh.length + details.length > 0 && html`
      <ul>${[...fresh.map(describe), ...details.map(line)]}</ul>
    `}
    ${known.length > 0 && html`
      <p class="soft">Already allowed:</p>
      <ul class="soft">${known.map(describe)}</ul>
    `}
    ${places.length > 0 && html`
      <p>The access applies to <strong>${places.map(({ name, resource }) => name ?? resource).join(
        ", ",
      )}</strong>.</p>
    `}
  `;
}

/** RFC 7591 §5: what a client says of itself is its own word. */
export function describeTrust({ id, source }: Client): Markup | false {
  if (source === "operator") return false;
  const who = source === "document"
    ? html`
      This application is described at <strong>${new URL(id).host}</strong>.
    `
    : html``;
  return html`
    <p
      class="note">${who}This name has not been verified. Allow access only if you started this request
    yourself, in an application that you trust.</p>
  `;
}

function describeDuration(as: AuthorizationServer, { grant_types }: Client): Markup {
  return grant_types.includes("refresh_token")
    ? html`<p class="soft">Access ends after ${inWords(as.refreshTokenLifetime)} without use.</p>`
    : html`<p class="soft">Access ends after ${inWords(as.accessTokenLifetime)}.</p>`;
}

function inWords(seconds: number): string {
  const [amount, unit] = seconds >= 2 * 86_400
    ? [Math.round(seconds / 86_400), "day"]
    : seconds >= 2 * 3600
    ? [Math.round(seconds / 3600), "hour"]
    : [Math.max(1, Math.round(seconds / 60)), "minute"];
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}

/** A name that strangers chose, in one line of visible characters: nothing hidden, nothing that turns text round. */
export function displayName({ name, id, source }: Client): string {
  const visible = name.replace(/[\p{C}\p{Z}\s]+/gu, " ").trim() || id;
  const short = visible.length > 80 ? visible.slice(0, 79) + "…" : visible;
  // In quotes it is seen to be a name, whatever it says.
  return source === "operator" ? short : `“${short}”`;
}

/**
 * Where the code goes. Behind another scheme than http and https it goes to whichever application has the scheme: what
 * stands there like a host names nobody, so it is not shown.
 */
function describeDestination(uri: string): Markup {
  const { protocol, host } = new URL(uri);
  return protocol === "https:" || protocol === "http:"
    ? html`<p>You will be redirected to <strong>${host}</strong>.</p>`
    : html`
      <p>You will be redirected to <strong>an application on this device</strong> that opens
      <strong>${protocol}</strong> links.</p>
    `;
}
