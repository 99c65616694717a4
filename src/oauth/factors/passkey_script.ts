/**
 * The script of the pages with passkeys: `/login/passkey.js`. A file of this server, so that the Content-Security-Policy
 * allows no inline script. It shows the form, gets the WebAuthn response and sends it; it makes no request of its own.
 *
 * @module
 */
import { respond } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const PATH = "/login/passkey.js";

/** The URL for the policy of a page. */
export function passkeyScriptUrl({ origin, base }: AuthorizationServer): string {
  return origin + base + PATH;
}

/** A page that is older gets a new challenge first, before the user touches the authenticator in vain. */
const SCRIPT = `"use strict";
(() => {
  const form = document.querySelector("form[data-passkey]");
  if (!form || !window.PublicKeyCredential || !navigator.credentials) return;
  const kind = form.dataset.passkey;
  const problem = form.querySelector("[data-problem]");
  const loaded = Date.now();
  const isOld = () => Date.now() - loaded > 270000;
  const toBytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));
  const toText = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
  const withBytes = (value) => ({ ...value, id: toBytes(value.id) });
  const options = JSON.parse(form.dataset.options);
  const publicKey = { ...options, challenge: toBytes(options.challenge) };
  if (options.user) publicKey.user = withBytes(options.user);
  for (const name of ["allowCredentials", "excludeCredentials"]) {
    if (options[name]) publicKey[name] = options[name].map(withBytes);
  }
  let controller = new AbortController();
  const ask = (more) => {
    const request = { publicKey, signal: controller.signal, ...more };
    return kind === "create" ? navigator.credentials.create(request) : navigator.credentials.get(request);
  };
  const send = (credential) => {
    const given = credential.response;
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (given[name]) response[name] = toText(given[name]);
    }
    if (given.getTransports) response.transports = given.getTransports();
    const { id, type } = credential;
    form.elements.credential.value = JSON.stringify({ id, rawId: id, type, response, clientExtensionResults: {} });
    form.submit();
  };
  for (const note of document.querySelectorAll("[data-no-passkey]")) note.hidden = true;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isOld()) return location.assign(location.href);
    controller.abort();
    controller = new AbortController();
    problem.hidden = true;
    try {
      send(await ask({}));
    } catch {
      problem.hidden = false;
    }
  });
  const autofill = async () => {
    if (!await PublicKeyCredential.isConditionalMediationAvailable?.()) return;
    try {
      const credential = await ask({ mediation: "conditional" });
      if (isOld()) location.assign(location.href);
      else send(credential);
    } catch {
      // The button aborts it.
    }
  };
  if (kind === "autofill") autofill();
})();
`;

/** Serves the script. */
export function servePasskeyScript(): Response {
  return respond(200, SCRIPT, [
    ["content-type", "text/javascript; charset=utf-8"],
    ["cache-control", "public, max-age=3600"],
    ["x-content-type-options", "nosniff"],
  ]);
}
