/**
 * The user's answer: a page that says who asks for what and where it goes, and the POST that decides
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2).
 *
 * @module
 */
import { randomId, randomSecret, secretDigest } from "../crypto/secret.ts";
import { readForm } from "../http/form.ts";
import { isSameOrigin } from "../http/origin.ts";
import { html, respondPage } from "../http/page.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { refuseOnPage, respondToClient } from "./authorize_response.ts";
import { type Client, type Code, codeKey, type Transaction, transactionKey } from "./records.ts";
import { findSession, type SignedIn } from "./session.ts";

/** How long a consent page may lie open, in milliseconds. */
const PATIENCE = 10 * 60 * 1000;
/** How long a code is remembered after it was made, in milliseconds, so that a late replay is still seen. */
const MEMORY = 10 * 60 * 1000;
const FORM_LIMIT = 16 * 1024;

/** Keeps the checked request under a one-time token and shows the page that carries it. */
export async function askConsent(
  as: AuthorizationServer,
  client: Client,
  { user }: SignedIn,
  transaction: Transaction,
): Promise<Response> {
  const secret = randomSecret("");
  const key = transactionKey(secretDigest(secret));
  await as.store.commit({ set: [{ key, value: transaction, expires: as.now() + PATIENCE }] });
  const host = hostOf(transaction.redirect_uri);
  return respondPage({
    title: "Allow access?",
    body: html`
      <h1>${displayName(client.name)} asks for access</h1>
      <p>You are signed in as <strong>${user.name}</strong>. If you allow it, this application may:</p>
      <ul>
        ${transaction.scope.split(" ").map((scope) => html`<li>${as.scopes[scope] ?? scope}</li>`)}
      </ul>
      <p>You will go to <strong>${host}</strong>.</p>
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
export async function decideConsent(as: AuthorizationServer, request: Request): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return refuseOnPage("Its answer came from another site.");
  const { values, repeated } = await readForm(request, FORM_LIMIT);
  const decision = values.get("decision");
  if (repeated.length > 0 || decision !== "approve" && decision !== "deny") {
    return refuseOnPage("Its answer must be to allow or to deny, once.");
  }
  const signedIn = await findSession(as, request);
  const entry = await as.store.get<Transaction>(
    transactionKey(secretDigest(values.get("transaction") ?? "")),
  );
  if (!entry || !signedIn || entry.value.session !== signedIn.session) {
    return refuseOnPage("It has been answered already, has waited too long, or was shown to somebody else.");
  }
  const transaction = entry.value;
  const used = { check: [{ key: entry.key, version: entry.version }], remove: [entry.key] };
  if (decision === "deny") {
    if (!await as.store.commit(used)) return refuseOnPage("It has been answered already.");
    as.observe({ type: "consent_denied", user: transaction.user, client: transaction.client_id });
    return respondToClient(as, { ...transaction, state: transaction.state }, {
      error: "access_denied",
      error_description: "The user denied the request",
    });
  }
  const secret = randomSecret("trivet_ac_");
  const { session: _, state, ...kept } = transaction;
  const code: Code = { ...kept, grant: randomId(""), until: as.now() + as.codeLifetime * 1000, spent: false };
  const set = [{ key: codeKey(secretDigest(secret)), value: code, expires: as.now() + MEMORY }];
  if (!await as.store.commit({ ...used, set })) return refuseOnPage("It has been answered already.");
  as.observe({ type: "consent_given", user: code.user, client: code.client_id, scope: code.scope });
  return respondToClient(as, { redirect_uri: code.redirect_uri, state }, { code: secret });
}

/** A name that strangers chose, in one line of visible characters: nothing hidden, nothing that turns text round. */
function displayName(name: string): string {
  const visible = name.replace(/[\p{C}\p{Z}\s]+/gu, " ").trim();
  return visible.length > 80 ? visible.slice(0, 79) + "…" : visible;
}

function hostOf(uri: string): string {
  const url = new URL(uri);
  return url.host === "" ? url.protocol + "//" : url.host;
}
